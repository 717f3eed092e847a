"""One answer of one person, from the door to what the journal says of it. For pages and API alike.

What the person is told: that it settled the question, that it counts and more are needed, that it was not taken and
why, or that it is kept until a worker is back.
"""

import asyncio
import hashlib
import json
import re
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from opspilot.core.errors import UsageError
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.messages import Json
from opspilot.fate import Fate, Outcome, fate_of, not_taken
from opspilot.journal.queries import InterruptRow
from opspilot.texts.language import text
from opspilot.web.backend import Backend
from opspilot.web.people.rights import APPROVER, may_answer
from opspilot.web.questions import OPEN, find_question, settled_sentence
from opspilot.web.refusing import Refused

CHECK_SECONDS = 5.0
"""How long the run may take to judge an answer before we say that it has it."""
POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Given:
    """What somebody says. `id` makes a retried request the same answer; empty: one is made."""

    action: AnswerAction
    digest: str
    values: Mapping[str, Json] = field(default_factory=dict)
    comment: str = ""
    id: str = ""
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Told:
    """What they are told. `approvals` of `quorum` people have agreed."""

    outcome: Outcome
    message: str
    id: str
    approvals: int = 0
    quorum: int = 1


async def give(backend: Backend, who: Principal, session: str, interrupt: str, given: Given) -> Told:
    """Give an answer and wait a moment for what comes of it.

    Raises `Refused`: 404 no such question, 403 not for them to say, 409 it is settled or isn't what was shown, 400 the
    answer can't be meant; `Unreachable` without a Temporal.
    """
    id_ = given.id or uuid.uuid4().hex
    asked = await backend.read(find_question, backend.journal, session, interrupt)
    if asked is None:
        raise Refused(404, "no_such_question", text("web.no_question", session=session, interrupt=interrupt))
    answer = Answer(
        id=_bound(who, asked, id_),
        interrupt=interrupt,
        action=given.action,
        principal=who,
        values=given.values,
        comment=given.comment,
        digest=given.digest,
        without=given.without,
    )
    if told := await _known(backend, asked, answer, id_):
        return told
    if not may_answer(who, asked, given.action):
        raise Refused(403, "not_allowed", _why_not(who, asked, given.action))
    if given.digest != asked.digest:
        raise Refused(409, "changed", text("web.changed"))
    pilot = await backend.pilot(who)
    try:
        receipt = await pilot.answer(session, answer)
    except UsageError as error:
        # Most often because another one came first, of which the journal tells.
        now = await backend.read(find_question, backend.journal, session, interrupt) or asked
        return await _known(backend, now, answer, id_) or _told(not_taken(now, str(error)), id_)
    if receipt.message == text("answer.kept"):
        return Told(Outcome.KEPT, receipt.message, id_, len(asked.approvals), asked.quorum)
    return await _await(backend, asked, answer, id_)


def _bound(who: Principal, asked: InterruptRow, id_: str) -> str:
    """The id as the run knows it: of this person and question, so that nobody can use up another one's."""
    whole = json.dumps([who.id, asked.session, asked.run, asked.interrupt, id_])
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


async def _known(backend: Backend, asked: InterruptRow, answer: Answer, id_: str) -> Told | None:
    """What the journal says of this very answer; None: nothing yet. Raises `Refused` when another one settled it."""
    fate = await backend.read(fate_of, backend.journal, asked, answer)
    if asked.state != OPEN and (fate is None or fate.outcome in (Outcome.IGNORED, Outcome.COUNTED)):
        raise Refused(409, "settled", settled_sentence(asked))
    return None if fate is None else _told(fate, id_)


async def _await(backend: Backend, asked: InterruptRow, answer: Answer, id_: str) -> Told:
    deadline = time.monotonic() + CHECK_SECONDS
    while time.monotonic() < deadline:
        now = await backend.read(find_question, backend.journal, asked.session, asked.interrupt)
        if now is None or now.run != asked.run:
            break
        if told := await _known(backend, now, answer, id_):
            return told
        await asyncio.sleep(POLL_SECONDS)
    return Told(Outcome.GIVEN, text("told.given"), id_, len(asked.approvals), asked.quorum)


def _told(fate: Fate, id_: str) -> Told:
    return Told(fate.outcome, fate.message, id_, fate.approvals, fate.quorum)


def _why_not(who: Principal, asked: InterruptRow, action: AnswerAction) -> str:
    if action is AnswerAction.APPROVE:
        if asked.not_requester and who.id == asked.requester:
            return text("web.may_not.own")
        if who.id in [approval.by for approval in asked.approvals]:
            return text("web.may_not.twice")
    return text("web.may_not.decide", roles=", ".join(asked.roles or (APPROVER,)))


FIT_FOR_ID = re.compile(r"[A-Za-z0-9._-]{1,100}")
"""An id that a caller may give to an answer or a message."""
