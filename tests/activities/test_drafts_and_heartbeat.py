"""Text that is still being written, and signs of life: neither may harm the work that they tell of."""

import asyncio
from typing import Any

import pytest

from activities import drafts, heartbeat
from activities.drafts import DraftWriter
from activities.heartbeat import heartbeating, own_limit_seconds
from opspilot.core.errors import JournalError
from opspilot.core.ports import Draft
from tests.activities.desk import Desk, until


class Board:
    """Takes drafts, or refuses them."""

    def __init__(self, *, broken: bool = False) -> None:
        self.shown: list[Draft] = []
        self.refused = 0
        self._broken = broken

    def put_draft(self, session: str, draft: Draft) -> None:
        if self._broken:
            self.refused += 1
            raise JournalError("The journal is busy.")
        self.shown.append(draft)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "EVERY_SECONDS", 0.01)
    monkeypatch.setattr(heartbeat, "EVERY_SECONDS", 0.01)


def writer(board: Any) -> DraftWriter:
    return DraftWriter(board, "ops-test", "run-1", 4, 2)


async def in_activity(desk: Desk, function: Any, seconds: float = 60.0) -> Any:
    return await desk.environment(seconds=seconds).run(function)


async def test_each_draft_is_all_of_the_text_so_far(desk: Desk) -> None:
    board = Board()

    async def speak() -> str:
        async with writer(board) as draft:
            draft.write("The ")
            await until(lambda: len(board.shown) == 1)
            draft.write("disk ")
            draft.write("is full.")
            await until(lambda: len(board.shown) == 2)
        return draft.text

    assert await in_activity(desk, speak) == "The disk is full."
    assert board.shown == [Draft("run-1", 4, 2, "The "), Draft("run-1", 4, 2, "The disk is full.")]


async def test_nothing_new_is_not_shown_again(desk: Desk) -> None:
    board = Board()

    async def speak() -> None:
        async with writer(board) as draft:
            await asyncio.sleep(0.05)
            assert board.shown == []
            draft.write("The ")
            await until(lambda: bool(board.shown))
            await asyncio.sleep(0.05)

    await in_activity(desk, speak)
    assert len(board.shown) == 1


async def test_a_journal_that_refuses_drafts_is_tried_again_and_stops_nobody(desk: Desk) -> None:
    board = Board(broken=True)

    async def speak() -> str:
        async with writer(board) as draft:
            draft.write("x")
            await until(lambda: board.refused == 1)
            draft.write("x")
            await until(lambda: board.refused == 2)
        return draft.text

    assert await in_activity(desk, speak) == "xx"


async def test_what_breaks_inside_comes_out_and_nothing_is_shown_afterwards(desk: Desk) -> None:
    board = Board()

    async def speak() -> None:
        async with writer(board) as draft:
            draft.write("x")
            raise LookupError

    with pytest.raises(LookupError):
        await in_activity(desk, speak)
    await asyncio.sleep(0.05)
    assert board.shown == []


async def test_the_heart_beats_while_the_work_lasts_and_stops_with_it(desk: Desk) -> None:
    beats: list[object] = []
    environment = desk.environment()
    environment.on_heartbeat = lambda *details: beats.append(details)

    async def work() -> None:
        async with heartbeating():
            await until(lambda: len(beats) >= 3)
            raise LookupError

    with pytest.raises(LookupError):
        await environment.run(work)
    heard = len(beats)
    await asyncio.sleep(0.05)
    assert len(beats) == heard


@pytest.mark.parametrize(("start_to_close", "own"), [(70.0, 60.0), (11.0, 1.0), (10.0, 0.1), (2.0, 0.1)])
async def test_our_own_limit_comes_ten_seconds_before_temporals(desk: Desk, start_to_close: float, own: float) -> None:
    async def limit() -> float:
        return own_limit_seconds()

    assert await in_activity(desk, limit, start_to_close) == pytest.approx(own)
