"""One tool, tried outside of any run: through the same runtime, without a workflow, a journal or a model.

Owns what such a trial tells the tool of itself, and what is shown of its end. Knows nothing of who tries.
"""

from collections.abc import Mapping
from uuid import uuid4

from opspilot.core.calls import Gate, idempotency_key
from opspilot.core.interrupts import Interrupt, InterruptType, Principal
from opspilot.core.messages import Json
from opspilot.core.observations import Observation
from opspilot.core.ports import CallContext, ToolReturn, Tools
from opspilot.core.verdicts import MUST_AGREE

__all__ = ["SESSION", "try_tool"]

SESSION = "trial"
"""What a tool sees as the session of a trial. No session can have been given this run."""

_CALL = "1.1"


async def try_tool(
    tools: Tools,
    name: str,
    arguments: Mapping[str, Json],
    principal: Principal,
    *,
    approved: bool = False,
    answers: Mapping[str, Json] | None = None,
) -> dict[str, Json]:
    """What the model would be shown of this call, or the question that a person would be asked, both in JSON's shape.

    `approved` and `answers` are what people have said before to this call, as the tool finds it in its context. Each
    trial has an idempotency key of its own.
    """
    verdict = tools.judge(name, arguments, principal)
    if verdict.code is not None:
        return Observation.failure(verdict.code, verdict.message).as_json()
    if verdict.gate is Gate.CONFIRM and not approved:
        return Interrupt(InterruptType.CONFIRM_RISKY, verdict.message or MUST_AGREE).as_json()
    run, round_ = uuid4().hex, 2 if approved or answers else 1
    key = idempotency_key(run, _CALL, round_)
    context = CallContext(SESSION, run, _CALL, round_, key, principal, approved=approved, answers=answers or {})
    return _shown(await tools.run(name, arguments, context))


def _shown(returned: ToolReturn) -> dict[str, Json]:
    if returned.interrupt is not None:
        return returned.interrupt.as_json()
    assert returned.observation is not None
    return returned.observation.as_json()
