"""Answers of people: a good one settles its question once, any other is recorded and changes nothing."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from opspilot.core.calls import digest
from opspilot.core.contract import AnswerJudged, JudgeAnswer
from opspilot.core.entries import Kind
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.limits import StopReason
from opspilot.core.observations import ErrorCode
from opspilot.tools.registry import Registry
from tests.activities.desk import ME, NOON, Desk, call

APPROVE, REJECT, PROVIDE = AnswerAction.APPROVE, AnswerAction.REJECT, AnswerAction.PROVIDE
BOSS = Principal("boss")


async def asked(desk: Desk, tool: str = "ranked", **arguments: Any) -> None:
    """The call 1.1 of run-1 waits for a person; its question is 1.1#1."""
    await desk.propose(call(tool, name="x", **arguments))
    assert (await desk.act()).interrupted


TABLE: list[Any] = [
    pytest.param("ranked", APPROVE, {}, None, id="confirm, approved"),
    pytest.param("ranked", APPROVE, {"level": 2}, "what is shown", id="confirm, approved with other values"),
    pytest.param("ranked", APPROVE, {"colour": "blue"}, "what is shown", id="confirm, approved with an aside"),
    pytest.param("ranked", REJECT, {}, None, id="confirm, rejected"),
    pytest.param("ranked", PROVIDE, {"level": 2}, None, id="confirm, edited"),
    pytest.param("ranked", PROVIDE, {}, "No values", id="confirm, edited without saying what"),
    pytest.param("needs_place", APPROVE, {}, "needs values", id="parameters, approved"),
    pytest.param("needs_place", REJECT, {}, None, id="parameters, rejected"),
    pytest.param("needs_place", PROVIDE, {"place": "here"}, None, id="parameters, provided"),
    pytest.param("needs_place", PROVIDE, {}, "No values", id="parameters, none provided"),
    pytest.param("needs_place", PROVIDE, {"planet": "mars"}, "planet", id="parameters, unknown ones"),
    pytest.param("needs_place", PROVIDE, {"place": 3}, "place", id="parameters, of another type"),
    pytest.param("ask_colour", APPROVE, {}, "needs values", id="question, approved"),
    pytest.param("ask_colour", REJECT, {}, None, id="question, rejected"),
    pytest.param("ask_colour", PROVIDE, {"colour": "blue"}, None, id="question, answered"),
    pytest.param("ask_colour", PROVIDE, {}, "No values", id="question, answered with nothing"),
]


@pytest.mark.parametrize(("tool", "action", "values", "refusal"), TABLE)
async def test_what_each_answer_makes_of_each_question(
    desk: Desk, tool: str, action: AnswerAction, values: dict[str, Any], refusal: str | None
) -> None:
    await asked(desk, tool)
    judged = await desk.judge(action, values=values, principal=BOSS, comment="so be it")
    assert (judged.accepted, judged.action) == (refusal is None, action)
    if refusal is not None:
        assert refusal in judged.detail
        ignored = desk.only(Kind.ANSWER_IGNORED)
        assert ignored.data == {
            "interrupt": "1.1#1", "by": "boss", "action": action.value, "message": judged.detail,
        }  # fmt: skip
        assert (desk.entries(Kind.INTERRUPT_ANSWERED), len(desk.journal.open_interrupts())) == ([], 1)
        return
    arguments = {"name": "x"} | ({} if tool == "ask_colour" else values)
    answered = desk.only(Kind.INTERRUPT_ANSWERED).data
    assert (answered["by"], answered["comment"], answered["values"]) == ("boss", "so be it", values)
    assert answered["arguments"] == arguments
    assert (judged.digest, judged.detail) == (digest(arguments), "")
    assert judged.summary.startswith(f"{tool} name=x")
    assert judged.code == (ErrorCode.REJECTED_BY_HUMAN if action is REJECT else None)
    assert desk.codes() == ({"1.1": "rejected_by_human"} if action is REJECT else {})
    assert desk.journal.open_interrupts() == ()


async def test_a_rejection_tells_the_model_why(desk: Desk) -> None:
    await asked(desk)
    await desk.judge(REJECT, comment="not on a Friday")
    result = desk.only(Kind.TOOL_RESULT).data
    assert result["message"] == "A person rejected this call; it did not run. They said: not on a Friday"


async def test_a_rejection_without_a_word_is_a_whole_sentence(desk: Desk) -> None:
    await asked(desk)
    await desk.judge(REJECT)
    assert desk.only(Kind.TOOL_RESULT).data["message"] == "A person rejected this call; it did not run."


async def test_an_answer_with_the_digest_of_what_was_shown_is_good_and_another_is_not(desk: Desk) -> None:
    await asked(desk)
    shown = desk.only(Kind.INTERRUPT_OPENED).data["digest"]
    wrong = await desk.judge(APPROVE, id="a-0", digest="0" * 32)
    assert (wrong.accepted, "something else" in wrong.detail) == (False, True)
    assert len(desk.journal.open_interrupts()) == 1
    assert (await desk.judge(APPROVE, digest=shown)).accepted


@pytest.mark.parametrize("action", [APPROVE, REJECT])
async def test_the_same_answer_again_is_told_the_same(desk: Desk, action: AnswerAction) -> None:
    await asked(desk)
    first = await desk.judge(action)
    before = desk.entries()
    assert await desk.judge(action) == first
    assert desk.entries() == before


async def test_another_answer_to_a_settled_question_is_ignored(desk: Desk) -> None:
    await asked(desk)
    await desk.judge(APPROVE)
    late = await desk.judge(REJECT, id="a-2", principal=BOSS)
    assert (late.accepted, late.detail) == (False, "This question is settled already.")
    assert desk.only(Kind.INTERRUPT_ANSWERED).data["action"] == "approve"
    assert desk.codes() == {}


async def test_two_answers_that_race_settle_the_question_once(desk: Desk) -> None:
    await asked(desk)
    outcomes = await asyncio.gather(desk.judge(APPROVE, id="a-1"), desk.judge(REJECT, id="a-2"))
    (winner,) = [outcome for outcome in outcomes if outcome.accepted]
    assert desk.only(Kind.INTERRUPT_ANSWERED).data["action"] == winner.action.value
    assert desk.codes() == ({} if winner.action is APPROVE else {"1.1": "rejected_by_human"})


BAD_NAMES = [
    "", "#", "1.1", "1.1#", "#1", "1.1#x", "1.1#99", "1.1#0", "1.1#-1", "1.1#01", "1.1#1 ", "1.1#1#1", "1.1#1_0",
    "1.1#²", "1.1#١", "9.9#1", "01.1#1", "1.1#" + "9" * 5000, "x" * 10_000 + "#1", "1.1#1\x00", "../1.1#1",
]  # fmt: skip


@pytest.mark.parametrize("interrupt", BAD_NAMES, ids=range(len(BAD_NAMES)))
async def test_an_answer_to_nothing_is_recorded_and_changes_nothing(desk: Desk, interrupt: str) -> None:
    await asked(desk)
    judged = await desk.judge(REJECT, interrupt)
    assert judged == AnswerJudged(accepted=False, action=REJECT, detail="There is no such question in this run.")
    await desk.judge(REJECT, interrupt)
    ignored = desk.only(Kind.ANSWER_IGNORED)
    assert len(ignored.key) < 400
    assert "\x00" not in ignored.key + str(ignored.call)
    assert desk.codes() == {}
    assert [row.interrupt for row in desk.journal.open_interrupts()] == ["1.1#1"]
    assert (await desk.judge(APPROVE, id="a-2")).accepted


@pytest.mark.parametrize("id", ["", "i" * 10_000, "a/b\x00c"], ids=["empty", "long", "odd"])
async def test_an_answer_with_an_odd_id_is_recorded_too(desk: Desk, id: str) -> None:
    await asked(desk)
    assert not (await desk.judge(APPROVE, id=id, digest="0" * 32)).accepted
    key = desk.only(Kind.ANSWER_IGNORED).key
    assert (len(key) < 400, "\x00" in key) == (True, False)
    assert (await desk.judge(APPROVE, id=id)).accepted


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"], ids=["nan", "infinity", "half a character"])
@pytest.mark.parametrize(("tool", "action"), [("ask_colour", PROVIDE), ("needs_place", PROVIDE), ("ranked", APPROVE)])
async def test_values_that_json_can_not_carry_are_no_answer(
    desk: Desk, tool: str, action: AnswerAction, value: Any
) -> None:
    await asked(desk, tool)
    judged = await desk.judge(action, values={"colour": value})
    assert (judged.accepted, "JSON" in judged.detail) == (False, True)
    assert len(desk.journal.open_interrupts()) == 1


async def test_a_question_of_another_run_is_none_of_this_one(desk: Desk) -> None:
    await asked(desk)
    await desk.open("b", run="run-2", at=NOON + 9)
    judged = await desk.do(desk.judging.judge, JudgeAnswer("run-2", Answer("a-1", "1.1#1", APPROVE, ME)))
    assert (judged.accepted, judged.detail) == (False, "There is no such question in this run.")


async def test_what_the_asker_may_not_do_can_not_be_filled_in_by_somebody_who_may(desk: Desk) -> None:
    await asked(desk)
    lost_role = replace(ME, roles=())
    desk.tools = type(desk.tools)(_without_roles(desk))
    judged = await desk.judge(PROVIDE, values={"level": 2}, principal=replace(lost_role, roles=("boss",)))
    assert (judged.accepted, "role" in judged.detail) == (False, True)


def _without_roles(desk: Desk) -> Any:
    """The same tools, where `ranked` has become reserved for others."""
    return Registry(
        replace(tool, roles=("director",)) if tool.name == "ranked" else tool for tool in desk.tools._registry.values()
    )


async def test_edits_of_several_rounds_add_up(desk: Desk) -> None:
    await asked(desk, "never_content")
    await desk.judge(PROVIDE, "1.1#1", values={"name": "y"}, id="a-1")
    order = desk.round(round_=2, digest=digest({"name": "y"}))
    assert (await desk.act(round_=2, digest=order.digest)).interrupted
    second = desk.entries(Kind.INTERRUPT_OPENED)[-1].data
    assert (second["interrupt"], second["arguments"]) == ("1.1#2", {"name": "y"})
    judged = await desk.judge(APPROVE, "1.1#2", id="a-2")
    assert (judged.accepted, judged.digest) == (True, digest({"name": "y"}))


async def test_an_approval_of_one_round_is_none_for_the_next(desk: Desk) -> None:
    await asked(desk, "never_content")
    first = desk.only(Kind.INTERRUPT_OPENED).data["digest"]
    await desk.judge(APPROVE, "1.1#1", id="a-1")
    await desk.act(round_=2)
    judged = await desk.judge(APPROVE, "1.1#2", id="a-2", digest=first)
    assert not judged.accepted


async def test_a_call_held_before_it_ran_is_judged_like_any_other(careful_desk: Desk) -> None:
    desk = careful_desk
    outcome = await desk.propose(call("change", name="x"))
    judged = await desk.judge(PROVIDE, desk.question, values={"name": "y"}, digest=outcome.calls[0].shown)
    assert (judged.accepted, judged.digest) == (True, digest({"name": "y"}))
    await desk.act(round_=2, digest=judged.digest)
    assert desk.done == ["change y"]


async def test_an_answer_that_comes_after_the_call_was_settled_is_ignored(desk: Desk) -> None:
    await asked(desk)
    await desk.close(StopReason.CANCELLED)
    before = [entry for entry in desk.entries() if entry.kind is not Kind.ANSWER_IGNORED]
    judged = await desk.judge(APPROVE)
    assert (judged.accepted, judged.detail) == (False, "This question is settled already.")
    assert [entry for entry in desk.entries() if entry.kind is not Kind.ANSWER_IGNORED] == before
