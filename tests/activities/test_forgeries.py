"""950 answers that are forged, stale, crossed or replayed: none settles anything, and the true approver still can."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from opspilot.core.calls import Gate
from opspilot.core.contract import JudgeAnswer
from opspilot.core.entries import Kind
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.policy import Policy, Rule
from opspilot.core.signatures import KEY_BYTES, is_signed, signed
from opspilot.core.terms import Terms
from tests.activities.desk import SESSION, Desk, call

KEY = bytes(range(KEY_BYTES))
APPROVER = Principal("ann", "Ann", ("approver",), "token")
RUN = "run-1"

Forge = Callable[[random.Random, Answer], Answer]


def good(digest: str, id: str = "good", interrupt: str = "1.1#0") -> Answer:
    """The answer that would be accepted, but for its signature."""
    return Answer(id, interrupt, AnswerAction.APPROVE, APPROVER, digest=digest)


def as_signed(answer: Answer, key: bytes = KEY, session: str = SESSION, run: str = RUN) -> Answer:
    return signed(answer, key, session, run)


def another_hex(chance: random.Random, length: int = 64) -> str:
    return "".join(chance.choice("0123456789abcdef") for _ in range(length))


FORGERIES: dict[str, Forge] = {
    "not signed": lambda chance, answer: answer,
    "signed with rubbish": lambda chance, answer: replace(
        answer, signature=chance.choice([another_hex(chance), "0", "é", "\ud800", "x" * 5000])
    ),
    "signed with another key": lambda chance, answer: as_signed(answer, chance.randbytes(KEY_BYTES)),
    "signed for another session": lambda chance, answer: as_signed(answer, session=f"ops-{chance.random()}"),
    "signed for another run": lambda chance, answer: as_signed(answer, run=f"run-{chance.randrange(2, 99)}"),
    "signed by somebody without the role": lambda chance, answer: as_signed(
        replace(answer, principal=Principal(f"u{chance.random()}", roles=("operator", "viewer")))
    ),
    "signed, then sent in another's name": lambda chance, answer: replace(
        as_signed(replace(answer, principal=Principal("eve", roles=("viewer",)))), principal=APPROVER
    ),
    "signed, then given a role": lambda chance, answer: replace(
        as_signed(replace(answer, principal=Principal("eve"))), principal=Principal("eve", roles=("approver", "admin"))
    ),
    "signed for another question": lambda chance, answer: replace(
        as_signed(replace(answer, interrupt=chance.choice(["1.2#0", "1.1#1", "2.1#0"]))), interrupt=answer.interrupt
    ),
    "signed for what another question shows": lambda chance, answer: as_signed(
        replace(answer, digest=another_hex(chance, 32))
    ),
    "signed for whatever is open": lambda chance, answer: as_signed(replace(answer, digest="")),
    "a rejection made an approval": lambda chance, answer: replace(
        as_signed(replace(answer, action=AnswerAction.REJECT)), action=AnswerAction.APPROVE
    ),
    "an approval made an edit": lambda chance, answer: replace(
        as_signed(answer), action=AnswerAction.PROVIDE, values={"level": chance.randrange(9)}
    ),
    "edited after it was signed": lambda chance, answer: replace(
        as_signed(replace(answer, action=AnswerAction.PROVIDE, values={"level": 1})),
        action=AnswerAction.PROVIDE,
        values={"level": chance.randrange(2, 99)},
    ),
    "replayed under another id": lambda chance, answer: replace(as_signed(answer), id=f"again-{chance.random()}"),
    "with another comment": lambda chance, answer: replace(as_signed(answer), comment=f"sure {chance.random()}"),
    "a question spelt otherwise": lambda chance, answer: as_signed(
        replace(answer, interrupt=chance.choice(["1.1#00", "01.1#0", "1.1", "1.1#", " 1.1#0", "1.1#0\n", "limit#1"]))
    ),
    "a rejection that is signed badly": lambda chance, answer: replace(
        answer, action=AnswerAction.REJECT, signature=another_hex(chance)
    ),
    "an unsigned edit": lambda chance, answer: replace(answer, action=AnswerAction.PROVIDE, values={"level": 2}),
}
EACH = 50


def test_there_are_950_of_them() -> None:
    assert len(FORGERIES) * EACH == 950


@pytest.mark.parametrize("kind", FORGERIES)
async def test_none_is_accepted_and_the_true_approver_still_gets_through(tmp_path: Path, kind: str) -> None:
    policy = Policy((Rule("held", Gate.CONFIRM, tools=("change",), terms=Terms(role="approver")),))
    desk = Desk(tmp_path, policy=policy, key=KEY)
    chance = random.Random(kind)
    await desk.propose(call("change", name="x"), call("change", name="y"))
    first, _ = desk.entries(Kind.INTERRUPT_OPENED)
    for nth in range(EACH):
        answer = FORGERIES[kind](chance, good(first.data["digest"], id=f"forged-{nth}"))
        judged = await desk.do(desk.judging.judge, JudgeAnswer(RUN, answer))
        assert not judged.accepted
        assert not judged.counted
        assert judged.detail
    assert desk.entries(Kind.INTERRUPT_ANSWERED, Kind.INTERRUPT_APPROVED, Kind.TOOL_RESULT) == []
    assert [row.interrupt for row in desk.journal.open_interrupts()] == ["1.1#0", "1.2#0"]
    # What is good for one question is no good for the other, and good once.
    crossed = as_signed(good(first.data["digest"], "crossed", "1.2#0"))
    assert not (await desk.do(desk.judging.judge, JudgeAnswer(RUN, crossed))).accepted
    true = as_signed(good(first.data["digest"]))
    assert (await desk.do(desk.judging.judge, JudgeAnswer(RUN, true))).accepted
    twice = as_signed(good(first.data["digest"], "twice"))
    assert not (await desk.do(desk.judging.judge, JudgeAnswer(RUN, twice))).accepted
    assert len(desk.entries(Kind.INTERRUPT_ANSWERED)) == 1


async def test_a_copy_without_its_signature_is_no_answer_however_well_its_id_is_known(tmp_path: Path) -> None:
    """Else it would be judged again and again without being counted as one that is no good."""
    policy = Policy((Rule("held", Gate.CONFIRM, tools=("change",), terms=Terms(role="approver", quorum=2)),))
    desk = Desk(tmp_path, policy=policy, key=KEY)
    await desk.propose(call("change", name="x"))
    shown = desk.only(Kind.INTERRUPT_OPENED).data["digest"]
    bob = replace(APPROVER, id="bob")
    for true, counted in ((good(shown, "a-1"), True), (replace(good(shown, "a-2"), principal=bob), False)):
        for _ in range(2):
            judged = await desk.do(desk.judging.judge, JudgeAnswer(RUN, as_signed(true)))
            assert (judged.counted, judged.accepted) == (counted, not counted)
        copied = await desk.do(desk.judging.judge, JudgeAnswer(RUN, true))
        assert (copied.counted, copied.accepted) == (False, False)
    assert len(desk.entries(Kind.ANSWER_IGNORED)) == 2


def test_a_signature_is_for_every_part_of_an_answer() -> None:
    answer = as_signed(good("d" * 32))
    assert is_signed(answer, KEY, SESSION, RUN)
    assert is_signed(replace(answer, at=7.0), KEY, SESSION, RUN)
    for part in (
        replace(answer, id="other"),
        replace(answer, interrupt="1.1#1"),
        replace(answer, action=AnswerAction.REJECT),
        replace(answer, principal=replace(APPROVER, name="Anna")),
        replace(answer, principal=replace(APPROVER, method="local")),
        replace(answer, values={"a": 1}),
        replace(answer, comment="."),
        replace(answer, digest=""),
        replace(answer, said_at=7.0),
    ):
        assert not is_signed(part, KEY, SESSION, RUN)
    assert not is_signed(answer, KEY, SESSION, "run-2")
    assert not is_signed(answer, KEY, "other", RUN)


@pytest.mark.parametrize(
    ("action", "values", "accepted"),
    [
        pytest.param(AnswerAction.REJECT, {}, True, id="reject"),
        pytest.param(AnswerAction.APPROVE, {}, False, id="approve"),
        pytest.param(AnswerAction.PROVIDE, {"name": "z"}, False, id="edit"),
    ],
)
async def test_from_temporals_console_one_may_only_reject(
    tmp_path: Path, action: AnswerAction, values: dict[str, str], accepted: bool
) -> None:
    desk = Desk(tmp_path, policy=Policy(), key=KEY)
    await desk.propose(call("change", name="x"))
    answer = Answer("console", "1.1#0", action, Principal("anybody"), values=values)
    judged = await desk.do(desk.judging.judge, JudgeAnswer(RUN, answer))
    assert judged.accepted is accepted
    if accepted:
        assert desk.only(Kind.INTERRUPT_ANSWERED).data["by"] == "unsigned"


async def test_a_question_of_the_model_may_be_answered_from_temporals_console(tmp_path: Path) -> None:
    desk = Desk(tmp_path, policy=Policy((Rule("all", Gate.RUN),)), key=KEY)
    await desk.propose(call("ask_colour", name="x"))
    assert (await desk.act()).interrupted
    answer = Answer("console", "1.1#1", AnswerAction.PROVIDE, Principal("anybody"), values={"colour": "red"})
    assert (await desk.do(desk.judging.judge, JudgeAnswer(RUN, answer))).accepted
