"""A session as Markdown: everything that happened, where it belongs, and nothing in it that could pass for our own."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from opspilot.cli.transcript import transcript
from opspilot.core.entries import Entry, Kind
from opspilot.journal.queries import SessionRow
from opspilot.texts.language import Language, speak

NOW = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)
SESSION = SessionRow("talk", "dana", "Why?", "done", "answered", "r1", NOW, NOW, 9, 2, 30)


def entry(kind: Kind, data: dict[str, Any], **more: Any) -> Entry:
    made = {"session": "talk", "seq": 1, "run": "r1", "key": "k", "kind": kind, "at": NOW, "data": data}
    return Entry(**{**made, **more})


def call(name: str, number: str, **arguments: Any) -> Entry:
    data = {"name": name, "effect": "write", "arguments": arguments}
    return entry(Kind.TOOL_CALL, data, step=int(number[0]), call=number)


RUN = [
    entry(Kind.RUN_STARTED, {"model": "gpt", "limits": {"steps": 4}}),
    entry(Kind.USER_MESSAGE, {"text": "Why?\nReally."}),
    entry(Kind.ASSISTANT_MESSAGE, {"text": "Two looks.", "tool_calls": [{}, {}]}, step=1),
    call("restart", "1.1", service="db"),
    call("look", "1.2"),
    entry(Kind.TOOL_RESULT, {"ok": True, "data": {"facts": ["a", "b"]}, "duration_ms": 34}, call="1.2"),
    entry(
        Kind.INTERRUPT_OPENED,
        {"interrupt": "1.1#1", "kind": "confirm_risky", "reason": "It hurts.", "arguments": {"service": "db"}},
    ),
    entry(
        Kind.INTERRUPT_ANSWERED,
        {"interrupt": "1.1#1", "action": "reject", "by": "eve", "comment": "not now"},
        at=NOW + timedelta(minutes=5),
    ),
    entry(
        Kind.TOOL_RESULT,
        {"ok": False, "errorCode": "rejected_by_human", "message": "A person rejected this call; it did not run."},
        call="1.1",
    ),
    entry(Kind.ASSISTANT_MESSAGE, {"text": "It was **a**.", "tool_calls": []}, step=2),
    entry(
        Kind.RUN_STOPPED,
        {
            "stop_reason": "answered",
            "message": "Answered.",
            "answer": "It was **a**.",
            "steps": 2,
            "usage": {"input_tokens": 20, "output_tokens": 10},
            "cost": 0.25,
        },
    ),
]

WHOLE = """\
# OpsPilot: Why?

- Session: `talk`
- Asked by: dana
- Begun: 2030-01-01 12:00:00 UTC

Run `r1` · gpt · 2030-01-01 12:00:00 UTC

## Question (2030-01-01 12:00:00 UTC)

> Why?
> Really.

### Step 1

> Two looks.

**1.1 `restart`** (write): `rejected_by_human`: A person rejected this call; it did not run.

```
{
  "service": "db"
}
```

- 2030-01-01 12:00:00 UTC: waited for a person: It hurts.

```
service = db
```

- 2030-01-01 12:05:00 UTC: reject by eve: not now

**1.2 `look`** (write): ok, 34 ms

```
{
  "facts": [
    "a",
    "b"
  ]
}
```

## Answer

> It was **a**.

**Answered.** 2 steps · 30 tokens (20 in, 10 out) · cost 0.2500 · 2030-01-01 12:00:00 UTC
"""


def test_a_run_is_told_in_the_order_of_its_steps_with_all_that_happened_to_a_call_beside_it() -> None:
    assert transcript(SESSION, RUN) == WHOLE


def test_a_run_that_goes_on_says_what_has_no_result_yet() -> None:
    assert "**1.1 `restart`** (write): no result yet" in transcript(SESSION, RUN[:4])


def test_an_answer_that_no_message_said_stands_before_the_end() -> None:
    stopped = entry(Kind.RUN_STOPPED, {"stop_reason": "max_steps", "answer": "So far: a.", "steps": 4})
    told = transcript(SESSION, [*RUN[:6], stopped])
    assert told.endswith(
        "> So far: a.\n\n**Stopped after 4 steps, the limit of this run, without a complete answer.** "
        "4 steps · 2030-01-01 12:00:00 UTC\n"
    )


def test_long_results_are_shortened_by_lines_and_in_each_line() -> None:
    data = {"lines": [f"line {number}" for number in range(1000)], "text": "x" * 1000}
    told = transcript(SESSION, [call("look", "1.1"), entry(Kind.TOOL_RESULT, {"ok": True, "data": data}, call="1.1")])
    assert "line 5" in told
    assert "line 500" not in told
    assert "… 981 more lines" in told
    wide = transcript(SESSION, [call("look", "1.1", text="y" * 1000)])
    assert max(map(len, wide.split("\n"))) == 300


def test_it_is_told_in_chinese_where_that_is_spoken() -> None:
    speak(Language.CHINESE)
    try:
        told = transcript(SESSION, RUN)
    finally:
        speak(Language.ENGLISH)
    for words in ("## 问题（", "### 第 1 步", "eve 拒绝：not now", "有人拒绝了这个调用", "**已回答。** 2 步"):
        assert words in told


HOSTILE = st.text(
    alphabet=st.one_of(st.sampled_from("`~>#*-_[]<>|\\\n\r\t !1.=+\x1b\u2028"), st.characters()), max_size=40
)


@given(HOSTILE)
def test_nothing_that_was_said_makes_a_heading_a_code_block_or_an_image_of_its_own(text: str) -> None:
    said = [
        entry(Kind.RUN_STARTED, {"model": text}),
        entry(Kind.USER_MESSAGE, {"text": text}),
        call(text, "1.1", **{text: text}),
        entry(Kind.INTERRUPT_OPENED, {"interrupt": "1.1#1", "reason": text, "payload": {"a": text}}),
        entry(Kind.INTERRUPT_ANSWERED, {"interrupt": "1.1#1", "action": text, "by": text, "comment": text}),
        entry(Kind.TOOL_RESULT, {"ok": False, "errorCode": text, "message": text}, call="1.1"),
        entry(Kind.RUN_STOPPED, {"answer": f"a{text}", "message": text}),
    ]
    tokens = MarkdownIt("commonmark").parse(transcript(replace(SESSION, title=text, owner=text), said))
    depth, headings = 0, 0
    for token in tokens:
        depth += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        headings += token.type == "heading_open" and depth == 0
        if token.type == "inline" and depth == 0:
            assert not {child.type for child in token.children or []} & {"image", "link_open", "html_inline"}
        assert depth > 0 or token.type != "html_block"
    assert headings == 4, "title, question, step, answer"


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_of_entry_can_be_told_even_without_its_data(kind: Kind) -> None:
    assert transcript(SESSION, [entry(kind, {})]).startswith("# OpsPilot: Why?")
