"""One tool, called through the real runtime, without a server, a model or a journal."""

from collections.abc import Mapping

from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json
from opspilot.core.policy import RUN_ANYTHING
from opspilot.tools.registry import Registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import Tool
from opspilot.tools.trying import try_tool

TESTER = Principal("tester")


async def run_tool(tool: Tool, principal: Principal = TESTER, /, **arguments: Json) -> dict[str, Json]:
    """What the model would be shown: `{"ok": true, "data": …}` or `{"ok": false, "errorCode": …, "message": …}`.

    A tool that asks a person first gives its question, `{"interrupt": true, "interruptType": …, "reason": …, "payload":
    …}`. Arguments are validated, time is limited, the result is redacted and trimmed, as in a run; no policy is asked.
    """
    return await _tried(tool, principal, arguments, approved=False)


async def run_approved(tool: Tool, principal: Principal = TESTER, /, **arguments: Json) -> dict[str, Json]:
    """The same for a call that a person has approved: `context.approved` is true."""
    return await _tried(tool, principal, arguments, approved=True)


async def _tried(tool: Tool, principal: Principal, arguments: Mapping[str, Json], *, approved: bool) -> dict[str, Json]:
    runtime = ToolRuntime(Registry([tool]), RUN_ANYTHING)
    return await try_tool(runtime, tool.name, arguments, principal, approved=approved)
