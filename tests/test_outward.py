"""What leaves the journal for good has neither sensitive arguments nor secrets, and forms that still work."""

from datetime import UTC, datetime
from pathlib import Path

from opspilot.core.entries import Entry, Kind, NewEntry
from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json
from opspilot.core.sensitive import MASK
from opspilot.journal.store import SqlJournal
from opspilot.outward import outward

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FORM: dict[str, Json] = {"type": "object", "properties": {"token": {"type": "string", "writeOnly": True}}}
QUESTION: dict[str, Json] = {
    "interrupt": "1.1#1",
    "kind": "params_required",
    "reason": "Ask a@example.com?",
    "tool": "enter",
    "arguments": {"password": "hunter2", "word": "sesame"},
    "payload": {"fields": ["token"], "token": "hunter2", "schema": FORM},
    "schema": FORM,
    "digest": "d",
    "sensitive": ["/word"],
}


def test_an_entry_is_masked_and_redacted_but_for_the_schemas_of_forms() -> None:
    entry = Entry("s", 1, "r", "k", Kind.INTERRUPT_OPENED, NOW, QUESTION, 1, "1.1")
    assert outward(entry).data == {
        **QUESTION,
        "reason": "Ask [redacted:email]?",
        "arguments": {"password": "[redacted:secret]", "word": MASK},
        "payload": {"fields": ["token"], "token": "[redacted:secret]", "schema": FORM},
    }
    assert entry.data is QUESTION
    other = Entry("s", 2, "r", "k", Kind.TOOL_RESULT, NOW, {"data": {"token": "x", "schema": 5}, "payload": "text"})
    assert outward(other).data == {"data": {"token": "[redacted:secret]", "schema": 5}, "payload": "text"}


def test_no_list_of_the_journal_has_a_sensitive_argument(tmp_path: Path) -> None:
    journal = SqlJournal(f"sqlite:///{tmp_path / 'journal.sqlite'}")
    try:
        journal.begin_run("s", "r", NOW, Principal("ann"))
        journal.append("s", "r", [NewEntry("r/1.1#1/interrupt", Kind.INTERRUPT_OPENED, NOW, QUESTION, 1, "1.1")])
        (row,) = journal.open_interrupts("s")
        (kept,) = journal.read("s")
    finally:
        journal.close()
    assert row.arguments == {"password": "hunter2", "word": MASK}
    assert kept.data["arguments"]["word"] == "sesame"
