"""The script that fills a large journal and times the reads of each page, with a small one."""

import subprocess
import sys
from pathlib import Path

from opspilot.journal.inbox import InboxFilter
from opspilot.journal.store import SqlJournal

ROOT = Path(__file__).parents[2]


def test_it_fills_a_journal_whose_copies_are_whole_and_reads_every_page(tmp_path: Path) -> None:
    file = tmp_path / "journal.sqlite"
    command = [sys.executable, "bench/sessions.py", "--sessions", "60", "--questions", "9", "--keep", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "60 sessions" in done.stdout
    journal = SqlJournal(f"sqlite:///{file}")
    assert journal.count_open_interrupts(InboxFilter()) == 9
    copies = [row for row in journal.sessions(limit=60) if row.id.startswith("ops-")]
    assert copies
    assert all(journal.read(row.id)[-1].seq == row.last_seq for row in copies)
    journal.close()
