"""The one way by which a call is judged and run: validate, authorise, run under a time limit, redact, trim.

Owns what becomes of anything that a tool may do. Knows nothing of journals, workflows or models; keeps no state but the
threads that are running.
"""

import asyncio
import difflib
import inspect
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import structlog
from pydantic import ValidationError

from opspilot.core.calls import Effect, Gate, Verdict, digest
from opspilot.core.interrupts import Principal, holds
from opspilot.core.messages import Json, ToolSpec
from opspilot.core.observations import ErrorCode, Observation
from opspilot.core.policy import Policy
from opspilot.core.ports import CallContext, ToolReturn, Tools
from opspilot.core.sensitive import mask, pointers, texts, without
from opspilot.redaction import redact
from opspilot.tools.asking import asked, sentence
from opspilot.tools.public import exception_line, innermost, public_line, summary_line, validation_line
from opspilot.tools.registry import Registry
from opspilot.tools.results import Unusable, as_interrupt, as_json
from opspilot.tools.spec import Tool, ToolError
from opspilot.tools.threads import Failed, NoFreeThread, Threads
from opspilot.tools.trim import json_text, trim

__all__ = ["ToolRuntime"]

_log = structlog.get_logger(__name__)
_MAX_TOOL_MESSAGE_CHARS = 1000


class _TimeLimit(Exception):
    """The call did not finish within its time."""


class ToolRuntime(Tools):
    """Judges and runs the tools of a registry, for one event loop.

    `threads` blocking functions run at once; a call waits up to `thread_wait_seconds` for its turn, which its own time
    limit doesn't count. Results of more than `max_result_chars` characters of JSON are trimmed.
    """

    def __init__(
        self,
        registry: Registry,
        policy: Policy = Policy(),
        *,
        default_timeout_seconds: float = 30.0,
        max_result_chars: int = 12_000,
        threads: int = 32,
        thread_wait_seconds: float = 5.0,
    ) -> None:
        self._registry = registry
        self._policy = policy
        self._default_timeout_seconds = default_timeout_seconds
        self._max_result_chars = max_result_chars
        self._threads = Threads(threads)
        self._thread_wait_seconds = thread_wait_seconds
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def abandoned(self) -> int:
        """Threads that still run a call which was given up; each takes one place of `threads`."""
        return self._threads.abandoned

    def specs(self, principal: Principal, only: str | None = None) -> tuple[ToolSpec, ...]:
        """The tools that this person may use, in the registry's order; with `only` just that one."""
        return tuple(
            tool.spec
            for tool in self._registry.values()
            if _may_call(tool, principal) and (only is None or tool.name == only)
        )

    def judge(self, name: str, arguments: Mapping[str, Json], principal: Principal) -> Verdict:
        """The verdict on a call, by `registry`, `role`, `schema`, or by a rule of the policy.

        Rules see the arguments as the tool will: a default that is left out, or `"3"` for a number, is no way around
        them.
        """
        verdict, values, understood = self._check(name, arguments, principal)
        if verdict.code is not None:
            return verdict
        ruling = self._policy.rule_on(name, verdict.effect, understood, principal)
        ruled = replace(verdict, gate=ruling.gate, rule=ruling.rule, terms=ruling.terms, message=ruling.reason)
        if ruling.gate is Gate.CONFIRM:
            tool = self._registry[name]
            message = ruling.reason or sentence(tool, values, _secrets(tool, arguments))
            return replace(ruled, message=message, arguments=understood)
        if ruling.gate is Gate.DENY:
            message = ruling.reason or f"The rule {ruling.rule!r} does not allow this call."
            return replace(ruled, code=ErrorCode.DENIED_BY_POLICY, message=message)
        return ruled

    def schema(self, name: str) -> Mapping[str, Json]:
        """The JSON Schema of a tool's arguments; empty when there is no such tool."""
        tool = self._registry.get(name)
        return {} if tool is None else tool.spec.input_schema

    def summary(self, name: str, arguments: Mapping[str, Json]) -> str:
        """One redacted line of at most 120 characters: `search_logs service=payment level=error`."""
        return summary_line(name, mask(dict(arguments), pointers(self.schema(name), arguments)))

    def redact(self, value: Json) -> Json:
        """A copy without secrets."""
        return redact(value)

    async def run(self, name: str, arguments: Mapping[str, Json], context: CallContext) -> ToolReturn:
        """Run a tool under its time limit. Never raises for what a tool does; only for cancellation.

        A write that returns an interrupt says by it that nothing has happened yet. The tool is told by
        `context.cancelled()` when nobody waits for it any more.
        """
        verdict, values, _ = self._check(name, arguments, context.principal)
        if verdict.code is not None:
            return ToolReturn(Observation.failure(verdict.code, verdict.message))
        tool = self._registry[name]
        over = threading.Event()
        if tool.context_parameter is not None:
            cancelled = partial(_either, over.is_set, context.cancelled)
            values[tool.context_parameter] = replace(context, cancelled=cancelled)
        secrets = _secrets(tool, arguments)
        receive = partial(self._received, tool, context, secrets)
        try:
            outcome = await self._perform(partial(tool.function, **values), receive, name, verdict.timeout_seconds)
        finally:
            over.set()
        if isinstance(outcome, Failed):
            error = innermost(outcome.error)
            return ToolReturn(_failure(tool, verdict.timeout_seconds, error, context.idempotency_key, secrets))
        returned: ToolReturn = outcome
        return returned

    async def reconcile(self, name: str, idempotency_key: str) -> Observation | None:
        """Ask a write whether it happened. None when it can't say, also because asking failed."""
        tool = self._registry.get(name)
        if tool is None or tool.reconcile is None:
            return None
        limit_seconds = self._limit_seconds(tool)
        outcome = await self._perform(
            partial(tool.reconcile, idempotency_key), self._reconciled, f"{name}-reconcile", limit_seconds
        )
        if not isinstance(outcome, Failed):
            known: Observation | None = outcome
            return known
        error = innermost(outcome.error)
        observation = _failure(tool, limit_seconds, error, idempotency_key)
        return observation if isinstance(error, ToolError) else None

    def _check(
        self, name: str, arguments: Mapping[str, Json], principal: Principal
    ) -> tuple[Verdict, dict[str, Any], dict[str, Json]]:
        """The verdict, and when it may run, the values for the function's parameters, and the same in JSON's shape."""
        tool = self._registry.get(name)
        if tool is None:
            message = self._unknown(name, principal)
            return Verdict(Gate.INVALID, rule="registry", code=ErrorCode.UNKNOWN_TOOL, message=message), {}, {}
        runs = Verdict(
            Gate.RUN,
            effect=tool.effect,
            concurrent=tool.concurrent,
            polling=tool.polling,
            idempotent=tool.idempotent,
            timeout_seconds=self._limit_seconds(tool),
        )
        if not _may_call(tool, principal):
            message = f"{name} may be called only by people who have the role {' or '.join(tool.roles)}."
            return replace(runs, gate=Gate.DENY, rule="role", code=ErrorCode.DENIED_BY_POLICY, message=message), {}, {}
        try:
            if _fits_json(arguments):
                return runs, tool.bind(arguments), tool.understood(arguments)
            message = "The arguments hold what JSON can't carry, such as infinity or half of a character."
        except ValidationError as error:
            hidden = {place.split("/")[1] for place in pointers(tool.input_schema, arguments) if place}
            message = validation_line(error, tool.parameters, hidden, _secrets(tool, arguments))
        except Exception as error:  # noqa: BLE001 - a tool's own validator may raise anything
            why = exception_line(error, _secrets(tool, arguments))
            message = f"The arguments could not be checked: {why}"
        invalid = replace(runs, gate=Gate.INVALID, rule="schema", code=ErrorCode.INVALID_ARGUMENTS, message=message)
        return invalid, {}, {}

    def _unknown(self, name: str, principal: Principal) -> str:
        known = [spec.name for spec in self.specs(principal)]
        close = difflib.get_close_matches(name[:64], known)
        guess = f" Did you mean {' or '.join(close)}?" if close else ""
        return f"There is no tool {public_line(name, 64)!r}.{guess} The tools are: {', '.join(known) or 'none'}."

    def _limit_seconds(self, tool: Tool) -> float:
        return self._default_timeout_seconds if tool.timeout_seconds is None else tool.timeout_seconds

    async def _perform(
        self, function: "partial[Any]", receive: Callable[[Any], Any], name: str, limit_seconds: float
    ) -> Any:
        """What `receive` makes of the function's result, or `Failed`. Both run where they can't stall the loop."""
        if _is_async(function.func):
            task = asyncio.create_task(_guarded(function, receive), name=f"tool-{name}")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            work: asyncio.Future[Any] = task
        else:
            wait_seconds = min(self._thread_wait_seconds, limit_seconds)
            try:
                work = await self._threads.start(lambda: receive(function()), f"tool-{name}", wait_seconds)
            except NoFreeThread as error:
                return Failed(error)
        try:
            await asyncio.wait({work}, timeout=limit_seconds)
        finally:
            finished = work.done()
            work.cancel()
        if not finished:
            return Failed(_TimeLimit())
        return Failed(ToolError("It was cancelled from inside.")) if work.cancelled() else work.result()

    def _received(self, tool: Tool, context: CallContext, secrets: Sequence[str], value: Any) -> ToolReturn:
        interrupt = as_interrupt(value)
        if interrupt is not None:
            return ToolReturn(interrupt=asked(interrupt, tool, secrets, self._max_result_chars))
        data = without(as_json(value), secrets)
        if tool.prepared:
            return ToolReturn(Observation(ok=True, data=data))
        ref = digest([context.run, context.call, context.round])[:16]
        trimmed = trim(redact(data), ref, max_chars=self._max_result_chars)
        overflow_ref = ref if trimmed.whole else ""
        return ToolReturn(Observation(ok=True, data=trimmed.data), overflow_ref=overflow_ref, overflow=trimmed.whole)

    def _reconciled(self, value: Any) -> Observation | None:
        if value is None:
            return None
        return Observation(ok=True, data=trim(redact(as_json(value)), "", max_chars=self._max_result_chars).data)


def _may_call(tool: Tool, principal: Principal) -> bool:
    return not tool.roles or any(holds(principal, role) for role in tool.roles)


def _fits_json(arguments: Mapping[str, Json]) -> bool:
    try:
        json_text(dict(arguments)).encode()
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _either(first: Callable[[], bool], second: Callable[[], bool]) -> bool:
    return first() or second()


async def _guarded(function: Callable[[], Any], receive: Callable[[Any], Any]) -> Any:
    """The outcome as a value: a `SystemExit` that leaves a task ends the event loop."""
    try:
        return await asyncio.to_thread(receive, await function())
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a tool raises is its outcome
        return Failed(error)


def _secrets(tool: Tool, arguments: Mapping[str, Json]) -> list[str]:
    """The call's sensitive texts, which nothing that comes of it may repeat."""
    return texts(arguments, pointers(tool.input_schema, arguments))


def _failure(
    tool: Tool, limit_seconds: float, error: BaseException, key: str, secrets: Sequence[str] = ()
) -> Observation:
    """What the model is told; the log is told the rest, redacted as well."""
    name = tool.name
    write = tool.effect is Effect.WRITE
    doubt = " It may still take effect: check before trying again." if write else ""
    match error:
        case ToolError():
            code, message = ErrorCode(error.code), public_line(error.message, _MAX_TOOL_MESSAGE_CHARS, secrets)
        case Unusable():
            code, message = (
                ErrorCode.RESULT_UNUSABLE,
                public_line(f"{name} {error}.{' It did run, though.' if write else ''}", secrets=secrets),
            )
        case _TimeLimit():
            code, message = ErrorCode.TIMED_OUT, f"{name} did not finish within {limit_seconds:g} s.{doubt}"
        case NoFreeThread():
            code, message = ErrorCode.TOOL_FAILED, f"{name} did not start: {error}. Nothing happened; try again later."
        case _:
            code, message = ErrorCode.TOOL_FAILED, f"{name} failed: {exception_line(error, secrets)}"
    trace = "" if isinstance(error, ToolError) else "".join(traceback.format_exception(error))
    trace = redact(without(trace, secrets))
    _log.warning("tool failed", tool=name, call=key, code=code.value, message=message, trace=trace)
    return Observation.failure(code, message)
