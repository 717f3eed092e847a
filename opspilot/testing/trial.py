"""One tool, called through the real runtime, without a server, a model or a journal."""

from collections.abc import Mapping

from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json
from opspilot.core.policy import RUN_ANYTHING, Policy
from opspilot.tools.registry import Registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import Tool
from opspilot.tools.trying import try_tool

TESTER = Principal("tester")


async def run_tool(
    tool: Tool, principal: Principal = TESTER, policy: Policy = RUN_ANYTHING, /, **arguments: Json
) -> dict[str, Json]:
    """What the model would be shown: `{"ok": true, "data": …}` or `{"ok": false, "errorCode": …, "message": …}`.

    A call that a person is asked about first gives the question, `{"interrupt": true, "interruptType": …, "reason": …,
    "payload": …}`; whether one is asked is up to the tool, or to the policy. Arguments are validated, time is limited,
    the result is redacted and trimmed, as in a run.
    """
    return await _tried(tool, principal, policy, arguments, approved=False)


async def run_approved(
    tool: Tool, principal: Principal = TESTER, policy: Policy = RUN_ANYTHING, /, **arguments: Json
) -> dict[str, Json]:
    """The same for a call that a person has approved: `context.approved` is true."""
    return await _tried(tool, principal, policy, arguments, approved=True)


async def _tried(
    tool: Tool, principal: Principal, policy: Policy, arguments: Mapping[str, Json], *, approved: bool
) -> dict[str, Json]:
    return await try_tool(ToolRuntime(Registry([tool]), policy), tool.name, arguments, principal, approved=approved)
