"""Tools whose effects outlive the worker: each leaves lines in a file of the state folder."""

import time
from collections.abc import Callable
from typing import Any

from opspilot.core.ports import CallContext
from opspilot.tools.spec import Tool, ToolPlace, tool


def build(name: str, config: dict[str, Any], place: ToolPlace) -> Tool:
    """The tool of this name."""
    del config

    def note(line: str) -> None:
        with (place.state / "effects").open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    return _TOOLS[name](note)


def _nap(note: Callable[[str], None]) -> Tool:
    @tool(effect="read")
    def nap(seconds: float) -> str:
        """Take a while."""
        note("nap began")
        time.sleep(seconds)
        return "rested"

    return nap


def _look(_: Callable[[str], None]) -> Tool:
    @tool(effect="read")
    def look(topic: str) -> str:
        """Say what is known."""
        return f"facts about {topic}"

    return look


def _change(note: Callable[[str], None]) -> Tool:
    @tool(effect="write")
    def change(context: CallContext, name: str, seconds: float = 0.0) -> str:
        """Change something."""
        note(f"change {name} began {context.idempotency_key}")
        time.sleep(seconds)
        note(f"change {name} ended {context.idempotency_key}")
        return f"changed {name}"

    return change


def _again(note: Callable[[str], None]) -> Tool:
    @tool(effect="write", idempotent=True)
    def again(context: CallContext, name: str, seconds: float = 0.0) -> str:
        """Change something that may be changed twice with one key."""
        note(f"again {name} began {context.idempotency_key}")
        time.sleep(seconds)
        note(f"again {name} ended {context.idempotency_key}")
        return f"changed {name}"

    return again


def _risky(note: Callable[[str], None]) -> Tool:
    @tool(effect="write")
    def risky(context: CallContext, name: str) -> str:
        """Change something after a person agreed, which no rule of the policy spares it."""
        assert context.approved
        note(f"risky {name} {context.idempotency_key}")
        return f"restarted {name}"

    return risky


_TOOLS: dict[str, Callable[[Callable[[str], None]], Tool]] = {
    "nap": _nap,
    "look": _look,
    "change": _change,
    "again": _again,
    "risky": _risky,
}
