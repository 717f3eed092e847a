"""The journal's tables, and how times, JSON and prose are stored in them.

`entries` is the record; `sessions`, `runs`, `calls` and `interrupts` say nothing that could not be computed from it,
but for what `begin_run` knows (who owns a session, when a run started); `drafts` is ephemeral. No query is known here.

Nothing here is particular to one database. Indexes are chosen for the lists that people look at: by time, status and
owner, in milliseconds at 100,000 sessions.
"""

import json
from datetime import UTC, datetime

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

from opspilot.core.messages import Json

SCHEMA_VERSION = 1
"""Raised with each change of these tables; a journal of a newer version is refused."""


class UtcTime(TypeDecorator[datetime]):
    """A moment. Needs an aware datetime, gives one in UTC, to the microsecond."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn into UTC, which SQLite then stores without a zone."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the zone back."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class JsonText(TypeDecorator[Json]):
    """A JSON value, kept to the letter: key order, big integers, lone surrogates. Refuses NaN and infinities."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Json, dialect: Dialect) -> str:
        """Write readable text; only what UTF-8 can't carry makes it fall back to escapes."""
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        try:
            text.encode()
        except UnicodeEncodeError:
            return json.dumps(value, allow_nan=False, separators=(",", ":"))
        return text

    def process_result_value(self, value: str | None, dialect: Dialect) -> Json:
        """Parse."""
        return None if value is None else json.loads(value)


class Prose(TypeDecorator[str]):
    """Text for people, whose length in characters stays what it was.

    Lone surrogates become `?` (UTF-8 has none); NUL becomes U+FFFD (SQLite's `length` stops at it, PostgreSQL refuses).
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Replace what a database can't store."""
        return None if value is None else value.replace("\0", "\ufffd").encode(errors="replace").decode()


metadata = MetaData()

meta = Table(
    "meta",
    metadata,
    Column("name", String, primary_key=True),
    Column("value", String, nullable=False),
)
"""`schema_version`, and `id`: the journal's identity."""

entries = Table(
    "entries",
    metadata,
    Column("session_id", String, primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("run_id", String, nullable=False),
    Column("key", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("step", Integer),
    Column("call", String),
    Column("data", JsonText, nullable=False),
    UniqueConstraint("session_id", "key"),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", String, primary_key=True),
    Column("owner", String, nullable=False),
    Column("title", Prose, nullable=False),
    Column("searchable", Prose, nullable=False),
    Column("status", String, nullable=False),
    Column("stop_reason", String),
    Column("current_run", String, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    Column("last_seq", Integer, nullable=False),
    Column("steps", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Index("sessions_newest", "updated_at", "id"),
    Index("sessions_by_status", "status", "updated_at", "id"),
    Index("sessions_by_owner", "owner", "updated_at", "id"),
    Index("sessions_by_owner_and_status", "owner", "status", "updated_at", "id"),
)
"""One row per session; locking it is what puts the session's writers in a line."""

runs = Table(
    "runs",
    metadata,
    Column("session_id", String, primary_key=True),
    Column("run_id", String, primary_key=True),
    Column("started_at", UtcTime, nullable=False),
    Column("stopped_at", UtcTime),
    Column("stop_reason", String),
    Column("steps", Integer, nullable=False, default=0),
    Column("tokens", Integer, nullable=False, default=0),
    Column("calls", Integer, nullable=False, default=0),
    Column("calls_ok", Integer, nullable=False, default=0),
    Column("calls_failed", Integer, nullable=False, default=0),
    Column("interrupts", Integer, nullable=False, default=0),
    Index("runs_figures", "started_at", "stop_reason", "steps", "calls_ok", "calls_failed", "interrupts"),
)

calls = Table(
    "calls",
    metadata,
    Column("session_id", String, primary_key=True),
    Column("run_id", String, primary_key=True),
    Column("call", String, primary_key=True),
    Column("seq", Integer, nullable=False),
    Column("step", Integer),
    Column("tool", String, nullable=False),
    Column("effect", String, nullable=False),
    Column("gate", String, nullable=False),
    Column("rule", String, nullable=False),
    Column("state", String, nullable=False),
    Column("ok", Boolean),
    Column("error_code", String),
    Column("duration_ms", Float),
    Column("rounds", Integer, nullable=False, default=0),
    Column("proposed_at", UtcTime, nullable=False),
    Column("settled_at", UtcTime),
)

interrupts = Table(
    "interrupts",
    metadata,
    Column("session_id", String, primary_key=True),
    Column("run_id", String, primary_key=True),
    Column("interrupt", String, primary_key=True),
    Column("seq", Integer, nullable=False),
    Column("call", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("reason", Prose, nullable=False),
    Column("payload", JsonText, nullable=False),
    Column("role", String, nullable=False),
    Column("due", UtcTime),
    Column("tool", String, nullable=False),
    Column("arguments", JsonText, nullable=False),
    Column("digest", String, nullable=False),
    Column("state", String, nullable=False),
    Column("opened_at", UtcTime, nullable=False),
    Column("settled_at", UtcTime),
    Column("action", String),
    Column("by", String),
    Column("comment", Prose),
    Index("interrupts_by_state", "state", "opened_at"),
)

overflow = Table(
    "overflow",
    metadata,
    Column("session_id", String, primary_key=True),
    Column("ref", String, primary_key=True),
    Column("text", Prose, nullable=False),
)
"""Whole texts of results that were trimmed for the model."""

drafts = Table(
    "drafts",
    metadata,
    Column("session_id", String, primary_key=True),
    Column("run_id", String, primary_key=True),
    Column("step", Integer, primary_key=True, autoincrement=False),
    Column("attempt", Integer, nullable=False),
    Column("text", Prose, nullable=False),
)
"""Text that a model is still producing."""
