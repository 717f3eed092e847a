"""The JSON that a webhook is sent: what chats understand by default, or a template of the person's own.

Pure. A template is filled after it was parsed, so that whatever a value holds, the result is valid JSON.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from opspilot.core.errors import UsageError
from opspilot.core.messages import Json
from opspilot.notifying.message import FACTS
from opspilot.texts.language import text

__all__ = ["Body", "Template", "chat_body", "encoded"]

Body: TypeAlias = Callable[[Mapping[str, str]], Json]
"""Makes a body of the facts of a notification."""

MARKUP = "markup"
"""In templates, `text` as the markup of Slack and Mattermost wants it."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_INVISIBLE = "\u200b"


def chat_body(facts: Mapping[str, str]) -> Json:
    """`{"text", "metadata"}`: accepted by the incoming webhooks of Slack and Mattermost, and useful to other receivers.

    Slack takes `metadata` (slackapi/python-slack-sdk#1362) and lets its apps read it; Mattermost passes over what it
    doesn't know (mattermost/mattermost, server/public/model/incoming_webhook.go).
    """
    known = {name: value for name, value in facts.items() if value and name != "text"}
    return {
        "text": chat_markup(facts["text"]),
        "metadata": {"event_type": f"opspilot_{facts['notice']}", "event_payload": known},
    }


def chat_markup(plain: str) -> str:
    """Text that calls nobody and hides no link, whatever it says.

    `&`, `<` and `>` as Slack's formatting rules ask for; Mattermost makes mentions of `@channel`, too, and links of
    Markdown (mattermost/mattermost#3039).
    """
    escaped = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace("@", f"@{_INVISIBLE}").replace("](", f"]{_INVISIBLE}(")


@dataclass(frozen=True)
class Template:
    """JSON in whose texts `{name}` stands for a fact, or `{markup}` for the text as chats want it.

    Raises `UsageError` when it isn't JSON or names what there isn't; `where` begins the sentence.
    """

    shape: Json
    where: str = "template"

    def __post_init__(self) -> None:
        try:
            json.dumps(self.shape, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise UsageError(text("channels.template.json", where=self.where)) from None
        known = (*FACTS, MARKUP)
        for name in _names(self.shape):
            if name not in known:
                raise UsageError(
                    text("channels.template.unknown", where=self.where, name=f"{{{name}}}", names=", ".join(known))
                )

    def __call__(self, facts: Mapping[str, str]) -> Json:
        """The shape with its placeholders filled."""
        return _filled(self.shape, {**facts, MARKUP: chat_markup(facts["text"])})


def encoded(body: Json) -> bytes:
    """JSON in UTF-8; a lone half of a character, which no receiver could read, becomes a question mark."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def _names(shape: Json) -> list[str]:
    if isinstance(shape, str):
        return _PLACEHOLDER.findall(shape)
    items = shape.values() if isinstance(shape, Mapping) else shape if isinstance(shape, list) else ()
    return [name for item in items for name in _names(item)]


def _filled(shape: Json, values: Mapping[str, str]) -> Json:
    if isinstance(shape, str):
        return _PLACEHOLDER.sub(lambda match: values[match[1]], shape)
    if isinstance(shape, Mapping):
        return {name: _filled(item, values) for name, item in shape.items()}
    if isinstance(shape, list):
        return [_filled(item, values) for item in shape]
    return shape
