"""Who has signed out of a web server: by a number, until their cookie would have expired anyway. Knows no names."""

from contextlib import suppress
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.exc import IntegrityError

from opspilot.journal.schema import sign_outs


def add(connection: Connection, id: str, now: datetime, until: datetime) -> None:
    """Remember it until then, and forget what is past its time. Once more changes nothing."""
    connection.execute(delete(sign_outs).where(sign_outs.c.until <= now))
    with suppress(IntegrityError), connection.begin_nested():
        connection.execute(insert(sign_outs).values(id=id, until=until))


def has(connection: Connection, id: str) -> bool:
    """Whether this one has signed out."""
    return connection.execute(select(sign_outs.c.id).where(sign_outs.c.id == id)).first() is not None
