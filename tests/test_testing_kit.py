"""The test kit does for the tests of a tool what it promises: one call, whole runs, answers, and complaints."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from temporalio.client import Client

from opspilot.core.calls import Gate
from opspilot.core.interrupts import Interrupt, InterruptType, Principal
from opspilot.core.limits import Limits, StopReason
from opspilot.core.policy import Policy, Rule
from opspilot.core.ports import CallContext
from opspilot.core.terms import Terms
from opspilot.testing import By, Expectation, Harness, Reply, Step, call, run_approved, run_tool, skipping_server
from opspilot.testing.trial import TESTER
from opspilot.tools.spec import tool

pytestmark = pytest.mark.asyncio(loop_scope="module")


@tool(effect="read", timeout_seconds=5)
def queue_length(queue: str) -> dict[str, object]:
    """How many messages wait."""
    return {"waiting": {"orders": 3}[queue], "token": "hunter2"}


@tool(roles=["oncall"])
def drain(context: CallContext, queue: str, where: str = "") -> object:
    """Empty a queue."""
    if not where:
        return Interrupt(InterruptType.PARAMS_REQUIRED, "Where to?", {"fields": ["where"]})
    if not context.approved:
        return Interrupt(InterruptType.CONFIRM_RISKY, f"{queue} would be emptied")
    return {"drained": queue, "where": where, "by": context.principal.id}


@tool()
def move(context: CallContext, queue: str) -> object:
    """Move a queue to where a person says."""
    if "where" not in context.answers:
        return Interrupt(InterruptType.QUESTION, "Where to?")
    if not context.approved:
        return Interrupt(InterruptType.CONFIRM_RISKY, f"{queue} would be moved")
    return f"{queue} is at {context.answers['where']}"


ANN = Principal("ann", roles=("oncall",))
BEN = Principal("ben", roles=("approver",))
CAT = Principal("cat", roles=("approver",))
ASK_ABOUT_ALL = Policy((Rule("all", Gate.CONFIRM, reason="Sure?"),))
TWO_OTHERS = Policy((Rule("two", Gate.CONFIRM, terms=Terms(role="approver", quorum=2, not_requester=True)),))
DRAIN = [Step(calls=[call("drain", queue="orders")]), Step(text="Done.")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Client]:
    async with skipping_server() as client:
        yield client


async def test_one_call_is_validated_timed_and_redacted_as_in_a_run() -> None:
    good = await run_tool(queue_length, queue="orders")
    assert good == {"ok": True, "data": {"waiting": 3, "token": "[redacted:secret]"}}
    bad = await run_tool(queue_length, que="orders")
    assert (bad["ok"], bad["errorCode"]) == (False, "invalid_arguments")
    broken = await run_tool(queue_length, queue="mail")
    assert broken == {"ok": False, "errorCode": "tool_failed", "message": "queue_length failed: KeyError: 'mail'"}


async def test_one_call_is_held_by_the_policy_that_is_given() -> None:
    question = await run_tool(queue_length, TESTER, ASK_ABOUT_ALL, queue="orders")
    assert (question["interruptType"], question["reason"]) == ("confirm_risky", "Sure?")
    assert (await run_approved(queue_length, TESTER, ASK_ABOUT_ALL, queue="orders"))["ok"] is True


async def test_one_call_asks_is_approved_and_is_denied_as_in_a_run() -> None:
    question = await run_tool(drain, ANN, queue="orders")
    assert (question["interruptType"], question["payload"]["fields"]) == ("params_required", ["where"])
    assert question["payload"]["schema"]["properties"] == {"where": {"type": "string"}}
    question = await run_tool(drain, ANN, queue="orders", where="disk")
    assert question["reason"] == "orders would be emptied"
    done = await run_approved(drain, ANN, queue="orders", where="disk")
    assert done["data"] == {"drained": "orders", "where": "disk", "by": "ann"}
    assert (await run_tool(drain, queue="orders"))["errorCode"] == "denied_by_policy"


async def test_a_run_plays_the_script_and_shows_what_the_model_was_shown(server: Client) -> None:
    script = [
        Step(calls=[call("queue_length", queue="orders"), call("queue_length", queue="mail")]),
        Step(text="Three wait.", expect=Expectation(contains="waiting")),
    ]
    async with Harness([queue_length], script, client=server) as harness:
        result = await harness.ask("How long is the queue?")
        assert (result.stop_reason, result.answer, result.steps) == (StopReason.ANSWERED, "Three wait.", 2)
        assert harness.observations["1.1"]["data"] == {"waiting": 3, "token": "[redacted:secret]"}
        assert harness.observations["1.2"]["errorCode"] == "tool_failed"
        assert harness.questions == {}


async def test_a_harness_starts_a_server_of_its_own() -> None:
    async with Harness([queue_length], [Step(text="Nothing to do.")]) as harness:
        assert (await harness.ask()).answer == "Nothing to do."


async def test_questions_are_answered_by_call_or_by_round(server: Client) -> None:
    script = [Step(calls=[call("move", queue="orders")]), Step(text="Done.")]
    async with Harness([move], script, client=server) as harness:
        await harness.ask(replies={"1.1#1": {"where": "disk"}, "1.1#2": "approve"})
        assert harness.observations["1.1"]["data"] == "orders is at disk"
        assert [asked["kind"] for asked in harness.questions.values()] == ["question", "confirm_risky"]
        await harness.ask(replies={"1.1": "reject"})
        assert harness.observations["1.1"]["errorCode"] == "rejected_by_human"
        assert list(harness.questions) == ["1.1#1"]


async def test_a_policy_that_wants_two_people_gets_two_answers(server: Client) -> None:
    script = [Step(calls=[call("queue_length", queue="orders")]), Step(text="Three.")]
    async with Harness([queue_length], script, policy=TWO_OTHERS, principal=ANN, client=server) as harness:
        await harness.ask(replies={"1.1": [By(BEN, "approve"), By(CAT, "approve")]})
        assert harness.observations["1.1"]["ok"] is True
        assert harness.questions["1.1#0"]["quorum"] == 2
        await harness.ask(replies={"1.1": By(CAT, "reject")})
        assert harness.observations["1.1"]["errorCode"] == "rejected_by_human"
    refused: tuple[tuple[Reply, str], ...] = (
        ([By(BEN, "approve"), By(BEN, "approve")], "somebody else has to agree"),
        ([By(BEN, "approve"), "approve"], "Only people with the role approver"),
    )
    for replies, why in refused:
        with pytest.raises(AssertionError, match=why):
            async with Harness([queue_length], script, policy=TWO_OTHERS, principal=ANN, client=server) as harness:
                await harness.ask(replies={"1.1": replies})


async def test_a_model_that_asks_a_person_reads_the_answer_or_that_there_will_be_none(server: Client) -> None:
    asks = call("ask_human", question="Which queue?", options=["orders", "mail"])
    script = [Step(calls=[asks, call("queue_length", queue="orders")]), Step(text="Thanks.")]
    async with Harness([queue_length], script, client=server) as harness:
        await harness.ask(replies={"1.1": By(BEN, {"answer": "neither"})})
        assert harness.observations["1.1"] == {"ok": True, "data": {"answer": "neither"}}
        assert harness.observations["1.2"]["ok"] is True
        assert harness.questions["1.1#1"]["payload"]["options"] == {"answer": ["orders", "mail"]}
        await harness.ask(replies={"1.1": "reject"})
        assert harness.observations["1.1"]["errorCode"] == "rejected_by_human"


async def test_a_question_without_a_reply_fails_the_test_and_ends_the_run(server: Client) -> None:
    with pytest.raises(AssertionError, match=r"1\.1#1 asks a person, and has no reply: Where to\?"):
        async with Harness([drain], DRAIN, principal=ANN, client=server) as harness:
            await harness.ask()
    assert harness.entries[-1].data["stop_reason"] == "cancelled"


async def test_a_reply_that_the_run_refuses_fails_the_test(server: Client) -> None:
    with pytest.raises(AssertionError, match=r"The run refused the reply: .*planet"):
        async with Harness([drain], DRAIN, principal=ANN, client=server) as harness:
            await harness.ask(replies={"1.1": {"planet": "mars"}})


async def test_steps_of_the_script_that_were_never_played_fail_the_test(server: Client) -> None:
    with pytest.raises(AssertionError, match="never played: 2"):
        async with Harness([], [Step(text="Short."), Step(text="Never.")], client=server) as harness:
            await harness.ask()


async def test_a_session_goes_on_where_it_was_and_only_the_last_run_is_shown(server: Client) -> None:
    script = [Step(calls=[call("queue_length", queue="orders")]), Step(text="Three."), Step(text="Still three.")]
    async with Harness([queue_length], script, client=server) as harness:
        await harness.ask()
        session = harness.entries[0].session
        assert (await harness.ask("And now?", session=session)).answer == "Still three."
        assert harness.observations == {}
        assert harness.entries[0].data["user"]["id"] == TESTER.id


async def test_limits_are_those_of_a_run_and_long_results_can_be_read_on(server: Client) -> None:
    @tool(effect="read")
    def long_list() -> str:
        """Much text."""
        return "x" * 20_000

    script = [Step(calls=[call("long_list")], final="That is all."), Step(text="")]
    async with Harness([long_list], script, limits=Limits(steps=1), client=server) as harness:
        result = await harness.ask()
        assert (result.stop_reason, result.answer) == (StopReason.MAX_STEPS, "")
        cut = harness.observations["1.1"]["data"]
    assert cut["read_more"]["offset"] == len(cut["excerpt"])
