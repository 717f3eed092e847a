"""Answers from a command line outside local mode: through the server that people sign in to, never with its key.

The server knows who it is by their token, signs the answer, and says what became of it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeAlias
from urllib.parse import quote

import httpx

from opspilot.core.contract import AnswerReceipt
from opspilot.core.errors import OpsPilotError, Unreachable, UsageError
from opspilot.core.interrupts import Answer
from opspilot.fate import Outcome
from opspilot.settings import Settings
from opspilot.texts.language import spoken, text

Answers: TypeAlias = Callable[[str, Answer], Awaitable[AnswerReceipt]]

CONNECT_SECONDS = 10.0
REPLY_SECONDS = 60.0
"""The server waits for the run, too."""


@dataclass(frozen=True)
class Told(AnswerReceipt):
    """The server has waited for the run: `message` says what became of the answer, `approvals` of `quorum` agree."""

    outcome: Outcome = Outcome.GIVEN
    approvals: int = 0
    quorum: int = 1


def answers(settings: Settings) -> Answers:
    """The way that answers of these settings go. What is missing for it is only said when somebody answers."""

    async def give(session: str, answer: Answer) -> AnswerReceipt:
        url = settings.web.url
        if not url:
            raise UsageError(text("remote.no_server"))
        if settings.token is None:
            raise UsageError(text("remote.no_token", url=url))
        return await _post(url, settings.token.get_secret_value(), session, answer)

    return give


async def _post(url: str, token: str, session: str, answer: Answer) -> AnswerReceipt:
    where = f"{url}/api/interrupts/{quote(session, safe='')}/{quote(answer.interrupt, safe='')}/answer"
    body = {
        "id": answer.id,
        "action": answer.action.value,
        "values": dict(answer.values),
        **({"without": list(answer.without)} if answer.without else {}),
        "comment": answer.comment,
        "digest": answer.digest,
    }
    headers = {"Authorization": f"Bearer {token}", "Accept-Language": spoken().value}
    timeout = httpx.Timeout(REPLY_SECONDS, connect=CONNECT_SECONDS)
    try:
        async with httpx.AsyncClient(timeout=timeout, follow_redirects=False) as client:
            response = await client.post(where, json=body, headers=headers)
    except httpx.HTTPError as error:
        raise Unreachable(text("remote.silent", url=url, why=str(error) or type(error).__name__)) from None
    return _receipt(url, response)


def _receipt(url: str, response: httpx.Response) -> AnswerReceipt:
    try:
        said: Any = response.json()
        message, outcome = str(said["message"]), Outcome(said.get("outcome", Outcome.GIVEN))
        approvals, quorum = int(said.get("approvals", 0)), int(said.get("quorum", 1))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise OpsPilotError(text("remote.strange", url=url, status=response.status_code)) from None
    if response.status_code == HTTPStatus.UNAUTHORIZED:
        raise UsageError(text("remote.refused", url=url, why=message))
    if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
        raise Unreachable(message)
    if response.is_error or outcome is Outcome.IGNORED:
        raise UsageError(message)
    return Told(message, outcome, approvals, quorum)
