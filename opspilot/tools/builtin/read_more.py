"""`read_more`: pages through a result that was too long to show at once.

The whole text is in the journal, redacted; a page of it is handed on as it stands, so that pages add up to the whole.
"""

from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from opspilot.core.messages import Json
from opspilot.core.observations import ErrorCode
from opspilot.core.ports import CallContext
from opspilot.tools.spec import Tool, ToolError, ToolPlace, tool
from opspilot.tools.trim import KEPT_CHARS

MAX_PAGE_CHARS = 8000


class Config(BaseModel):
    """Nothing can be set."""

    model_config = ConfigDict(extra="forbid")


def build(name: str, _config: Config, place: ToolPlace) -> Tool:
    """The tool over the journal of `place`. Without one, a call says that nothing was kept."""
    journal = place.journal

    @tool(name=name, effect="read", timeout_seconds=20.0)
    def read_more(
        context: CallContext,
        ref: Annotated[str, Field(description="The `ref` that the trimmed result named.", max_length=100)],
        offset: Annotated[int, Field(description="First character to read, counted from 0.", ge=0, le=KEPT_CHARS)] = 0,
        limit: Annotated[int, Field(description="Most characters to read.", ge=1, le=MAX_PAGE_CHARS)] = MAX_PAGE_CHARS,
    ) -> dict[str, Json]:
        """Read on in an earlier result that was too long to show whole.

        Such a result has `excerpt`, `total_chars` and `read_more`: call this with the `ref` and `offset` given there.
        Returns the `text` of that stretch of the result's JSON, and `next_offset` for the next call (null at the end).
        """
        if journal is None:
            raise ToolError("There is no run here, so no result was kept to read on. Ask the tool for less.")
        page = journal.overflow(context.session, ref, offset, limit)
        if page is None:
            raise ToolError(
                "This conversation has no trimmed result under that ref. Use the ref of a result's read_more.",
                ErrorCode.INVALID_ARGUMENTS,
            )
        text, total_chars = page
        end = offset + len(text)
        return {"text": text, "next_offset": end if text and end < total_chars else None, "total_chars": total_chars}

    return replace(read_more, prepared=True)
