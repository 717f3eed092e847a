"""Whatever a tool does, the runtime answers with one observation or one interrupt, promptly and without secrets."""

import asyncio
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, Field
from structlog.testing import capture_logs

from opspilot.core.calls import Effect, Gate, Verdict
from opspilot.core.interrupts import Interrupt, InterruptType, Principal
from opspilot.core.messages import Json
from opspilot.core.observations import ErrorCode, Observation
from opspilot.core.ports import CallContext, ToolReturn
from opspilot.tools.registry import Registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import Tool, ToolError, tool
from opspilot.tools.trim import KEPT_CHARS

ANN = Principal("ann", roles=("oncall",))
BOB = Principal("bob")
CONTEXT = CallContext("ops-1", "run-1", "3.1", 1, "run-1/3.1#1", ANN)


def never_odd(value: int) -> int:
    if value % 2:
        raise ValueError("must be even")
    if value > 100:
        raise KeyError(value)
    return value


Even = Annotated[int, AfterValidator(never_odd)]


@tool(effect="read", polling=True, timeout_seconds=7)
def look(name: Annotated[str, Field(max_length=5)], limit: int = 20, token: str = "", even: Even = 0) -> Json:
    """Look."""
    return [name, limit]


@tool(idempotent=True, roles=("oncall", "admin"))
def restart(service: str) -> str:
    """Restart."""
    return service


def runtime_of(*tools: Tool, **options: Any) -> ToolRuntime:
    return ToolRuntime(Registry(tools), **options)


def returning(value: Any, **options: Any) -> Tool:
    @tool(name="give", **{"effect": "read", **options})
    def give() -> Any:
        """Give."""
        return value

    return give


def raising(error: BaseException, **options: Any) -> Tool:
    @tool(name="fail", **{"effect": "read", **options})
    def fail() -> None:
        """Fail."""
        raise error

    return fail


def raising_later(error: BaseException) -> Tool:
    @tool(name="fail", effect="read")
    async def fail() -> None:
        """Fail."""
        await asyncio.sleep(0)
        raise error

    return fail


async def observe(subject: Tool, **options: Any) -> Observation:
    returned = await runtime_of(subject, **options).run(subject.name, {}, CONTEXT)
    assert returned.observation is not None
    return returned.observation


# ---------------------------------------------------------------- who sees what, and verdicts


def test_people_see_the_tools_that_their_roles_allow_in_a_stable_order() -> None:
    runtime = runtime_of(restart, look)
    assert [spec.name for spec in runtime.specs(ANN)] == ["restart", "look"]
    assert [spec.name for spec in runtime.specs(BOB)] == ["look"]
    assert [spec.name for spec in runtime.specs(ANN, only="look")] == ["look"]
    assert runtime.specs(BOB, only="restart") == ()
    assert runtime.specs(ANN, only="nothing") == ()


def test_a_good_read_runs_and_a_write_asks_with_what_its_tool_declares() -> None:
    runtime = runtime_of(restart, look, default_timeout_seconds=11)
    assert runtime.judge("look", {"name": "a"}, BOB) == Verdict(
        Gate.RUN, Effect.READ, "unmatched-read", concurrent=True, polling=True, timeout_seconds=7
    )
    assert runtime.judge("restart", {"service": "a"}, ANN) == Verdict(
        Gate.CONFIRM,
        Effect.WRITE,
        "unmatched-write",
        idempotent=True,
        timeout_seconds=11,
        arguments={"service": "a"},
    )


def test_an_administrator_has_the_role_that_a_tool_asks_for() -> None:
    runtime = runtime_of(replace(restart, roles=("oncall",)))
    admin = Principal("root", roles=("admin",))
    assert [spec.name for spec in runtime.specs(admin)] == ["restart"]
    assert runtime.judge("restart", {"service": "a"}, admin).code is None


UNKNOWN = (Gate.INVALID, ErrorCode.UNKNOWN_TOOL, "registry")
DENIED = (Gate.DENY, ErrorCode.DENIED_BY_POLICY, "role")
INVALID = (Gate.INVALID, ErrorCode.INVALID_ARGUMENTS, "schema")
NO_JSON = "The arguments hold what JSON can't carry, such as infinity or half of a character."

JUDGED: tuple[tuple[str, dict[str, Json], Principal, tuple[Gate, ErrorCode, str], str], ...] = (
    ("lok", {}, ANN, UNKNOWN, "There is no tool 'lok'. Did you mean look? The tools are: restart, look."),
    ("restar", {}, BOB, UNKNOWN, "There is no tool 'restar'. The tools are: look."),
    ("a\n\u202eb", {}, BOB, UNKNOWN, "There is no tool 'a b'. The tools are: look."),
    ("restart", {}, BOB, DENIED, "restart may be called only by people who have the role oncall or admin."),
)

BAD_ARGUMENTS: tuple[tuple[dict[str, Json], str], ...] = (
    ({}, "name: is required"),
    ({"name": "a", "limit": "x"}, "limit: should be a valid integer, unable to parse string as an integer, got x"),
    ({"name": "a", "limit": {"a": 1}}, 'limit: should be a valid integer, got {"a":1}'),
    ({"name": "a", "lines": 1}, "lines: is no parameter of this tool, which has name, limit, token, even"),
    ({"name": "a", "token": ["hunter2"]}, 'token: should be a valid string, got ["[redacted:secret]"]'),
    (
        {"name": "see a@example.com"},
        'name: String should have at most 5 characters, got "see [redacted:email]"',
    ),
    ({"name": "a", "even": 3}, "even: must be even, got 3"),
    ({"limit": [], "name": 5}, "name: should be a valid string, got 5; limit: should be a valid integer, got []"),
    ({"name": "a", "even": 102}, "The arguments could not be checked: KeyError: 102"),
    ({"name": "\ud83d"}, NO_JSON),
    ({"name": "a", "limit": math.inf}, NO_JSON),
    ({str(n): n for n in range(9)}, "and 5 more"),
)


@pytest.mark.parametrize(
    ("name", "arguments", "who", "kind", "message"),
    [*JUDGED, *(("look", arguments, BOB, INVALID, message) for arguments, message in BAD_ARGUMENTS)],
)
async def test_a_call_that_may_not_run_is_told_why_before_and_when_it_is_run_all_the_same(
    name: str, arguments: dict[str, Json], who: Principal, kind: tuple[Gate, ErrorCode, str], message: str
) -> None:
    runtime = runtime_of(restart, look)
    verdict = runtime.judge(name, arguments, who)
    assert (verdict.gate, verdict.code, verdict.rule) == kind
    assert verdict.message.endswith(message)
    returned = await runtime.run(name, arguments, replace(CONTEXT, principal=who))
    assert returned == ToolReturn(Observation.failure(kind[1], verdict.message))


def test_a_call_that_may_not_run_counts_as_a_write_when_its_tool_is_one_or_is_unknown() -> None:
    runtime = runtime_of(restart, look)
    assert runtime.judge("nothing", {}, ANN).effect is Effect.WRITE
    assert runtime.judge("restart", {}, ANN).effect is Effect.WRITE
    assert runtime.judge("look", {}, ANN).effect is Effect.READ


# ---------------------------------------------------------------- results


async def test_a_result_is_converted_and_redacted() -> None:
    value = {"at": datetime(2026, 11, 30, tzinfo=UTC), "who": "a@example.com", "password": "x", "cost": Decimal("1.5")}
    assert await observe(returning(value)) == Observation(
        ok=True,
        data={"at": "2026-11-30T00:00:00Z", "who": "[redacted:email]", "password": "[redacted:secret]", "cost": "1.5"},
    )


async def test_an_async_tool_and_a_callable_object_run_as_functions_do() -> None:
    class Greeter:
        """Greet."""

        async def __call__(self, context: CallContext, name: str) -> str:
            return f"{name} {context.call}"

    greet = tool(name="greet")(Greeter())
    returned = await runtime_of(greet).run("greet", {"name": "Ann"}, CONTEXT)
    assert returned.observation == Observation(ok=True, data="Ann 3.1")


async def test_a_result_that_can_not_be_used_says_what_it_was() -> None:
    observation = await observe(returning({"body": b"\x00" * 1234}))
    assert observation == Observation.failure(
        ErrorCode.RESULT_UNUSABLE, "give returned 1234 bytes of binary data at 'body'."
    )
    written = await observe(returning(math.nan, effect="write"))
    assert written.error_code is ErrorCode.RESULT_UNUSABLE
    assert written.message.endswith("It did run, though.")


async def test_a_long_result_is_trimmed_and_the_whole_of_it_handed_over() -> None:
    lines = [f"line {n} of a@example.com" for n in range(1000)]
    returned = await runtime_of(returning(lines)).run("give", {}, CONTEXT)
    assert returned.observation is not None
    data = returned.observation.data
    assert data["read_more"] == {"ref": returned.overflow_ref, "offset": 8000}
    assert len(returned.observation.data["excerpt"]) == 8000
    assert json.loads(returned.overflow) == [f"line {n} of [redacted:email]" for n in range(1000)]
    again = await runtime_of(returning(lines)).run("give", {}, CONTEXT)
    other = await runtime_of(returning(lines)).run("give", {}, replace(CONTEXT, round=2))
    assert again == returned
    assert other.overflow_ref != returned.overflow_ref


async def test_an_enormous_result_is_kept_up_to_a_size_which_the_model_is_told() -> None:
    returned = await runtime_of(returning(["word " * 20] * 30_000)).run("give", {}, CONTEXT)
    assert returned.observation is not None
    assert len(returned.overflow) == KEPT_CHARS
    assert returned.observation.data["total_chars"] > 3_000_000
    assert str(KEPT_CHARS) in returned.observation.data["note"]


async def test_a_prepared_result_is_neither_redacted_nor_trimmed_again() -> None:
    page = 'x","password":"[redac' + "x" * 15_000
    returned = await runtime_of(replace(returning({"text": page}), prepared=True)).run("give", {}, CONTEXT)
    assert returned == ToolReturn(Observation(ok=True, data={"text": page}))


async def test_an_interrupt_passes_with_its_payload_redacted() -> None:
    asked = Interrupt(InterruptType.QUESTION, "Where, a@example.com?", {"fields": ["where"], "token": "x"})
    returned = await runtime_of(returning(asked, effect="write")).run("give", {}, CONTEXT)
    assert returned == ToolReturn(
        interrupt=Interrupt(
            InterruptType.QUESTION,
            "Where, [redacted:email]?",
            {"fields": ["where"], "token": "[redacted:secret]"},
        )
    )


async def test_an_interrupt_that_nobody_could_read_is_unusable() -> None:
    for payload in ({"x": math.nan}, {"x": "y" * 20_000}):
        observation = await observe(returning(Interrupt(InterruptType.QUESTION, "?", payload)))
        assert observation.error_code is ErrorCode.RESULT_UNUSABLE


class Odd:
    def __iter__(self) -> Iterator[int]:
        return iter([1])


questions = st.builds(
    Interrupt,
    st.sampled_from([InterruptType.QUESTION, "confirm_risky", "nonsense"]),
    st.text(),
    st.dictionaries(st.text(), st.floats(), max_size=3),
)
leaves = st.one_of(
    st.sampled_from([None, True, Odd(), Odd, len, Path("a"), asyncio.CancelledError(), Effect.READ, "\udc80", ...]),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(max_size=9),
    st.decimals(),
    st.timedeltas(),
    st.complex_numbers(),
    questions,
)
python_values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=9) | st.integers() | st.none(), inner, max_size=4)
        | st.frozensets(st.integers() | st.text(), max_size=4)
    ),
    max_leaves=20,
)


@settings(deadline=None, max_examples=150)
@given(value=python_values)
def test_any_python_value_gives_one_observation_or_one_interrupt_that_json_can_carry(value: Any) -> None:
    returned = asyncio.run(runtime_of(returning(value), max_result_chars=200).run("give", {}, CONTEXT))
    assert (returned.observation is None) != (returned.interrupt is None)
    shown = returned.observation or returned.interrupt
    assert shown is not None
    text = json.dumps(shown.as_json(), allow_nan=False, ensure_ascii=False)
    text.encode()
    assert bool(returned.overflow) == bool(returned.overflow_ref)


# ---------------------------------------------------------------- failures


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


HERE = str(Path(__file__).resolve().parents[2])
RAISED: tuple[tuple[BaseException, ErrorCode, str], ...] = (
    (ToolError("It is away."), ErrorCode.TOOL_FAILED, "It is away."),
    (ToolError("Not\nnow, a@example.com.", ErrorCode.NOT_STARTED), ErrorCode.NOT_STARTED, "Not now, [redacted:email]."),
    (ToolError(""), ErrorCode.TOOL_FAILED, "The tool failed."),
    (
        ValueError("bad\n  password=hunter2 \ud83d"),
        ErrorCode.TOOL_FAILED,
        "fail failed: ValueError: bad password=[redacted:secret]",
    ),
    (KeyError(), ErrorCode.TOOL_FAILED, "fail failed: KeyError"),
    (
        OSError(2, "No such file", f"{HERE}/x/y.py"),
        ErrorCode.TOOL_FAILED,
        "fail failed: FileNotFoundError: [Errno 2] No such file: '…/x/y.py'",
    ),
    (Unprintable(), ErrorCode.TOOL_FAILED, "fail failed: Unprintable"),
    (TimeoutError("of its own"), ErrorCode.TOOL_FAILED, "fail failed: TimeoutError: of its own"),
    (SystemExit(3), ErrorCode.TOOL_FAILED, "fail failed: SystemExit: 3"),
    (KeyboardInterrupt(), ErrorCode.TOOL_FAILED, "fail failed: KeyboardInterrupt"),
    (StopIteration(4), ErrorCode.TOOL_FAILED, "fail failed: StopIteration: 4"),
    (ExceptionGroup("several", [ToolError("It is away."), ValueError()]), ErrorCode.TOOL_FAILED, "It is away."),
)


@pytest.mark.parametrize(("error", "code", "message"), RAISED, ids=[repr(error)[:20] for error, _, _ in RAISED])
async def test_what_a_tool_raises_becomes_a_short_public_observation(
    error: BaseException, code: ErrorCode, message: str
) -> None:
    assert await observe(raising(error)) == Observation.failure(code, message)
    if not isinstance(error, StopIteration):  # a coroutine can't raise it
        assert await observe(raising_later(error)) == Observation.failure(code, message)


async def test_a_long_message_is_shortened() -> None:
    observation = await observe(raising(ValueError("x" * 100_000)))
    assert len(observation.message) < 350


async def test_an_async_tool_that_cancels_itself_has_failed() -> None:
    assert (await observe(raising_later(asyncio.CancelledError()))).error_code is ErrorCode.TOOL_FAILED


async def test_the_log_has_the_trace_without_the_secret() -> None:
    with capture_logs() as logs:
        await observe(raising(ValueError("password=hunter2")))
    (entry,) = logs
    assert entry["tool"] == "fail"
    assert entry["call"] == CONTEXT.idempotency_key
    assert "Traceback" in entry["trace"]
    assert "hunter2" not in str(entry)


# ---------------------------------------------------------------- reconcile


def reconciling(answer: Callable[[str], Any]) -> ToolRuntime:
    @tool(reconcile=answer, timeout_seconds=0.05)
    def change() -> None:
        """Change."""

    return runtime_of(change, restart)


def away(key: str) -> Json:
    raise OSError("away")


def never_happened(key: str) -> Json:
    raise ToolError("Nothing was changed.", ErrorCode.NOT_STARTED)


def too_late(key: str) -> Json:
    time.sleep(0.2)
    return "late"


async def asks_later(key: str) -> Json:
    return {"key": key, "token": "x"}


RECONCILED: tuple[tuple[Callable[[str], Any], Observation | None], ...] = (
    (lambda key: {"key": key}, Observation(ok=True, data={"key": "k"})),
    (asks_later, Observation(ok=True, data={"key": "k", "token": "[redacted:secret]"})),
    (never_happened, Observation.failure(ErrorCode.NOT_STARTED, "Nothing was changed.")),
    (lambda key: None, None),
    (lambda key: math.nan, None),
    (away, None),
    (too_late, None),
)


@pytest.mark.parametrize(("answer", "expected"), RECONCILED)
async def test_a_write_is_asked_what_became_of_it(answer: Callable[[str], Any], expected: Observation | None) -> None:
    assert await reconciling(answer).reconcile("change", "k") == expected


async def test_a_tool_that_can_not_say_gives_no_observation() -> None:
    runtime = reconciling(away)
    assert await runtime.reconcile("restart", "k") is None
    assert await runtime.reconcile("gone", "k") is None
