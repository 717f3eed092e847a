"""Lists of sessions: which are chosen, and how they are laid out for people and for programs."""

import io
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from opspilot.cli.listing import Wanted, print_sessions, select, session_table
from opspilot.cli.moments import moment
from opspilot.core.entries import Kind, NewEntry
from opspilot.core.errors import UsageError
from opspilot.core.interrupts import Principal
from opspilot.journal.queries import SessionRow
from opspilot.journal.store import SqlJournal
from opspilot.texts.folding import age

NOW = datetime(2030, 1, 10, 12, 0, tzinfo=UTC)
DONE = [("answered", "dana"), ("cancelled", "dana"), ("answered", "eve"), (None, "dana"), ("waiting", "eve")]


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlJournal]:
    """Sessions s0 to s299; s0 is the oldest, one an hour. Their ends follow `DONE`."""
    made = SqlJournal(f"sqlite:///{tmp_path_factory.mktemp('listing') / 'journal.sqlite'}")
    for number in range(300):
        reason, owner = DONE[number % len(DONE)]
        at = NOW - timedelta(hours=299 - number)
        made.begin_run(f"s{number}", f"r{number}", at, Principal(owner))
        text = f"Question {number}: 支付\tservice"
        entries = [NewEntry(f"m{number}", Kind.USER_MESSAGE, at, {"id": "m", "text": text})]
        if reason == "waiting":
            question = {"interrupt": "1.1#1", "kind": "confirm_risky", "reason": "It hurts.", "tool": "restart"}
            entries.append(NewEntry("q", Kind.INTERRUPT_OPENED, at, question, call="1.1"))
        elif reason:
            entries.append(NewEntry("s", Kind.RUN_STOPPED, at, {"stop_reason": reason, "steps": 2}))
        made.append(f"s{number}", f"r{number}", entries)
    yield made
    made.close()


def names(rows: Sequence[SessionRow]) -> list[str]:
    return [row.id for row in rows]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(limit=2), ["s299", "s298"]),
        (Wanted(state="waiting", limit=2), ["s299", "s294"]),
        (Wanted(state="running", limit=1), ["s298"]),
        (Wanted(state="done", limit=3), ["s297", "s296", "s295"]),
        (Wanted(state="cancelled", limit=2), ["s296", "s291"]),
        (Wanted(state="budget"), []),
        (Wanted(owner="eve", state="answered", limit=2), ["s297", "s292"]),
        (Wanted(text="question 29:"), ["s29"]),
        (Wanted(text="支付", limit=1), ["s299"]),
        (Wanted(since=NOW - timedelta(hours=1)), ["s299", "s298"]),
        (Wanted(until=NOW - timedelta(hours=297)), ["s1", "s0"]),
        (Wanted(since=NOW - timedelta(hours=200), until=NOW - timedelta(hours=198)), ["s100", "s99"]),
    ],
)
def test_filters_choose_latest_first_across_pages(journal: SqlJournal, wanted: Wanted, found: list[str]) -> None:
    assert names(list(select(journal, wanted))) == found


def test_a_rare_end_is_found_beyond_the_first_page(journal: SqlJournal) -> None:
    assert len(list(select(journal, Wanted(state="cancelled", limit=1000)))) == 60


def test_a_state_that_there_is_not_is_refused_with_those_that_there_are(journal: SqlJournal) -> None:
    with pytest.raises(
        UsageError, match=r"'finished' is no state of a session. There are: running, waiting, done, ans"
    ):
        list(select(journal, Wanted(state="finished")))


class Terminal(io.StringIO):
    """Somebody looks at it."""

    def isatty(self) -> bool:
        return True


def listed(journal: SqlJournal, wanted: Wanted, output: io.StringIO, *, as_json: bool = False) -> list[str]:
    print_sessions(journal, wanted, output, NOW, as_json=as_json)
    return output.getvalue().split("\n")[:-1]


def test_a_pipe_gets_a_line_with_tabs_for_each(journal: SqlJournal) -> None:
    lines = listed(journal, Wanted(limit=3), io.StringIO())
    assert lines[2] == (
        "s297\tchanged=2030-01-10T10:00:00+00:00\tstate=answered\tsteps=2\towner=eve\tQuestion 297: 支付 service"
    )


def test_json_is_one_object_a_line(journal: SqlJournal) -> None:
    rows = [json.loads(line) for line in listed(journal, Wanted(limit=2), Terminal(), as_json=True)]
    assert [row["id"] for row in rows] == ["s299", "s298"]
    assert rows[0]["updated_at"] == "2030-01-10T12:00:00+00:00"


def test_a_terminal_gets_a_table(journal: SqlJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    text = "\n".join(listed(journal, Wanted(limit=1), Terminal()))
    assert "Question 299" in text
    assert listed(journal, Wanted(text="no such thing"), Terminal()) == ["No session fits."]


@pytest.mark.parametrize("width", [20, 40, 60, 120])
def test_the_table_keeps_to_the_window_and_each_session_to_one_line(journal: SqlJournal, width: int) -> None:
    rows = list(select(journal, Wanted(limit=5)))
    output = io.StringIO()
    Console(file=output, width=width).print(session_table(rows, NOW, width))
    lines = output.getvalue().rstrip("\n").split("\n")
    assert len(lines) == 6
    assert ("steps" in lines[0], "owner" in lines[0]) == (width >= 60, width >= 60)
    assert ("age" in lines[0]) == (width >= 40)
    assert all(line.startswith("s29") for line in lines[1:])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2h", NOW - timedelta(hours=2)),
        ("90 min ago", NOW - timedelta(minutes=90)),
        ("3d", NOW - timedelta(days=3)),
        (" 1W ", NOW - timedelta(weeks=1)),
        ("today", datetime(2030, 1, 10, tzinfo=UTC)),
        ("yesterday", datetime(2030, 1, 9, tzinfo=UTC)),
        ("2029-12-31", datetime(2029, 12, 31, tzinfo=UTC)),
        ("2029-12-31T15:00+01:00", datetime(2029, 12, 31, 14, tzinfo=UTC)),
    ],
)
def test_a_moment_is_read_as_people_write_it(written: str, meant: datetime) -> None:
    assert moment(written, NOW) == meant


@pytest.mark.parametrize("written", ["", "soon", "2 moons", "999999w", "2029-13-01"])
def test_what_is_no_moment_is_refused_with_examples(written: str) -> None:
    with pytest.raises(UsageError, match="is no time: write how long ago"):
        moment(written, NOW)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (59, "59 s"), (61, "1 min"), (7200, "2 h"), (200_000, "2 d"), (-5, "0 s")]
)
def test_an_age_is_a_number_and_a_unit(seconds: float, text: str) -> None:
    assert age(seconds) == text
