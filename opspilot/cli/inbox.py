"""The inbox: each question that waits for a person, over all sessions, what is due first at the top; a line each."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol, TextIO

from rich.table import Table
from rich.text import Text

from opspilot.cli.jsonlines import json_line
from opspilot.cli.listing import NARROW, WIDE, Wanted, named
from opspilot.cli.questions import in_one_line, roles_of, time_left
from opspilot.cli.terminal import console_on, is_live
from opspilot.journal.queries import InterruptRow
from opspilot.outward import outward_question, shown
from opspilot.texts.folding import age, compact, printable
from opspilot.texts.language import text

QUESTION_CHARACTERS = 500


class Questions(Protocol):
    """What is asked of the journal."""

    def open_interrupts(self) -> tuple[InterruptRow, ...]:
        """Questions that wait for a person, what is due first at the top."""


def waiting(journal: Questions, wanted: Wanted) -> Iterator[InterruptRow]:
    """The questions that are wanted: by who asked for the run, when it was asked, and name or title of the session."""
    looked_for = wanted.text.casefold()
    left = wanted.limit
    for row in map(shown, journal.open_interrupts()):
        if (
            (not wanted.owner or wanted.owner == row.requester)
            and (not looked_for or looked_for in f"{row.session}\n{row.title}".casefold())
            and (wanted.since is None or row.opened_at >= wanted.since)
            and (wanted.until is None or row.opened_at < wanted.until)
        ):
            yield row
            left -= 1
            if not left:
                return


def inbox_line(row: InterruptRow) -> str:
    """Session, name, the facts by name (times in ISO 8601, `-` for none), and the question, tabs between them."""
    facts = named(
        asked=row.opened_at.isoformat("T", "seconds"),
        due=row.due.isoformat("T", "seconds") if row.due else "-",
        risk=row.risk or "-",
        roles=",".join(row.roles) or "-",
        agreed=f"{len(row.approvals)}/{row.quorum}",
        kind=row.kind,
    )
    return "\t".join([row.session, row.interrupt, *facts, compact(in_one_line(row), QUESTION_CHARACTERS)])


def inbox_table(rows: Sequence[InterruptRow], now: datetime, width: int) -> Table:
    """Session, age, time left, risk, who may decide, and the question as far as the window is wide."""
    table = Table(box=None, expand=True, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    wide, fair = width >= WIDE, width >= NARROW
    several = any(row.quorum > 1 for row in rows)
    columns = {"id": True, "age": fair, "left": fair, "risk": wide, "roles": wide, "approvals": wide and several}
    for name in [name for name, is_shown in columns.items() if is_shown]:
        table.add_column(text(f"list.{name}"), no_wrap=True, justify="right" if name in {"age", "left"} else "left")
    table.add_column(text("list.asked"), no_wrap=True, overflow="ellipsis", ratio=1)
    for row in rows:
        cells = {
            "id": Text(printable(row.session), style="cyan"),
            "age": Text(age((now - row.opened_at).total_seconds())),
            "left": Text(time_left(row, now)),
            "risk": Text(text(f"ui.risk.{row.risk}") if row.risk in _STYLES else "", style=_STYLES.get(row.risk, "")),
            "roles": Text(printable(roles_of(row))),
            "approvals": Text(f"{len(row.approvals)}/{row.quorum}"),
        }
        question = Text(compact(in_one_line(row), QUESTION_CHARACTERS))
        table.add_row(*(cell for name, cell in cells.items() if columns.get(name)), question)
    return table


def print_inbox(journal: Questions, wanted: Wanted, output: TextIO, now: datetime, *, as_json: bool) -> None:
    """The questions that are wanted: JSON or lines for programs, a table at a terminal."""
    rows = list(waiting(journal, wanted))
    console = console_on(output)
    if as_json:
        output.writelines(json_line(outward_question(row), output.encoding) + "\n" for row in rows)
    elif not is_live(console):
        output.writelines(printable(inbox_line(row)) + "\n" for row in rows)
    elif not rows:
        console.print(Text(text("list.nobody_waits")))
    else:
        console.print(inbox_table(rows, now, console.width), soft_wrap=False)
        console.print(Text(f"\n{text('list.how')}", style="dim"))


_STYLES = {"low": "", "medium": "yellow", "high": "bold red"}
