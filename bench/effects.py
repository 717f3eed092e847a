"""A tool for measuring that a person has to agree to: each time it runs, it leaves its key behind in a file."""

from opspilot.core.ports import CallContext
from opspilot.tools.spec import Tool, ToolPlace, tool

FILE = "effects"


def build(_: str, __: dict[str, object], place: ToolPlace) -> Tool:
    """The tool, with its file in the state folder."""

    @tool(effect="write")
    def change(context: CallContext, name: str) -> str:
        """Change something."""
        with (place.state / FILE).open("a", encoding="utf-8") as file:
            file.write(f"{context.idempotency_key}\n")
        return f"changed {name}"

    return change
