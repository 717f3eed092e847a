"""A question to people as it is told in a terminal: what it would do, on which terms, how it stands, what came of it.

Whatever a model, a tool or a person wrote comes out as it went in: who prints it takes control characters away. Knows
the data of journal entries and rows; knows no console.
"""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime

from opspilot.cli.blanks import needs
from opspilot.core.entries import Entry, Kind
from opspilot.core.interrupts import InterruptType
from opspilot.core.messages import Json
from opspilot.journal.queries import InterruptRow
from opspilot.texts.endings import asked, is_about_limit
from opspilot.texts.folding import ARGUMENT_CHARACTERS, age, arguments_line, arguments_to_approve, compact, to_approve
from opspilot.texts.language import counted, text
from opspilot.texts.objections import objection

SEPARATOR = " · "
REASON_CHARACTERS = 300

HAPPENINGS = frozenset(
    {
        Kind.INTERRUPT_APPROVED,
        Kind.INTERRUPT_ANSWERED,
        Kind.INTERRUPT_REMINDED,
        Kind.INTERRUPT_ESCALATED,
        Kind.INTERRUPT_EXPIRED,
        Kind.ANSWER_IGNORED,
        Kind.NOTIFICATION_FAILED,
    }
)
"""What can become of a question that is worth a line."""


def call_of(interrupt: str) -> str:
    """`3.1` of `3.1#0`, and `limit` of `limit#1`."""
    return interrupt.partition("#")[0]


def headline(question: Mapping[str, Json]) -> str:
    """`? 1.1 restart_service waits for a person: Restarting drops open requests.`."""
    if is_about_limit(question):
        return text("question.limit", question=asked(question))
    call = call_of(str(question.get("interrupt", "")))
    return text("question", call=call, tool=question.get("tool", ""), reason=asked(question))


def in_one_line(row: InterruptRow) -> str:
    """`3.1 restart_service service="payment": Restarting drops open requests.`.

    Of a question about a limit `limit: The limit of this run is reached. Go on for 10 more steps?`.
    """
    if is_about_limit(question := asdict(row)):
        return f"{row.call}: {asked(question)}"
    what = f"{row.call} {row.tool} {arguments_to_approve(row.arguments, row.session)}".rstrip()
    return f"{what}: {compact(asked(question), REASON_CHARACTERS)}"


def what_it_shows(question: Mapping[str, Json], session: str) -> list[str]:
    """What an approval would be for: the arguments, and what else the tool shows, nothing shortened unsaid.

    Of a question for values, what it needs. Of a question about a limit there is nothing to add.
    """
    if is_about_limit(question):
        return []
    arguments = dict(question.get("arguments") or {}) if question.get("kind") != InterruptType.QUESTION else {}
    lines = [f"{name} = {to_approve(value, session)}" for name, value in arguments.items()]
    payload = dict(question.get("payload") or {})
    needed = needs(question)
    # A schema is for whoever makes a form of it.
    known = {"schema", *(("fields", "options") if needed else ())}
    # Tools tend to repeat the arguments in what they show.
    lines += [
        f"{name}: {to_approve(shown, session)}"
        for name, shown in payload.items()
        if name not in known and shown != arguments.get(name)
    ]
    return [*lines, needed] if needed else lines


def terms(question: Mapping[str, Json]) -> str:
    """`rule production · high risk · for the role approver · 2 people have to agree`; empty where nothing is said."""
    parts = []
    if (rule := question.get("rule")) and not is_about_limit(question):
        parts.append(text("asking.rule", rule=rule))
    if (risk := question.get("risk")) in {"low", "medium", "high"} and parts:
        parts.append(text(f"ui.risk.{risk}"))
    if roles := question.get("roles") or [role for role in [question.get("role")] if role]:
        parts.append(text("asking.roles", roles=" / ".join(map(str, roles))))
    if (quorum := question.get("quorum") or 1) > 1:
        parts.append(text("asking.quorum", count=quorum))
    if question.get("not_requester") or (question.get("terms") or {}).get("not_requester"):
        parts.append(text("asking.not_requester", who=question.get("requester_name") or question.get("requester")))
    if isinstance(due := question.get("due"), str) and due:
        parts.append(text("asking.until", moment=_moment(datetime.fromisoformat(due))))
    return SEPARATOR.join(parts)


def standing(row: InterruptRow, now: datetime) -> str:
    """`asked by Dana 5 min ago · until 2026-12-01 19:03 UTC (23 h left) · 1 of 2 approvals: Eve`."""
    parts = [text("asking.by", who=row.requester_name or row.requester, age=age((now - row.opened_at).total_seconds()))]
    if row.due is not None:
        parts.append(text("asking.until", moment=_moment(row.due)) + text("asking.left", left=time_left(row, now)))
    if row.quorum > 1:
        names = ", ".join(approval.name or approval.by for approval in row.approvals)
        parts.append(text("asking.approvals", agreed=len(row.approvals), quorum=row.quorum))
        parts[-1] += text("asking.names", names=names) if names else ""
    return SEPARATOR.join(parts)


def time_left(row: InterruptRow, now: datetime) -> str:
    """`23 h`; empty without a deadline, and a word when it is past."""
    if row.due is None:
        return ""
    left = (row.due - now).total_seconds()
    return age(left) if left > 0 else text("asking.late")


def roles_of(row: InterruptRow) -> str:
    """Who may decide: `approver / lead`, or anybody."""
    return " / ".join(row.roles) or text("asking.anybody")


def happening(entry: Entry) -> str:
    """What one of `HAPPENINGS` says of its question, without its name."""
    data = entry.data
    match entry.kind:
        case Kind.INTERRUPT_APPROVED:
            return SEPARATOR.join([_reply("approve", data), _approvals(data)])
        case Kind.INTERRUPT_REMINDED:
            return text("happened.reminded")
        case Kind.INTERRUPT_ESCALATED:
            return text("happened.escalated", role=data.get("role", ""))
        case Kind.INTERRUPT_EXPIRED:
            return text("happened.expired.stops" if data.get("stops") else "happened.expired")
        case Kind.ANSWER_IGNORED:
            return text("happened.ignored", by=data.get("by", ""), why=objection(str(data.get("message", ""))))
        case Kind.NOTIFICATION_FAILED:
            return text("happened.untold", channel=data.get("channel", ""), why=data.get("message", ""))
    said = _reply(str(data.get("action", "")), data)
    return SEPARATOR.join([said, text("happened.asks_again")]) if data.get("asks_again") else said


def _reply(action: str, data: Mapping[str, Json]) -> str:
    """Who answered what: `approve by dana: go ahead`, `provide by dana (environment="staging")`."""
    known = action in {"approve", "reject", "provide"}
    said = text(f"reply.{action}" if known else "reply.other", action=action, by=data.get("by", ""))
    if values := data.get("values"):
        said += text("reply.values", values=compact(arguments_line(values), ARGUMENT_CHARACTERS))
    return said + (text("reply.comment", comment=data["comment"]) if data.get("comment") else "")


def _approvals(data: Mapping[str, Json]) -> str:
    agreed, quorum = int(data.get("approvals") or 1), int(data.get("quorum") or 1)
    return text("told.agreed", agreed=agreed, quorum=quorum) + counted("told.more", max(quorum - agreed, 1))


def _moment(moment: datetime) -> str:
    """In the time zone of this machine."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M %Z}"
