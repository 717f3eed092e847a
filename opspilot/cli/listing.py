"""Which sessions are listed, and how: a table for people, a line for each for other programs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TextIO

from rich.table import Table
from rich.text import Text

from opspilot.cli.jsonlines import json_line
from opspilot.cli.terminal import console_on, is_live
from opspilot.core.contract import Status
from opspilot.core.errors import UsageError
from opspilot.core.limits import StopReason
from opspilot.journal.queries import SessionRow
from opspilot.texts.folding import age, compact, printable
from opspilot.texts.guessing import guess
from opspilot.texts.language import text

TITLE_CHARACTERS = 200
PAGE = 200
WIDE, NARROW = 60, 36
"""A window narrower than the first shows no steps and no owner; than the second, only id and title."""

STATES = (*(status.value for status in Status), *(reason.value for reason in StopReason))
"""What a session's state can be: that of its run, or why the run ended."""


class Sessions(Protocol):
    """What is asked of the journal."""

    def sessions(
        self,
        status: str | None,
        owner: str | None,
        text: str | None,
        limit: int,
        before: tuple[datetime, str] | None,
    ) -> tuple[SessionRow, ...]:
        """A page of sessions, latest change first."""


@dataclass(frozen=True)
class Wanted:
    """Which sessions are listed, or which questions. Empty and None leave a thing open.

    `since` and `until` bound a session's latest change, or when a question was asked.
    """

    state: str = ""
    owner: str = ""
    text: str = ""
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 50


def select(journal: Sessions, wanted: Wanted) -> Iterator[SessionRow]:
    """The sessions that are wanted, latest change first. Raises `UsageError` for a state that there isn't."""
    wish = wanted.state
    if wish and wish not in STATES:
        raise UsageError(text("refused.state", state=repr(wish), states=", ".join(STATES)) + guess(wish, STATES))
    # Why a run ended is no column of an index; that it ended is.
    status = Status.DONE.value if wish in set(StopReason) else wish or None
    before = (wanted.until, "") if wanted.until else None
    left = wanted.limit
    while page := journal.sessions(status, wanted.owner or None, wanted.text or None, PAGE, before):
        for row in page:
            if not left or (wanted.since and row.updated_at < wanted.since):
                return
            if not wish or wish in (row.status, row.stop_reason):
                left -= 1
                yield row
        before = (page[-1].updated_at, page[-1].id)


def state(row: SessionRow) -> str:
    """`answered` says more than `done`."""
    return row.stop_reason if row.status == Status.DONE and row.stop_reason else row.status


def session_line(row: SessionRow) -> str:
    """Id, latest change (ISO 8601, UTC), state, steps, owner and title: what is between the first and last is named."""
    changed = row.updated_at.isoformat("T", "seconds")
    facts = named(changed=changed, state=state(row), steps=row.steps, owner=row.owner)
    return "\t".join([row.id, *facts, compact(row.title, TITLE_CHARACTERS)])


def named(**facts: object) -> list[str]:
    """`state=answered`, for lines that other programs read: found by `grep` and by `cut`, in any language the same."""
    return [f"{name}={fact}" for name, fact in facts.items()]


def session_table(rows: Sequence[SessionRow], now: datetime, width: int) -> Table:
    """Id, age, state, steps, and the title as far as the window is wide; the owner where there are several."""
    table = Table(box=None, expand=True, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    wide, fair = width >= WIDE, width >= NARROW
    several = wide and len({row.owner for row in rows}) > 1
    shown = {"id": True, "age": fair, "state": fair, "steps": wide, "owner": several, "title": True}
    for name, is_shown in shown.items():
        if is_shown:
            grows = name == "title"
            table.add_column(
                text(f"list.{name}"),
                no_wrap=True,
                overflow="ellipsis",
                ratio=1 if grows else None,
                justify="right" if name in {"age", "steps"} else "left",
            )
    for row in rows:
        cells = {
            "id": Text(printable(row.id), style="cyan"),
            "age": Text(age((now - row.updated_at).total_seconds())),
            "state": Text(text(f"state.{state(row)}"), style=_style(row)),
            "steps": Text(str(row.steps)),
            "owner": Text(printable(row.owner)),
            "title": Text(compact(row.title, TITLE_CHARACTERS)),
        }
        table.add_row(*(cell for name, cell in cells.items() if shown[name]))
    return table


def print_sessions(journal: Sessions, wanted: Wanted, output: TextIO, now: datetime, *, as_json: bool) -> None:
    """The sessions that are wanted: JSON or lines for programs, a table at a terminal."""
    rows = list(select(journal, wanted))
    console = console_on(output)
    if as_json or not is_live(console):
        output.writelines((json_line(row, output.encoding) if as_json else session_line(row)) + "\n" for row in rows)
        return
    if not rows:
        console.print(Text(text("list.none")))
        return
    console.print(session_table(rows, now, console.width), soft_wrap=False)


def _style(row: SessionRow) -> str:
    if row.status == Status.WAITING:
        return "bold yellow"
    if row.status == Status.RUNNING:
        return "bold"
    return "green" if row.stop_reason == StopReason.ANSWERED else "red"
