"""The journal's tables, and how times, JSON and prose are stored in them.

`entries` is the record; `sessions`, `runs`, `calls`, `interrupts` and `spending` say nothing that could not be computed
from it, but for what `begin_run` knows (who owns a session, who asked for a run, when it started); `drafts` and
`sign_outs` are ephemeral. No query is known here.

Nothing here is particular to one database. Indexes are chosen for the lists and figures that people look at, in
milliseconds at 100,000 sessions; those named `…_figures` hold all that their query reads.
"""

import json
from datetime import UTC, datetime

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
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

SCHEMA_VERSION = 4
"""Raised with each change of these tables; an older journal is upgraded when it is opened, a newer one is refused."""


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
    Column("owner_name", Prose, nullable=False, default=""),
    Column("title", Prose, nullable=False, default=""),
    Column("searchable", Prose, nullable=False),
    Column("status", String, nullable=False),
    Column("stop_reason", String),
    Column("current_run", String, nullable=False),
    Column("model", String, nullable=False, default=""),
    Column("waiting", Integer, nullable=False, default=0),
    Column("created_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    Column("last_seq", Integer, nullable=False, default=0),
    Column("steps", Integer, nullable=False, default=0),
    Column("tokens", Integer, nullable=False, default=0),
    Column("cost", Float),
    Index("sessions_newest", "updated_at", "id", "created_at", "searchable"),
    Index("sessions_by_status", "status", "updated_at", "id"),
    Index("sessions_by_owner", "owner", "updated_at", "id"),
    Index("sessions_by_owner_and_status", "owner", "status", "updated_at", "id"),
    Index("sessions_by_stop_reason", "stop_reason", "updated_at", "id"),
)
"""One row per session; locking it is what puts the session's writers in a line. `waiting` counts open questions."""

runs = Table(
    "runs",
    metadata,
    Column("session_id", String, primary_key=True),
    Column("run_id", String, primary_key=True),
    Column("requester", String, nullable=False),
    Column("requester_name", Prose, nullable=False),
    Column("model", String, nullable=False, default=""),
    Column("day", Date, nullable=False),
    Column("started_at", UtcTime, nullable=False),
    Column("stopped_at", UtcTime),
    Column("stop_reason", String),
    Column("steps", Integer, nullable=False, default=0),
    Column("input_tokens", Integer, nullable=False, default=0),
    Column("output_tokens", Integer, nullable=False, default=0),
    Column("cached_tokens", Integer, nullable=False, default=0),
    Column("cost", Float),
    Column("model_calls", Integer, nullable=False, default=0),
    Column("model_ms", Integer, nullable=False, default=0),
    Column("calls", Integer, nullable=False, default=0),
    Column("calls_ok", Integer, nullable=False, default=0),
    Column("calls_failed", Integer, nullable=False, default=0),
    Column("interrupts", Integer, nullable=False, default=0),
    Index(
        "runs_figures",
        "day",
        "stop_reason",
        "started_at",
        "steps",
        "input_tokens",
        "output_tokens",
        "cost",
        "calls_ok",
        "calls_failed",
        "interrupts",
        "model_calls",
        "model_ms",
    ),
)
"""`day` is that of `started_at` in UTC. `cost` is NULL while nobody has said what the run's tokens cost."""

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
    Column("went_well", Boolean),
    Column("error_code", String),
    Column("duration_ms", Float),
    Column("took_ms", Integer),
    Column("rounds", Integer, nullable=False, default=0),
    Column("run_started_at", UtcTime, nullable=False),
    Column("proposed_at", UtcTime, nullable=False),
    Column("settled_at", UtcTime),
    Index("calls_figures", "tool", "went_well", "took_ms", "run_started_at"),
)
"""`went_well` is NULL while a call is open, and when a person or a rule stopped it. `took_ms` is there when a round ran
and its time was taken; to three digits, so that there are few different ones to count.
"""

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
    Column("tool", String, nullable=False),
    Column("arguments", JsonText, nullable=False),
    Column("schema", JsonText, nullable=False),
    Column("digest", String, nullable=False),
    Column("rule", String, nullable=False),
    Column("risk", String, nullable=False),
    Column("role", String, nullable=False),
    Column("escalated_role", String),
    Column("quorum", Integer, nullable=False),
    Column("requester", String, nullable=False),
    Column("not_requester", Boolean, nullable=False),
    Column("approvals", JsonText, nullable=False),
    Column("due", UtcTime),
    Column("state", String, nullable=False),
    Column("opened_at", UtcTime, nullable=False),
    Column("reminded_at", UtcTime),
    Column("escalated_at", UtcTime),
    Column("settled_at", UtcTime),
    Column("action", String),
    Column("by", String),
    Column("name", Prose),
    Column("method", String),
    Column("comment", Prose),
    Column("asks_again", Boolean, nullable=False),
    Index("interrupts_by_state", "state", "opened_at"),
)
"""`approvals` is a list of `{by, name, at, comment}`; `by`, `name` and `method` are of whoever settled the question."""

spending = Table(
    "spending",
    metadata,
    Column("session_id", String, primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("requester", String, nullable=False),
    Column("run_started_at", UtcTime, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("took_ms", Integer),
    Column("input_tokens", Integer, nullable=False),
    Column("output_tokens", Integer, nullable=False),
    Column("cost", Float),
    Index("spending_figures", "took_ms", "run_started_at"),
    Index("spending_by_requester", "requester", "at", "input_tokens", "output_tokens", "cost"),
)
"""What each reply took and cost, and each end of a run that knew of more; summed up by run it gives the run's own.

`took_ms` as in `calls`; NULL where no model was called.
"""

READ_MODELS = (sessions, runs, calls, interrupts, spending)
"""The tables that can be computed again."""

days = Table(
    "days",
    metadata,
    Column("day", Date, primary_key=True),
    Column("stop_reason", String, primary_key=True),
    Column("runs", Integer, nullable=False),
    Column("steps", BigInteger, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("millionths", BigInteger, nullable=False),
    Column("priced", Integer, nullable=False),
    Column("calls_ok", Integer, nullable=False),
    Column("calls_failed", Integer, nullable=False),
    Column("interrupted", Integer, nullable=False),
    Column("model_calls", Integer, nullable=False),
    Column("model_ms", BigInteger, nullable=False),
)
"""Sums over the runs that began on a day, by why they stopped; empty: they haven't. `millionths` is what they cost,
`priced` how many of them say so, `interrupted` how many asked a person.
"""

times = Table(
    "times",
    metadata,
    Column("kind", String, primary_key=True),
    Column("tool", String, primary_key=True),
    Column("outcome", String, primary_key=True),
    Column("took_ms", Integer, primary_key=True, autoincrement=False),
    Column("count", Integer, nullable=False),
)
"""How many settled calls of a tool, and replies of models, took so long; `took_ms` -1: nobody took their time."""

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

sign_outs = Table(
    "sign_outs",
    metadata,
    Column("id", String, primary_key=True),
    Column("until", UtcTime, nullable=False),
    Index("sign_outs_by_end", "until"),
)
"""Who signed out of a web server, by the number of their signing in, until what they had is worth nothing anyway.

It has nothing to do with the record; it is here because all web servers of a journal share it.
"""
