"""A question's own page, and where answers to it go: approve, reject, change the arguments, give what is missing.

A browser without scripts is led on to what the journal says of it; with htmx the question's card is replaced.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from opspilot.core.entries import assistant_key
from opspilot.core.errors import OpsPilotError
from opspilot.core.interrupts import AnswerAction, Principal
from opspilot.core.messages import Json
from opspilot.fate import Outcome
from opspilot.journal.queries import InterruptRow
from opspilot.texts.language import text
from opspilot.web import answering
from opspilot.web.answering import FIT_FOR_ID, Given, Told
from opspilot.web.asked import Card, card, question_address
from opspilot.web.backend import Backend, Served
from opspilot.web.forms.checking import checked
from opspilot.web.forms.differences import Change, changed, differences, left_out
from opspilot.web.forms.fields import Field, fields_of, taken_away
from opspilot.web.forms.reading import Filled, read
from opspilot.web.people.guard import Answerer, Looker
from opspilot.web.questions import find_question
from opspilot.web.refusing import Refused, refused_of
from opspilot.web.rendering import is_partial, page

router = APIRouter()

PATH = "/sessions/{session}/questions/{interrupt}"
MOST_COMMENT_CHARACTERS = 4000
TONES = {
    Outcome.SETTLED: "good",
    Outcome.COUNTED: "good",
    Outcome.ASKED_AGAIN: "info",
    Outcome.IGNORED: "warn",
    Outcome.KEPT: "info",
    Outcome.GIVEN: "info",
}
RECORDED = frozenset({Outcome.SETTLED, Outcome.COUNTED, Outcome.ASKED_AGAIN})
"""Outcomes that the journal shows whoever looks again."""


@dataclass(frozen=True)
class Review:
    """An edit before it is sent: what it changes, the new values, and the names that are left out, both as JSON."""

    changes: tuple[Change, ...]
    values: str
    without: str


@router.get(PATH)
async def show_question(request: Request, session: str, interrupt: str, who: Looker, backend: Served) -> Response:
    """A question of the session's current run, open or settled."""
    return _shown(request, await _card(backend, who.principal, session, interrupt))


@router.post(PATH)
async def answer_question(request: Request, session: str, interrupt: str, who: Answerer, backend: Served) -> Response:
    """What somebody pressed: an answer, or a step on the way to one."""
    posted = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
    asked = await _card(backend, who.principal, session, interrupt)
    match posted.get("action", ""):
        case "show":
            return _shown(request, asked)
        case "change" | "review" as step:
            return _edited(request, asked, posted, review=step == "review")
        case "edit":
            given = _given(AnswerAction.PROVIDE, posted, _values(posted), _without(posted))
            return await _give(request, backend, asked, given, _form_again(asked, posted))
        case "provide":
            filled = _checked(read(asked.fields, posted), asked.schema, {})
            if not filled.is_good:
                return _shown(request, asked, 422, ("warn", text("ui.edit.faulty")), fields=filled.fields)
            given = _given(AnswerAction.PROVIDE, posted, filled.values)
            return await _give(request, backend, asked, given, filled.fields)
        case "approve" | "reject" as action:
            return await _give(request, backend, asked, _given(AnswerAction(action), posted, {}))
        case action:
            raise Refused(422, "not_understood", text("web.not_understood", what=repr(action[:100])))


def _edited(request: Request, asked: Card, posted: Mapping[str, str], *, review: bool) -> Response:
    """The form to edit in, or what the edit would change."""
    if not (asked.is_open and asked.confirms and asked.may_provide):
        return _shown(request, asked, 409 if not asked.is_open else 403)
    if posted.get("digest") != asked.question.digest:
        return _shown(request, asked, 409, ("warn", text("web.changed")))
    if not review:
        return _shown(request, asked, fields=_form_again(asked, posted))
    filled = _checked(read(asked.fields, posted), asked.schema, asked.arguments)
    if not filled.is_good:
        return _shown(request, asked, 422, ("warn", text("ui.edit.faulty")), fields=filled.fields)
    values, without = changed(asked.arguments, filled.values), left_out(asked.arguments, filled.values)
    if not (values or without):
        return _shown(request, asked, 200, ("info", text("ui.edit.nothing")), fields=filled.fields)
    changes = differences(asked.arguments, filled.values)
    return _shown(request, asked, review=Review(changes, json.dumps(values), json.dumps(without)))


async def _give(
    request: Request, backend: Backend, asked: Card, given: Given, form: tuple[Field, ...] | None = None
) -> Response:
    """Give the answer, and show what came of it. One that was no good is shown with what had been typed."""
    row, who = asked.question, asked.who
    told: Told | None = None
    try:
        told = await answering.give(backend, who, row.session, row.interrupt, given)
    except (Refused, OpsPilotError) as error:
        refused = refused_of(error)
        status, notice = refused.status, ("warn", refused.message)
    else:
        status, notice = 200, (TONES[told.outcome], told.message)
    if told is not None and told.outcome in RECORDED and not is_partial(request):
        return RedirectResponse(question_address(row.session, row.interrupt), 303)
    now = await _card(backend, who, row.session, row.interrupt)
    if told is None and not now.is_open:
        # Who settled it, and how, is what the card says.
        return _shown(request, now, status)
    return _shown(
        request, now, status, notice, fields=form if told is None or told.outcome is Outcome.IGNORED else None
    )


def _checked(filled: Filled, schema: Mapping[str, Json], before: Mapping[str, Json]) -> Filled:
    """What isn't understood is said first."""
    return checked(filled, schema, before) if filled.is_good else filled


def _form_again(asked: Card, posted: Mapping[str, str]) -> tuple[Field, ...]:
    """The form with what an edit has changed."""
    return taken_away(fields_of(asked.schema, {**asked.arguments, **_values(posted)}), _without(posted))


def _given(
    action: AnswerAction, posted: Mapping[str, str], values: Mapping[str, Json], without: tuple[str, ...] = ()
) -> Given:
    comment = posted.get("comment", "").strip()
    if len(comment) > MOST_COMMENT_CHARACTERS:
        raise Refused(422, "not_understood", text("web.not_understood", what="comment"))
    id_ = posted.get("id", "")
    known = id_ if FIT_FOR_ID.fullmatch(id_) else ""
    return Given(action, posted.get("digest", ""), values, comment, known, without)


def _values(posted: Mapping[str, str]) -> dict[str, Json]:
    """What an edit that was shown has changed."""
    try:
        values = json.loads(posted.get("values") or "{}")
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise Refused(422, "not_understood", text("web.not_understood", what="values"))
    return values


def _without(posted: Mapping[str, str]) -> tuple[str, ...]:
    """What an edit that was shown leaves out."""
    try:
        names = json.loads(posted.get("without") or "[]")
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Refused(422, "not_understood", text("web.not_understood", what="without"))
    return tuple(names)


async def _card(backend: Backend, who: Principal, session: str, interrupt: str) -> Card:
    found = await backend.read(find_question, backend.journal, session, interrupt)
    if found is None:
        raise Refused(404, "no_such_question", text("web.no_question", session=session, interrupt=interrupt))
    return card(found, who, await backend.read(said_before, backend, found))


def said_before(backend: Backend, question: InterruptRow) -> str:
    """What the model wrote in the step that led to the question; nothing led to one about a limit."""
    step = question.call.partition(".")[0]
    if not step.isdecimal():
        return ""
    key = assistant_key(question.run, int(step))
    found = backend.journal.find(question.session, [key])
    return str(found[key].data.get("text") or "") if key in found else ""


def _shown(
    request: Request,
    asked: Card,
    status: int = 200,
    notice: tuple[str, str] | None = None,
    *,
    review: Review | None = None,
    fields: tuple[Field, ...] | None = None,
) -> Response:
    values: dict[str, Any] = {"card": asked, "notice": notice, "review": review, "fields": fields}
    if not is_partial(request):
        return page(request, "question.html", status=status, **values)
    # By name: the card that this was sent from may have been replaced meanwhile, since others see what happened, too.
    where = {"HX-Retarget": f"#{asked.id}"}
    return page(request, "_question.html", status=status, headers=where, **values)
