"""Chats that answer 200 and say in the body that they did not take it; whatever else a body says counts as taken."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.notifying.refusing import MOST_BYTES, refusal

FEISHU = "https://open.feishu.cn/open-apis/bot/v2/hook/0000"
LARK = "https://open.larksuite.com/open-apis/bot/v2/hook/0000"
ELSEWHERE = "https://ops.example/hook"


@pytest.mark.parametrize(
    ("url", "body", "minded"),
    [
        ("https://oapi.dingtalk.com/robot/send?access_token=x", {"errcode": 0, "errmsg": "ok"}, ""),
        ("https://oapi.dingtalk.com/robot/send?access_token=x", {"errcode": 310000, "errmsg": "…"}, "errcode 310000"),
        ("https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=x", {"errcode": 93000, "errmsg": ""}, "errcode 93000"),
        (FEISHU, {"StatusCode": 0, "StatusMessage": "success", "code": 0, "data": {}, "msg": "success"}, ""),
        (FEISHU, {"code": 19024, "msg": "Key Words Not Found", "data": {}}, "code 19024"),
        (LARK, {"code": 9499, "msg": "Bad Request"}, "code 9499"),
        (ELSEWHERE, {"code": 200, "msg": "success"}, ""),
        (ELSEWHERE, {"code": 1, "msg": "success"}, ""),
        ("https://notfeishu.cn/hook", {"code": 1, "msg": "success"}, ""),
        (ELSEWHERE, {"ok": True}, ""),
        (ELSEWHERE, {"ok": False, "error": "channel_not_found"}, "ok false"),
        (ELSEWHERE, {"errcode": 7}, ""),
        (ELSEWHERE, {"errcode": True, "errmsg": ""}, ""),
        (ELSEWHERE, {"errcode": "0", "errmsg": "ok"}, ""),
        (ELSEWHERE, [{"ok": False}], ""),
    ],
)
def test_only_what_a_chat_documents_as_a_refusal_is_one(url: str, body: Any, minded: str) -> None:
    assert refusal(url, json.dumps(body).encode()) == minded


@pytest.mark.parametrize(
    "said", [b"", b"ok", b"1", b"\xff", b"<html>", b"[" * 50_000, b'{"ok": false}' + b" " * MOST_BYTES]
)
def test_what_is_no_such_answer_refuses_nothing(said: bytes) -> None:
    assert refusal(FEISHU, said) == ""


@given(
    st.dictionaries(
        st.sampled_from(["ok", "errcode", "errmsg", "code", "msg"]),
        st.none() | st.booleans() | st.integers() | st.text(),
    )
)
def test_no_word_of_the_answer_is_repeated(answer: dict[str, Any]) -> None:
    said = refusal(FEISHU, json.dumps(answer).encode())
    assert said in {"", "ok false", f"errcode {answer.get('errcode')}", f"code {answer.get('code')}"}
    assert said not in {"errcode 0", "code 0"}
