"""What a true approver signed is what the worker checks: nothing on the way through Temporal changes it."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from temporalio.contrib.pydantic import pydantic_data_converter

from opspilot.core.contract import JudgeAnswer
from opspilot.core.errors import UsageError
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.signatures import KEY_BYTES, is_signed, signed
from opspilot.keeping import keep
from tests.activities.desk import Desk

KEY = bytes(KEY_BYTES)
WORDS = st.text(max_size=20)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**400), 10**400)
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=10,
)


async def through_temporal(answer: Answer) -> Answer:
    """From a client to the workflow, and from there to the activity."""
    arrived: Answer
    (arrived,) = await pydantic_data_converter.decode(await pydantic_data_converter.encode([answer]), [Answer])
    order = replace(JudgeAnswer("run", arrived), answer=replace(arrived, at=1.5))
    judged: JudgeAnswer
    (judged,) = await pydantic_data_converter.decode(await pydantic_data_converter.encode([order]), [JudgeAnswer])
    return judged.answer


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(WORDS, VALUES, max_size=4),
    WORDS,
    WORDS,
    st.lists(WORDS, max_size=3),
    st.floats(0, 4e9, allow_nan=False),
)
def test_a_true_signature_holds_whatever_the_answer_says(
    values: dict[str, Any], comment: str, name: str, roles: list[str], said_at: float
) -> None:
    who = Principal(name, name, tuple(roles), "token")
    answer = Answer("id", "1.1#0", AnswerAction.PROVIDE, who, values, comment, "digest", said_at=said_at)
    arrived = asyncio.run(through_temporal(signed(answer, KEY, "session", "run")))
    assert is_signed(arrived, KEY, "session", "run")
    assert not is_signed(replace(arrived, comment=f"{comment}."), KEY, "session", "run")


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), "\ud800", 10**5000, nested(150), nested(5000)],
    ids=["nan", "infinity", "half a character", "too long a number", "deep", "bottomless"],
)
@pytest.mark.parametrize("where", ["values", "comment"])
def test_what_can_not_go_through_is_refused_in_a_sentence_before_it_is_sent(
    tmp_path: Path, where: str, value: Any
) -> None:
    said = {"values": {"a": {"b": value}}} if where == "values" else {"comment": value}
    answer = Answer("id", "1.1#0", AnswerAction.PROVIDE, Principal("ann"), **said)
    with pytest.raises(UsageError, match="JSON"):
        keep(Desk(tmp_path).journal, "session", "run", answer, datetime.now(UTC))
