"""Tools for tests of the command line: two that read, one that fails, two to agree to, and one that asks by itself."""

import time

from opspilot.core.interrupts import Interrupt, InterruptType
from opspilot.core.ports import CallContext
from opspilot.tools.spec import ToolError, tool


@tool(effect="read")
def look(topic: str) -> dict[str, str]:
    """Say what is known."""
    return {"facts": f"facts about {topic}"}


@tool(effect="read", timeout_seconds=30)
def nap(context: CallContext, seconds: float) -> str:
    """Take a while."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and not context.cancelled():
        time.sleep(0.02)
    return "rested"


@tool(effect="read")
def fail() -> str:
    """Never succeed."""
    raise ToolError("the disk is full")


@tool(effect="write", question=lambda service: f"Restarting {service} drops open requests.")
def restart(service: str) -> str:
    """Restart a service when a person agrees."""
    return f"restarted {service}"


@tool(effect="write")
def place(item: str, environment: str = "") -> str | Interrupt:
    """Put an item somewhere; asks where."""
    if environment:
        return f"placed {item} in {environment}"
    options = {"environment": ["staging", "production"]}
    return Interrupt(InterruptType.PARAMS_REQUIRED, "Where?", {"fields": ["environment"], "options": options})


@tool(effect="write")
def wipe(table: str, rows: int = 0) -> str:
    """Empty a table when two people agree."""
    return f"wiped {table}"
