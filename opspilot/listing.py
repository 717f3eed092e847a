"""One line for each session, and for each question that waits for a person. Knows rows; nothing of where they go."""

import json
from dataclasses import asdict
from datetime import datetime

from opspilot.journal.queries import InterruptRow, SessionRow
from opspilot.terminal import arguments_line, compact

TITLE_CHARACTERS = 70


def session_line(row: SessionRow) -> str:
    """`ops-1a2b3c4d  2026-11-30 15:04  answered  What happened to payment?`, in local time."""
    state = row.stop_reason if row.status == "done" and row.stop_reason else row.status
    changed = f"{row.updated_at.astimezone():%Y-%m-%d %H:%M}"
    return f"{row.id:<14}  {changed}  {state:<14}  {compact(row.title, TITLE_CHARACTERS)}"


def session_json(row: SessionRow) -> str:
    """The row as one JSON object, times in ISO 8601."""
    plain = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in asdict(row).items()}
    return json.dumps(plain, ensure_ascii=False)


def question_line(row: InterruptRow) -> str:
    """`3.1 restart_service service="payment": Restarting drops open requests. (confirm_risky)`."""
    what = f"{row.call} {row.tool} {arguments_line(row.arguments)}".rstrip()
    return f"{what}: {compact(row.reason, 300)} ({row.kind})"
