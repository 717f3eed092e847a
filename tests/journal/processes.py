"""What other processes do in these tests. Imported by each child, so it stays small."""

from multiprocessing.synchronize import Barrier
from typing import Protocol

from opspilot.core.entries import NewEntry
from opspilot.journal.store import SqlJournal
from tests.journal.builders import message, result


class Answers(Protocol):
    """The queue by which a child reports."""

    def put(self, obj: object) -> None: ...


def open_and_tell_id(url: str, together: Barrier, answers: Answers) -> None:
    together.wait()
    journal = SqlJournal(url)
    answers.put(journal.id)
    journal.close()


def write_one_key(url: str, together: Barrier, answers: Answers, writer: int) -> None:
    journal = SqlJournal(url)
    together.wait()
    (entry,) = journal.append("s", "r1", [_result_by(writer)])
    answers.put(entry.data["duration_ms"])
    journal.close()


def write_messages(url: str, together: Barrier, answers: Answers, writer: int, count: int) -> None:
    journal = SqlJournal(url)
    together.wait()
    for number in range(count):
        journal.append("s", "r1", [message(f"{writer}-{number}"), message(f"{writer}-{number}-more")])
    answers.put(count)
    journal.close()


def _result_by(writer: int) -> NewEntry:
    entry = result("r1", "1.1")
    return NewEntry(entry.key, entry.kind, entry.at, {**entry.data, "duration_ms": writer}, entry.step, entry.call)
