"""Threads and processes on one file: one winner for each key, one order for everybody, nothing lost in between."""

import multiprocessing
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import SpawnProcess

from opspilot.core.entries import Entry
from opspilot.core.errors import StaleRun
from opspilot.core.ports import Draft
from opspilot.journal.store import SqlJournal
from tests.journal import processes
from tests.journal.builders import ANN, NOON, at, message, result

SPAWN = multiprocessing.get_context("spawn")


def children(
    target: Callable[..., None], url: str, *arguments: tuple[object, ...]
) -> tuple[list[SpawnProcess], list[object]]:
    """Start one child for each tuple of arguments, let them begin together, and give them and their reports."""
    together = SPAWN.Barrier(len(arguments))
    answers = SPAWN.SimpleQueue()
    started = [SPAWN.Process(target=target, args=(url, together, answers, *each)) for each in arguments]
    for child in started:
        child.start()
    reports = [answers.get() for _ in started]
    for child in started:
        child.join()
    return started, reports


def test_two_processes_that_write_one_key_are_told_the_same_winner(url: str, journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    _, winners = children(processes.write_one_key, url, (1,), (2,))
    (entry,) = journal.read("s")
    assert winners == [entry.data["duration_ms"]] * 2


def test_threads_that_write_one_key_are_told_the_same_winner(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    together = threading.Barrier(8)

    def write(index: int) -> Entry:
        together.wait()
        codes = (None, "tool_failed", "timed_out")
        return journal.append("s", "r1", [result("r1", "1.1", code=codes[index % 3])])[0]

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(write, range(8)))
    assert all(one == told[0] for one in told)
    assert journal.read("s") == (told[0],)


def test_a_reader_that_tails_beside_parallel_writers_sees_everything_once_and_in_order(
    url: str, journal: SqlJournal
) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    each = 20
    expected = 2 * each * 5

    def write(writer: int) -> None:
        for number in range(each):
            journal.append("s", "r1", [message(f"{writer}-{number}"), message(f"{writer}-{number}-more")])

    seen: list[Entry] = []
    other = SqlJournal(url)
    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, writer) for writer in range(3)]
        elsewhere = pool.submit(children, processes.write_messages, url, (8, each), (9, each))
        finished = False
        while not finished:
            finished = elsewhere.done() and all(writer.done() for writer in writers)
            while page := other.read("s", after=seen[-1].seq if seen else 0, limit=7):
                seen.extend(page)
        for writer in writers:
            writer.result()
    other.close()
    assert [entry.seq for entry in seen] == list(range(1, expected + 1))
    assert len({entry.key for entry in seen}) == expected
    assert tuple(seen) == journal.read("s")


def test_processes_and_threads_that_open_a_new_file_at_the_same_moment_share_one_journal(url: str) -> None:
    together = threading.Barrier(3)

    def open_here() -> str:
        together.wait()
        journal = SqlJournal(url)
        journal.close()
        return journal.id

    with ThreadPoolExecutor(3) as pool:
        here = [pool.submit(open_here) for _ in range(3)]
        ids = {future.result() for future in here}
    assert len(ids) == 1


def test_processes_that_open_a_new_file_at_the_same_moment_share_one_journal(url: str) -> None:
    started, ids = children(processes.open_and_tell_id, url, (), (), ())
    assert [child.exitcode for child in started] == [0, 0, 0]
    assert len(set(ids)) == 1


def test_a_run_that_is_replaced_while_it_writes_stops_at_a_whole_entry(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    ten_written = threading.Event()

    def write() -> int:
        for number in range(10_000):
            try:
                journal.append("s", "r1", [message(f"{number}"), message(f"{number}-more")])
            except StaleRun:
                return number
            if number == 10:
                ten_written.set()
        raise AssertionError("the fence did not hold")

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(write)
        assert ten_written.wait(30)
        journal.begin_run("s", "r2", at(9), ANN)
        written = writer.result()
    assert len(journal.read("s")) == 2 * written


def test_drafts_and_entries_written_from_many_threads_do_not_disturb_each_other(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)

    def write(index: int) -> None:
        if index % 2:
            journal.put_draft("s", Draft("r1", 1, index, f"text {index}"))
        else:
            journal.append("s", "r1", [message(f"{index}")])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))
    assert journal.drafts("s") == (Draft("r1", 1, 39, "text 39"),)
    assert [entry.seq for entry in journal.read("s")] == list(range(1, 21))
