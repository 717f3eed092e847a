"""What chats answer with status 200 to say that they did not take a message after all.

Pure. Each says it in JSON, in a way that its documentation writes down: Slack's triggers and Web API `{"ok": false,
"error"}` (docs.slack.dev); DingTalk and WeCom `{"errcode", "errmsg"}` (open.dingtalk.com, custom robots;
developer.work.weixin.qq.com, document 91770); Feishu and Lark `{"code", "msg"}` (open.feishu.cn, custom bots), where 0
is well. `code` means too many other things elsewhere: it counts at those two alone.
"""

import json
from urllib.parse import urlsplit

MOST_BYTES = 65_536
"""A longer answer is none of these."""

_FEISHU = ("feishu.cn", "larksuite.com")


def refusal(url: str, said: bytes) -> str:
    """What a chat minds, such as `errcode 310000`; empty where it says nothing of the kind. Repeats no text of it."""
    if len(said) > MOST_BYTES:
        return ""
    try:
        answer = json.loads(said)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(answer, dict):
        return ""
    if answer.get("ok") is False:
        return "ok false"
    host = f".{urlsplit(url).hostname or ''}"
    names = [("errcode", "errmsg"), *([("code", "msg")] if host.endswith(tuple(f".{at}" for at in _FEISHU)) else [])]
    for code, message in names:
        if _is_number(number := answer.get(code)) and number != 0 and message in answer:
            return f"{code} {number}"
    return ""


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
