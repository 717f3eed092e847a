"""Brings an older journal to the tables of today, in the transaction of whoever opens it first.

The record stays as it is. The read models of the first version are dropped, created, and computed again from it, with
what `begin_run` alone knew carried over; meanwhile nobody else can write, for about twelve minutes for each million of
entries, which says now and then how far it is. Since the second version tables were only added, of which the sums of
the fourth are computed: some seconds for each million of calls.
"""

import logging
from typing import Final

from sqlalchemy import Connection, func, insert, select

from opspilot.core.contract import Status
from opspilot.journal import read_models, reading, totals
from opspilot.journal.schema import READ_MODELS, entries, metadata, runs, sessions

BATCH: Final = 500
"""Rows that are written together."""
TOLD_EVERY: Final = 20_000
"""Entries after which it is said how far it is: some fifteen seconds."""

logger = logging.getLogger(__name__)

FIRST: Final = 1
FIRST_WITH_TOTALS: Final = 4


def upgrade(connection: Connection, version: int) -> None:
    """From any earlier version to this one."""
    if version == FIRST:
        _renew_read_models(connection)
    metadata.create_all(connection)
    if version < FIRST_WITH_TOTALS:
        totals.compute(connection)


def _renew_read_models(connection: Connection) -> None:
    remembered = (sessions.c.id, sessions.c.owner, sessions.c.current_run, sessions.c.last_seq)
    times = (sessions.c.created_at, sessions.c.updated_at)
    known = [dict(row) for row in connection.execute(select(*remembered, *times)).mappings()]
    owners = {row["id"]: row["owner"] for row in known}
    began = [
        read_models.new_run(session, run, started_at, owners[session], "")
        for session, run, started_at in connection.execute(select(runs.c.session_id, runs.c.run_id, runs.c.started_at))
    ]
    metadata.drop_all(connection, tables=READ_MODELS)
    metadata.create_all(connection)
    for row in known:
        row |= {"searchable": read_models.searchable(row["id"], ""), "status": Status.RUNNING.value}
    for table, rows in ((sessions, known), (runs, began)):
        for start in range(0, len(rows), BATCH):
            connection.execute(insert(table), rows[start : start + BATCH])
    entries_in_all = connection.scalar(select(func.count()).select_from(entries))
    for done, entry in enumerate(reading.everything(connection), start=1):
        read_models.apply(connection, entry)
        if done % TOLD_EVERY == 0:
            # As a warning it is seen on the command line, too, where nothing else is logged.
            logger.warning("The journal is being upgraded: %d of %d entries.", done, entries_in_all)
    for row in known:
        read_models.summarise(connection, row["id"], row["current_run"])
