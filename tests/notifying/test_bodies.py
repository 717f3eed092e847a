"""Bodies are valid JSON whatever the values hold, call nobody and hide no link; templates are refused in a sentence."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.errors import UsageError
from opspilot.notifying.bodies import Template, chat_body, chat_markup, encoded
from opspilot.notifying.message import FACTS, Wording
from tests.notifying.receiver import ASKED

HOSTILE = st.one_of(
    st.text(max_size=200),
    st.text(alphabet='{}"\\\n\r\t\0\u2028\ud800<>&@[](){}:,/é支', max_size=80),
    st.sampled_from(['", "channel": "#other', "{session}{{text}}", "\\u0022", '"}]}', "${text}", "%s {0} {id.x}"]),
)
FILLED = st.fixed_dictionaries(dict.fromkeys(FACTS, HOSTILE))
SHAPE = {
    "text": "{markup}",
    "{not a name}": ["{reason}", {"deep": "<{tool}|{risk}> {session}#{interrupt}"}, 1, 1.5, None, True],
    "blocks": [{"type": "section", "text": {"type": "plain_text", "text": "{text}"}}],
}


def as_received(text: str) -> str:
    """What a lone half of a character arrives as."""
    return text.encode("utf-8", "replace").decode()


@given(facts=FILLED)
def test_a_filled_template_is_json_of_the_templates_shape(facts: dict[str, str]) -> None:
    received = json.loads(encoded(Template(SHAPE)(facts)).decode("utf-8"))
    assert received == {
        "text": as_received(chat_markup(facts["text"])),
        "{not a name}": [
            as_received(facts["reason"]),
            {"deep": as_received("<{tool}|{risk}> {session}#{interrupt}".format(**facts))},
            1,
            1.5,
            None,
            True,
        ],
        "blocks": [{"type": "section", "text": {"type": "plain_text", "text": as_received(facts["text"])}}],
    }


@given(facts=FILLED)
def test_the_usual_body_is_json_that_chats_and_programs_can_read(facts: dict[str, str]) -> None:
    received = json.loads(encoded(chat_body(facts)).decode("utf-8"))
    assert set(received) == {"text", "metadata"}
    payload = received["metadata"]["event_payload"]
    assert payload == {name: as_received(facts[name]) for name in FACTS if facts[name] and name != "text"}


@given(text=HOSTILE)
def test_markup_calls_nobody_and_hides_no_link(text: str) -> None:
    shown = chat_markup(text)
    assert not re.search(r"<|>|@\w|\]\(", shown)
    assert not re.search(r"&(?!amp;|lt;|gt;)", shown)
    plain = shown.replace("\u200b", "").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert plain == text.replace("\u200b", "")


@pytest.mark.parametrize(
    "call",
    ["<!channel>", "<!here|x>", "<@U123>", "@channel", "@all", "<https://evil.example|Approve>", "[ok](http://e)"],
)
def test_a_reason_that_calls_everybody_is_just_text(call: str) -> None:
    text = str(chat_body(Wording().facts(ASKED) | {"text": f"Look: {call}"})["text"])
    assert call not in text
    assert "<" not in text


def test_the_link_survives_the_markup() -> None:
    facts = Wording("https://ops.example").facts(ASKED)
    assert facts["link"] in chat_body(facts)["text"]


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        ({"text": "{txet}"}, "hook: template names {txet}; there are id, notice, session, "),
        ({"a": [{"b": "{reason} {cause}"}]}, "hook: template names {cause}; there are "),
        ({"a": float("nan")}, "hook: template must be JSON."),
        ({"a": {1, 2}}, "hook: template must be JSON."),
    ],
)
def test_a_template_that_can_not_be_is_refused(shape: Any, sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        Template(shape, "hook: template")
    assert str(raised.value).startswith(sentence)


def test_braces_that_name_nothing_stay() -> None:
    assert Template({"text": "{} {a b} { reason } {reason}"})(dict.fromkeys(FACTS, "x")) == {
        "text": "{} {a b} { reason } x"
    }
