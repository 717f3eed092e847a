"""`read_more` pages through a trimmed result of its own session until the whole of it has been read."""

import json
from pathlib import Path
from typing import Any

import pytest

from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json
from opspilot.core.observations import ErrorCode, Observation
from opspilot.core.ports import CallContext, Journal
from opspilot.tools.builtin.read_more import Config, build
from opspilot.tools.registry import Registry, build_registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import Tool, ToolPlace, tool

CONTEXT = CallContext("ops-1", "run-1", "1.1", 1, "run-1/1.1#1", Principal("ann"))


class Shelf(Journal):
    """A journal that only keeps what was trimmed."""

    def __init__(self) -> None:
        self.texts: dict[tuple[str, str], str] = {}

    @property
    def id(self) -> str:
        return "shelf"

    def overflow(self, session: str, ref: str, offset: int, limit: int) -> tuple[str, int] | None:
        text = self.texts.get((session, ref))
        return None if text is None else (text[offset : offset + limit], len(text))


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()  # type: ignore[abstract]


def runtime_with(shelf: Journal, *tools: Tool, **options: Any) -> ToolRuntime:
    place = ToolPlace(Path(), Path(), shelf)
    return ToolRuntime(Registry([*tools, *build_registry({}, place).values()]), **options)


async def read(runtime: ToolRuntime, arguments: dict[str, Json], session: str = "ops-1") -> Observation:
    context = CallContext(session, "run-1", "2.1", 1, "run-1/2.1#1", Principal("ann"))
    returned = await runtime.run("read_more", arguments, context)
    assert returned.overflow == ""
    assert returned.observation is not None
    return returned.observation


@pytest.mark.parametrize("page_chars", [8000, 777])
async def test_the_excerpt_and_the_pages_are_the_whole_result(shelf: Shelf, page_chars: int) -> None:
    lines = [{"text": f'"{n}" password=hunter2 \n\t 支付 a@example.com', "token": "x"} for n in range(600)]

    @tool(effect="read")
    def dump() -> list[dict[str, str]]:
        """Dump."""
        return lines

    runtime = runtime_with(shelf, dump)
    returned = await runtime.run("dump", {}, CONTEXT)
    assert returned.observation is not None
    shelf.texts["ops-1", returned.overflow_ref] = returned.overflow

    text = returned.observation.data["excerpt"]
    more = returned.observation.data["read_more"]
    ref, offset = more["ref"], more["offset"]
    while offset is not None:
        page = await read(runtime, {"ref": ref, "offset": offset, "limit": page_chars})
        text += page.data["text"]
        offset = page.data["next_offset"]
    assert text == returned.overflow
    assert json.loads(text) == [
        {"text": f'"{n}" password=[redacted:secret] \n\t 支付 [redacted:email]', "token": "[redacted:secret]"}
        for n in range(600)
    ]


async def test_a_page_is_not_trimmed_again_however_its_text_is_escaped(shelf: Shelf) -> None:
    shelf.texts["ops-1", "r1"] = '"' * 9000
    page = await read(runtime_with(shelf, max_result_chars=500), {"ref": "r1"})
    assert page.data == {"text": '"' * 8000, "next_offset": 8000, "total_chars": 9000}


async def test_reading_beyond_the_end_gives_nothing_and_ends(shelf: Shelf) -> None:
    shelf.texts["ops-1", "r1"] = "abc"
    page = await read(runtime_with(shelf), {"ref": "r1", "offset": 10})
    assert page.data == {"text": "", "next_offset": None, "total_chars": 3}


async def test_another_sessions_result_is_not_found(shelf: Shelf) -> None:
    shelf.texts["ops-1", "r1"] = "abc"
    page = await read(runtime_with(shelf), {"ref": "r1"}, session="ops-2")
    assert page.error_code is ErrorCode.INVALID_ARGUMENTS
    assert "no trimmed result under that ref" in page.message


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"ref": "r1", "offset": -1},
        {"ref": "r1", "offset": 1 << 70},
        {"ref": "r1", "limit": 0},
        {"ref": "r1", "limit": 8001},
    ],
)
async def test_a_page_out_of_bounds_is_refused(shelf: Shelf, arguments: dict[str, Json]) -> None:
    page = await read(runtime_with(shelf), arguments)
    assert page.error_code is ErrorCode.INVALID_ARGUMENTS


async def test_without_a_journal_there_is_nothing_to_read() -> None:
    runtime = ToolRuntime(Registry([build("read_more", Config(), ToolPlace(Path(), Path()))]))
    page = await read(runtime, {"ref": "r1"})
    assert (page.ok, page.error_code) == (False, ErrorCode.TOOL_FAILED)
    assert "no result was kept" in page.message
