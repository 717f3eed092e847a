"""Two things beside the entries: whole texts of trimmed results, and text that is still being produced."""

import pytest

from opspilot.core.errors import StaleRun
from opspilot.core.ports import Draft
from opspilot.journal.store import SqlJournal
from tests.journal.builders import ANN, NOON, at, call, message, reply, result, stopped


def test_a_trimmed_result_is_read_page_by_page_in_characters_not_bytes(journal: SqlJournal) -> None:
    text = "支付服务 📈 error\n" * 1000
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [result("r1", "1.1")], {"ref": text})
    pages: list[str] = []
    while (page := journal.overflow("s", "ref", 700 * len(pages), 700)) and page[0]:
        assert page[1] == len(text)
        pages.append(page[0])
    assert "".join(pages) == text
    assert {len(page) for page in pages[:-1]} == {700}


def test_reading_past_the_end_gives_nothing_and_the_length(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [], {"ref": "short"})
    assert journal.overflow("s", "ref", 99, 10) == ("", 5)
    assert journal.overflow("s", "ref", -3, 2) == ("sh", 5)
    assert journal.overflow("s", "other", 0, 10) is None
    assert journal.overflow("t", "ref", 0, 10) is None


def test_the_first_text_of_a_reference_stays(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [], {"ref": "first"})
    journal.append("s", "r1", [], {"ref": "second", "other": "new"})
    assert journal.overflow("s", "ref", 0, 99) == ("first", 5)
    assert journal.overflow("s", "other", 0, 99) == ("new", 3)


def test_a_text_that_a_database_cannot_hold_keeps_its_length(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [], {"ref": "a\0b\ud83dc"})
    assert journal.overflow("s", "ref", 0, 99) == ("a\ufffdb?c", 5)


def test_overflow_of_a_replaced_run_is_refused(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.begin_run("s", "r2", at(9), ANN)
    with pytest.raises(StaleRun):
        journal.append("s", "r1", [], {"ref": "text"})
    assert journal.overflow("s", "ref", 0, 9) is None


def test_a_draft_is_overwritten_and_goes_when_its_message_lands(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.put_draft("s", Draft("r1", 1, 1, "Look"))
    journal.put_draft("s", Draft("r1", 1, 1, "Looking"))
    assert journal.drafts("s") == (Draft("r1", 1, 1, "Looking"),)
    journal.append("s", "r1", [message("m1")])
    assert len(journal.drafts("s")) == 1
    journal.append("s", "r1", [reply("r1", 1)])
    assert journal.drafts("s") == ()


def test_an_attempt_that_was_given_up_never_overwrites_its_successor(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.put_draft("s", Draft("r1", 1, 1, "old"))
    journal.put_draft("s", Draft("r1", 1, 2, "new"))
    journal.put_draft("s", Draft("r1", 1, 1, "old, and more"))
    assert journal.drafts("s") == (Draft("r1", 1, 2, "new"),)


def test_a_draft_that_comes_after_its_message_stays_away(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [reply("r1", 1), call("r1", "1.1")])
    journal.put_draft("s", Draft("r1", 1, 1, "late"))
    assert journal.drafts("s") == ()


def test_the_last_turn_at_a_limit_is_shown_under_the_number_of_the_step_before_it(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [reply("r1", 1), call("r1", "1.1"), result("r1", "1.1")])
    journal.put_draft("s", Draft("r1", 1, 1, "I found"))
    assert journal.drafts("s") == (Draft("r1", 1, 1, "I found"),)
    journal.append("s", "r1", [reply("r1", 1, final=True)])
    assert journal.drafts("s") == ()
    journal.put_draft("s", Draft("r1", 1, 1, "late"))
    assert journal.drafts("s") == ()


def test_a_stopped_run_has_no_drafts_and_gets_none_until_it_goes_on(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.put_draft("s", Draft("r1", 1, 1, "half a sen"))
    journal.append("s", "r1", [stopped("r1")])
    journal.put_draft("s", Draft("r1", 1, 1, "half a sentence"))
    assert journal.drafts("s") == ()
    journal.append("s", "r1", [message("m2")])
    journal.put_draft("s", Draft("r1", 2, 1, "And now"))
    assert journal.drafts("s") == (Draft("r1", 2, 1, "And now"),)


def test_the_next_run_drops_drafts_of_the_one_before_and_ignores_those_that_still_come(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.put_draft("s", Draft("r1", 1, 1, "half"))
    journal.begin_run("s", "r2", at(9), ANN)
    journal.put_draft("s", Draft("r1", 1, 1, "half a sen"))
    assert journal.drafts("s") == ()


def test_a_draft_for_an_unknown_session_is_no_error(journal: SqlJournal) -> None:
    journal.put_draft("s", Draft("r1", 1, 1, "text"))
    assert journal.drafts("s") == ()
