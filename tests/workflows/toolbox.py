"""Tools that behave and misbehave in known ways, for runs with the real tool runtime."""

import asyncio
import time
from typing import Any

from opspilot.core.interrupts import Interrupt, InterruptType
from opspilot.core.observations import ErrorCode
from opspilot.core.ports import CallContext
from opspilot.tools.spec import Tool, ToolError, tool


def toolbox(done: list[str]) -> tuple[Tool, ...]:  # noqa: C901 a list of tools, not a branching one
    """Fresh tools; `done` gets a line for each effect that really happened, in order."""

    @tool(effect="read")
    def look(topic: str) -> dict[str, Any]:
        """Say what is known of a topic."""
        return {"topic": topic, "known": f"facts about {topic}"}

    @tool(effect="read")
    def boom(topic: str = "") -> dict[str, Any]:
        """Always break."""
        raise RuntimeError(f"no luck with {topic}, password=hunter2")

    @tool(effect="read")
    async def nap(seconds: float) -> str:
        """Take a while."""
        await asyncio.sleep(seconds)
        return "rested"

    @tool(effect="read")
    def block(seconds: float) -> str:
        """Block a thread, deaf to everything."""
        time.sleep(seconds)
        return "unblocked"

    @tool(effect="read", polling=True)
    def poll(job: str) -> dict[str, str]:
        """Ask how a job is doing."""
        return {"job": job, "state": "running"}

    @tool(effect="read")
    def binary() -> bytes:
        """Return what no model can read."""
        return b"\x00\x01" * 700

    @tool(effect="read")
    def enormous(characters: int) -> str:
        """Return very much text."""
        return "x" * characters

    @tool()
    def change(name: str) -> str:
        """Change something."""
        done.append(f"change {name}")
        return f"changed {name}"

    @tool()
    def refuse(name: str) -> str:
        """Try to change something, and fail."""
        raise ToolError(f"{name} is locked", ErrorCode.TOOL_FAILED)

    @tool()
    async def slow_change(context: CallContext, name: str, seconds: float) -> str:
        """Change something slowly."""
        done.append(f"began {name}")
        await asyncio.sleep(seconds)
        done.append(f"changed {name}")
        return f"changed {name} with {context.idempotency_key}"

    @tool()
    def risky(context: CallContext, name: str) -> str | Interrupt:
        """Change something after a person agreed."""
        if not context.approved:
            return Interrupt(InterruptType.CONFIRM_RISKY, f"{name} would restart")
        done.append(f"risked {name}")
        return f"restarted {name}"

    @tool()
    def needs_place(context: CallContext, name: str, place: str = "") -> str | Interrupt:
        """Change something somewhere."""
        if not place:
            return Interrupt(
                InterruptType.PARAMS_REQUIRED, "Where?", {"fields": ["place"], "options": {"place": ["here", "there"]}}
            )
        done.append(f"{name} at {place}")
        return f"did {name} at {place}"

    @tool()
    def move(context: CallContext, name: str, place: str = "") -> str | Interrupt:
        """Move something, after a person agreed, to where a person said."""
        if not context.approved:
            return Interrupt(InterruptType.CONFIRM_RISKY, f"{name} would move")
        if not place:
            return Interrupt(InterruptType.PARAMS_REQUIRED, "Where to?", {"fields": ["place"]})
        done.append(f"moved {name} to {place}")
        return f"moved {name} to {place}"

    @tool(effect="read")
    def locate(name: str, place: str = "") -> str | Interrupt:
        """Find something, if it is known where."""
        if not place:
            return Interrupt(InterruptType.PARAMS_REQUIRED, "Where?", {"fields": ["place"]})
        return f"{name} is at {place}"

    @tool()
    def never_content(name: str) -> Interrupt:
        """Ask again, whatever is said."""
        return Interrupt(InterruptType.CONFIRM_RISKY, f"still unsure about {name}")

    return (
        look, boom, nap, block, poll, binary, enormous,
        change, refuse, slow_change, risky, needs_place, move, locate, never_content,
    )  # fmt: skip
