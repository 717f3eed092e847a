"""Who signed out is known to whoever opens the journal, for as long as it matters and no longer."""

import threading

from sqlalchemy import func, select

from opspilot.journal.schema import sign_outs
from opspilot.journal.store import SqlJournal
from tests.journal.builders import NOON, at


def test_a_sign_out_holds_for_every_process_and_after_a_restart(journal: SqlJournal, url: str) -> None:
    other = SqlJournal(url)
    assert not journal.is_signed_out("one")
    other.sign_out("one", NOON, at(60))
    assert (journal.is_signed_out("one"), journal.is_signed_out("two")) == (True, False)
    other.close()
    journal.close()
    again = SqlJournal(url)
    assert again.is_signed_out("one")
    again.close()


def test_what_is_past_its_time_is_forgotten_and_nothing_else(journal: SqlJournal) -> None:
    journal.sign_out("early", NOON, at(60))
    journal.sign_out("late", NOON, at(120))
    journal.sign_out("next", at(60), at(180))
    assert [journal.is_signed_out(id_) for id_ in ("early", "late", "next")] == [False, True, True]


def test_signing_out_twice_or_at_once_is_signing_out(journal: SqlJournal) -> None:
    journal.sign_out("one", NOON, at(60))
    together = [threading.Thread(target=journal.sign_out, args=("one", NOON, at(90))) for _ in range(4)]
    for each in together:
        each.start()
    for each in together:
        each.join()
    with journal._database.read() as connection:
        assert connection.execute(select(func.count()).select_from(sign_outs)).scalar_one() == 1
    assert journal.is_signed_out("one")
