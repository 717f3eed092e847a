"""What people are told, in their language: sentences, and the facts beside them by name.

Pure. Owns the wording of a notification and the link in it. Knows no channel, and nothing about how one writes text.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from opspilot.core.contract import Notice
from opspilot.core.ports import Notification
from opspilot.texts.endings import question_told, told_of_budgets
from opspilot.texts.language import CATALOGUE, Language, speaking

__all__ = ["FACTS", "Wording"]

MAX_REASON_CHARACTERS = 1000
PROGRAM = "opspilot"

FACTS = (
    "id",
    "notice",
    "session",
    "interrupt",
    "reason",
    "tool",
    "risk",
    "role",
    "requester",
    "due",
    "link",
    "text",
)
"""What there is to know of a notification, by name. `text` is all of it for people, `link` included."""

_HEADS = {
    Notice.ASKED: "notify.asked",
    Notice.REMINDED: "notify.reminded",
    Notice.ESCALATED: "notify.escalated",
    Notice.EXPIRED: "notify.expired",
    Notice.BUDGET: "notify.budget",
    Notice.TEST: "notify.test",
}
_RISKS = {"low": "notify.risk.low", "medium": "notify.risk.medium", "high": "notify.risk.high"}
_OPEN = (Notice.ASKED, Notice.REMINDED, Notice.ESCALATED)
"""Notices of questions that can still be answered."""


@dataclass(frozen=True)
class Wording:
    """`link` is the web UI's address, without a slash at its end; empty when there is none."""

    link: str = ""
    language: Language = Language.ENGLISH

    def facts(self, notification: Notification) -> dict[str, str]:
        """Each of `FACTS`, empty where there is nothing to know."""
        reason = self._reason(notification)
        link = self._link(notification)
        return {
            "id": notification.id,
            "notice": notification.notice.value,
            "session": notification.session,
            "interrupt": notification.interrupt,
            "reason": reason,
            "tool": _one_line(notification.tool),
            "risk": notification.risk,
            "role": _one_line(notification.role),
            "requester": _one_line(notification.requester),
            "due": notification.due,
            "link": link,
            "text": self._text(notification, reason, link),
        }

    def _reason(self, notification: Notification) -> str:
        """What OpsPilot itself asks, or says of budgets, in this language; what others wrote as they did."""
        with speaking(self.language):
            told = told_of_budgets if notification.notice is Notice.BUDGET else question_told
            return _one_line(told(_one_line(notification.reason, MAX_REASON_CHARACTERS)), MAX_REASON_CHARACTERS)

    def _link(self, notification: Notification) -> str:
        """`<link>/sessions/<session>#<interrupt>`; the interrupt's own `#` is escaped."""
        if not self.link or not notification.session:
            return ""
        anchor = f"#{quote(notification.interrupt, safe='')}" if notification.interrupt else ""
        return f"{self.link}/sessions/{quote(notification.session, safe='')}{anchor}"

    def _text(self, notification: Notification, reason: str, link: str) -> str:
        head = self._say(_HEADS[notification.notice], reason=reason, role=_one_line(notification.role))
        lines = [head, " · ".join(self._details(notification)), link or self._how(notification)]
        return "\n".join(line for line in lines if line)

    def _details(self, notification: Notification) -> list[str]:
        if notification.notice not in (*_OPEN, Notice.EXPIRED):
            return []
        risk = _RISKS.get(notification.risk)
        said = {
            "notify.tool": notification.tool,
            "notify.risk": self._say(risk) if risk else notification.risk,
            "notify.role": notification.role if notification.notice is not Notice.ESCALATED else "",
            "notify.requester": notification.requester,
            "notify.due": _moment(notification.due) if notification.notice in _OPEN else "",
        }
        return [self._say(key, value=_one_line(value)) for key, value in said.items() if value]

    def _how(self, notification: Notification) -> str:
        """Where there is no web UI to lead to."""
        if notification.notice not in _OPEN:
            return self._say("notify.session", session=notification.session) if notification.session else ""
        return self._say("notify.how", session=notification.session, interrupt=notification.interrupt)

    def _say(self, key: str, **values: str) -> str:
        catalogue: Mapping[str, str] = CATALOGUE[self.language]
        return catalogue[key].format(program=PROGRAM, **values)


def _one_line(text: str, limit: int = 200) -> str:
    """Without line breaks and what else can't be seen, so that no reason can pass for more than itself."""
    line = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _moment(due: str) -> str:
    try:
        return datetime.fromisoformat(due).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    except ValueError:
        return due
