"""What is written once stays: keys, order, the fence around the current run, and content to the letter."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from opspilot.core.entries import Kind, NewEntry
from opspilot.core.errors import JournalConflict, JournalError, StaleRun
from opspilot.core.interrupts import Principal
from opspilot.core.messages import Json
from opspilot.journal.store import SqlJournal
from tests.journal.builders import ANN, NOON, at, call, message, reply, result, stopped


def test_entries_are_numbered_from_one_in_the_order_in_which_they_were_given(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    first = journal.append("s", "r1", [message("m1"), reply("r1", 1)])
    second = journal.append("s", "r1", [call("r1", "1.1")])
    assert [entry.seq for entry in (*first, *second)] == [1, 2, 3]
    assert journal.read("s") == (*first, *second)
    assert journal.read("s", after=1) == (first[1], *second)
    assert journal.read("s", after=1, limit=1) == (first[1],)
    assert journal.read("s", after=3) == ()
    assert journal.read("nobody") == ()


def test_each_session_counts_for_itself(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.begin_run("t", "r2", NOON, ANN)
    journal.append("s", "r1", [message("m1")])
    (entry,) = journal.append("t", "r2", [message("m1", "Another question")])
    assert (entry.seq, entry.data["text"]) == (1, "Another question")


def test_a_retried_write_gives_what_was_written_and_writes_nothing(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    batch = [reply("r1", 1), call("r1", "1.1"), result("r1", "1.1")]
    written = journal.append("s", "r1", batch)
    again = journal.append("s", "r1", [replace(entry, at=at(60)) for entry in batch])
    assert again == written == journal.read("s")
    assert journal.session("s") is not None
    assert journal.runs("s")[0].calls_ok == 1


def test_a_key_that_is_there_keeps_its_first_content_while_new_ones_of_the_batch_are_written(
    journal: SqlJournal,
) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [call("r1", "1.1"), result("r1", "1.1")])
    lost, new = journal.append("s", "r1", [result("r1", "1.1", code="tool_failed"), result("r1", "1.2")])
    assert lost.data["ok"] is True
    assert (lost.seq, new.seq) == (2, 3)


def test_entries_that_belong_together_are_written_all_or_not_at_all(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    won = journal.append("s", "r1", [reply("r1", 1), call("r1", "1.1"), call("r1", "1.2")], whole=True)
    assert len(won) == 3
    lost = journal.append("s", "r1", [reply("r1", 1), call("r1", "1.3")], {"ref": "text"}, whole=True)
    assert lost == won[:1]
    assert journal.read("s") == won
    assert journal.overflow("s", "ref", 0, 9) is None


def test_of_one_key_given_twice_in_one_batch_the_first_counts(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    one, two = journal.append("s", "r1", [result("r1", "1.1"), result("r1", "1.1", code="tool_failed")])
    assert one == two
    assert journal.read("s") == (one,)


def test_find_gives_only_what_exists(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    (entry,) = journal.append("s", "r1", [message("m1")])
    assert journal.find("s", [entry.key, "message/m2"]) == {entry.key: entry}
    assert journal.find("t", [entry.key]) == {}
    assert journal.find("s", []) == {}


def test_a_message_with_other_words_under_a_known_id_is_refused_with_everything_beside_it(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [message("m1", "Restart it")])
    with pytest.raises(JournalConflict, match="message/m1 with other content"):
        journal.append("s", "r1", [reply("r1", 1), message("m1", "Do not restart it")], {"ref": "text"})
    assert [entry.key for entry in journal.read("s")] == ["message/m1"]
    assert journal.overflow("s", "ref", 0, 9) is None


def test_the_same_message_sent_again_is_the_same_message_in_every_run(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [message("m1")])
    journal.begin_run("s", "r2", at(9), ANN)
    (entry,) = journal.append("s", "r2", [message("m1", when=at(9))])
    assert (entry.run, entry.at) == ("r1", NOON)


def test_a_run_that_begins_with_other_settings_under_the_same_key_is_refused(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    start = NewEntry("r1/started", Kind.RUN_STARTED, NOON, {"model": "a", "limits": {"steps": 10, "rounds": 5}})
    journal.append("s", "r1", [start])
    journal.append("s", "r1", [replace(start, data={"limits": {"rounds": 5, "steps": 10}, "model": "a"})])
    with pytest.raises(JournalConflict, match="r1/started"):
        journal.append("s", "r1", [replace(start, data={"model": "b", "limits": {}})])


def test_a_run_that_was_replaced_may_not_write_even_what_is_there_already(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [message("m1")])
    journal.begin_run("s", "r2", at(9), ANN)
    with pytest.raises(StaleRun, match=r"Run r1 of session s has been replaced by run r2"):
        journal.append("s", "r1", [message("m1")])
    with pytest.raises(StaleRun):
        journal.append("s", "r1", [message("m2")])
    assert [entry.key for entry in journal.read("s")] == ["message/m1"]


def test_a_session_that_never_began_takes_no_entries(journal: SqlJournal) -> None:
    with pytest.raises(StaleRun, match="Session s isn't in this journal"):
        journal.append("s", "r1", [message("m1")])


def test_a_repair_is_recorded_under_the_run_that_it_repairs_and_fenced_by_the_run_that_does_it(
    journal: SqlJournal,
) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [call("r1", "1.1")])
    journal.begin_run("s", "r2", at(9), ANN)
    (entry,) = journal.append("s", "r2", [result("r1", "1.1", code="not_started", into="r1")])
    assert (entry.run, entry.seq) == ("r1", 2)
    journal.begin_run("s", "r3", at(10), ANN)
    with pytest.raises(StaleRun):
        journal.append("s", "r2", [stopped("r1", into="r1")])


def test_a_run_that_started_earlier_never_takes_the_session_back(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.begin_run("s", "r2", at(9), ANN)
    with pytest.raises(StaleRun, match="replaced by run r2"):
        journal.begin_run("s", "r1", NOON, ANN)
    with pytest.raises(StaleRun):
        journal.begin_run("s", "r0", at(5), ANN)
    journal.append("s", "r2", [message("m1")])
    assert [run.run for run in journal.runs("s")] == ["r1", "r2"]


def test_of_two_runs_of_the_same_moment_one_keeps_the_session_however_often_both_ask(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    journal.begin_run("s", "r2", NOON, ANN)
    with pytest.raises(StaleRun):
        journal.begin_run("s", "r1", NOON, ANN)
    journal.begin_run("s", "r2", NOON, ANN)


def test_beginning_twice_changes_nothing_and_the_owner_is_who_came_first(journal: SqlJournal) -> None:
    assert journal.owner("s") is None
    journal.begin_run("s", "r1", NOON, ANN)
    journal.append("s", "r1", [message("m1"), stopped("r1", when=at(1))])
    before = journal.session("s")
    journal.begin_run("s", "r1", NOON, ANN)
    assert journal.session("s") == before
    journal.begin_run("s", "r2", at(9), Principal("ben"))
    assert journal.owner("s") == "ann"


AWKWARD: dict[str, Json] = {
    "order": {"z": 1, "a": 2},
    "unicode": "支付 📈 \u2028 \x85 \x00 end",
    "half": "\ud83d",
    "big": 2**80,
    "tiny": 5e-324,
    "nested": [[], {}, None, True, ""],
}


def test_content_comes_back_to_the_letter(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    (written,) = journal.append("s", "r1", [replace(reply("r1", 1), data=AWKWARD)])
    (read,) = journal.read("s")
    assert read == written
    assert read.data == AWKWARD
    assert list(read.data["order"]) == ["z", "a"]


def test_the_writer_is_told_what_readers_will_be_told(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    east = datetime(2026, 1, 2, 20, tzinfo=timezone(timedelta(hours=8)))
    (written,) = journal.append(
        "s", "r1", [replace(reply("r1", 1), data={"pair": (1, 2), "kind": Kind.TOOL_CALL}, at=east)]
    )
    assert written.data == {"pair": [1, 2], "kind": "tool.call"}
    assert written.at.tzinfo is UTC
    assert (written,) == journal.read("s")


@pytest.mark.parametrize("data", [{"x": float("nan")}, {"x": object()}, {"x": b"bytes"}])
def test_data_that_is_no_json_is_refused_by_name_and_nothing_is_written(
    journal: SqlJournal, data: dict[str, Json]
) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    with pytest.raises(JournalError, match="r1/1/assistant can't be written"):
        journal.append("s", "r1", [message("m1"), replace(reply("r1", 1), data=data)])
    assert journal.read("s") == ()


def test_a_time_without_zone_is_refused(journal: SqlJournal) -> None:
    naive = NOON.replace(tzinfo=None)
    with pytest.raises(JournalError, match="no time zone"):
        journal.begin_run("s", "r1", naive, ANN)
    journal.begin_run("s", "r1", NOON, ANN)
    with pytest.raises(JournalError, match="no time zone"):
        journal.append("s", "r1", [message("m1", when=naive)])


def test_text_that_no_database_can_store_is_an_error_for_people(journal: SqlJournal) -> None:
    journal.begin_run("s", "r1", NOON, ANN)
    with pytest.raises(JournalError, match=r"The journal at sqlite:.* failed"):
        journal.append("s", "r1", [message("\ud83d")])
