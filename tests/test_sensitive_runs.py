"""What is sensitive reaches the tool and stands in the journal, and nowhere else: not in Temporal, not in any copy."""

import json
from collections.abc import AsyncIterator
from typing import Annotated

import pytest
import pytest_asyncio
from temporalio.client import Client

from opspilot.core.calls import Gate
from opspilot.core.contract import ANSWER, MAX_ANSWER_BYTES
from opspilot.core.entries import Entry, Kind
from opspilot.core.errors import UsageError
from opspilot.core.interrupts import Answer, AnswerAction, Interrupt, InterruptType
from opspilot.core.policy import RUN_ANYTHING, Policy, Rule
from opspilot.core.ports import CallContext
from opspilot.core.sensitive import MASK
from opspilot.outward import outward
from opspilot.testing import Harness, Step, call, skipping_server
from opspilot.tools.spec import Sensitive, tool

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOLD = "sesame told by a person"
PROPOSED = "sesame made up by the model"
ASK = Policy((Rule("ask", Gate.CONFIRM),))
used: list[str] = []


@tool()
def enter(context: CallContext, gate: str, word: Annotated[str, Sensitive()] = "") -> object:
    """Enter by a gate."""
    if not word:
        return Interrupt(InterruptType.PARAMS_REQUIRED, "What is the word?", {"fields": ["word"]})
    used.append(word)
    return {"said": f"I said {word}"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Client]:
    async with skipping_server() as client:
        yield client


def script(**arguments: str) -> list[Step]:
    return [Step(calls=[call("enter", **arguments)]), Step(text="Inside.")]


def written(*entries: Entry) -> str:
    return json.dumps([entry.as_event() for entry in entries], ensure_ascii=False, default=str)


async def copies(harness: Harness) -> str:
    """Everything that anybody but tool, model and journal gets to see of the last run."""
    session = harness.entries[0].session
    history = await harness.desk.handle(session).fetch_history()
    temporal = b"".join(event.SerializeToString() for event in history.events).decode(errors="replace")
    assert "enter gate=" in temporal
    shown = written(*await harness.desk.opspilot.show(session))
    return temporal + shown + written(*map(outward, harness.entries))


@pytest.mark.parametrize(
    ("policy", "arguments", "reply", "word"),
    [
        (RUN_ANYTHING, {"gate": "north"}, {"word": TOLD}, TOLD),
        (RUN_ANYTHING, {"gate": "north", "word": PROPOSED}, None, PROPOSED),
        (ASK, {"gate": "north", "word": PROPOSED}, "approve", PROPOSED),
        (ASK, {"gate": "north", "word": PROPOSED}, {"word": TOLD}, TOLD),
        # A form that was filled with what is shown comes back with the mask.
        (ASK, {"gate": "north", "word": PROPOSED}, {"word": MASK, "gate": "south"}, PROPOSED),
    ],
    ids=["asked for", "proposed", "approved", "changed", "another argument changed"],
)
async def test_a_sensitive_value_is_in_the_journal_and_in_no_copy_of_it(
    server: Client, policy: Policy, arguments: dict[str, str], reply: object, word: str
) -> None:
    used.clear()
    async with Harness([enter], script(**arguments), policy=policy, client=server) as harness:
        await harness.ask(replies={"1.1": reply} if reply else {})  # type: ignore[dict-item]
        assert harness.observations["1.1"]["data"] == {"said": f"I said {MASK}"}
        seen = await copies(harness)
    assert used == [word]
    assert word in written(*harness.entries)
    assert "sesame" not in seen
    assert MASK in seen


async def test_the_inbox_shows_a_mask_and_a_rejection_needs_no_value(server: Client) -> None:
    async with Harness([enter], script(gate="north", word=PROPOSED), policy=ASK, client=server) as harness:
        asked = await harness.desk.ask("Go in.")
        await harness.desk.waiting(asked.session)
        (question,) = await harness.desk.opspilot.questions(asked.session)
        assert question.arguments == {"gate": "north", "word": MASK}
        await harness.desk.answer(asked.session, "1.1#0", AnswerAction.REJECT)
        await harness.desk.result(asked)
        assert harness.desk.codes(asked.session) == {"1.1": "rejected_by_human"}


async def test_an_answer_that_stands_for_a_value_that_nobody_kept_is_ignored_and_a_long_one_refused(
    server: Client,
) -> None:
    async with Harness([enter], script(gate="north"), client=server) as harness:
        desk = harness.desk
        asked = await desk.ask("Go in.")
        await desk.waiting(asked.session)
        with pytest.raises(UsageError, match="16,384 bytes"):
            await desk.answer(asked.session, "1.1#1", AnswerAction.PROVIDE, values={"word": "x" * MAX_ANSWER_BYTES})
        forged = Answer("forged", "1.1#1", AnswerAction.PROVIDE, desk.principal, {"word": MASK})
        await desk.handle(asked.session).execute_update(ANSWER, forged, id=forged.id)
        ignored = await desk.until(asked.session, Kind.ANSWER_IGNORED)
        assert ignored.data["message"] == "The sensitive values that it speaks of were not kept for it."
        await desk.answer(asked.session, "1.1#1", AnswerAction.PROVIDE, values={"word": TOLD})
        await desk.result(asked)
    assert used[-1] == TOLD
