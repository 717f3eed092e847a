"""Questions to people as AG-UI interrupts, and the resume entries that answer them.

The name of an interrupt holds the digest of what it shows, so that an approval is for that and nothing else. As the
protocol recommends, an agreement is `{"approved": true}`, an edit has `editedArgs` beside it, a denial is
`{"approved": false}` or an abandoned interrupt.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ag_ui.core import Interrupt as AskedOutside
from ag_ui.core import ResumeEntry

from opspilot.core.calls import digest
from opspilot.core.interrupts import AnswerAction
from opspilot.core.messages import Json
from opspilot.texts.language import text
from opspilot.web.agui.telling import OURS, call_id, sound
from opspilot.web.answering import Given
from opspilot.web.asked import FREE_TEXT, Card
from opspilot.web.refusing import Refused

MOST_COMMENT_CHARACTERS = 4000


@dataclass(frozen=True)
class Named:
    """What the name of an interrupt says."""

    run: str
    interrupt: str
    digest: str


def asked_outside(card: Card) -> AskedOutside:
    """A question as whoever connects is asked it; what else is known of it is in the metadata."""
    row = card.question
    known: dict[str, Json] = {
        "interrupt": row.interrupt,
        "kind": row.kind,
        "tool": row.tool,
        "arguments": dict(card.arguments),
        "rule": row.rule,
        "risk": row.risk,
        "roles": list(row.roles),
        "quorum": row.quorum,
        "approvals": [approval.by for approval in row.approvals],
        "requester": row.requester,
        "answers": [action.value for action in card.answers],
        "page": card.address,
    }
    return AskedOutside(
        id=f"{row.run}/{row.interrupt}/{row.digest}",
        reason=_reason(card),
        message=sound(card.sentence),
        tool_call_id=None if card.is_about_limit else call_id(row.run, row.call),
        response_schema=_agreement(card) if card.confirms else _form(card),
        expires_at=None if row.due is None else row.due.isoformat(),
        metadata={OURS: known},
    )


def named(interrupt_id: str) -> Named | None:
    """The question that a resume entry names; None: this can't be one of ours."""
    parts = interrupt_id.rsplit("/", 2)
    return Named(*parts) if len(parts) == 3 else None


def given(entry: ResumeEntry, question: Named, card: Card) -> Given:
    """The answer that an entry gives to this open question. Raises `Refused` (422) when it can't be told which."""
    id_ = digest([entry.interrupt_id, entry.status, entry.payload])
    if entry.status == "cancelled":
        return Given(AnswerAction.REJECT, question.digest, {}, _comment(entry.metadata), id_)
    if not card.confirms:
        return Given(AnswerAction.PROVIDE, question.digest, _values(entry, card), "", id_)
    said = entry.payload if isinstance(entry.payload, Mapping) else {"approved": entry.payload}
    approved, comment = said.get("approved"), _comment(said)
    if not isinstance(approved, bool):
        raise _not_understood(entry, '{"approved": true}')
    if not approved:
        return Given(AnswerAction.REJECT, question.digest, {}, comment, id_)
    if changed := _edit(entry, said.get("editedArgs"), card):
        return Given(AnswerAction.PROVIDE, question.digest, changed, comment, id_)
    return Given(AnswerAction.APPROVE, question.digest, {}, comment, id_)


def _reason(card: Card) -> str:
    """One of the protocol's own three."""
    if not card.confirms:
        return "input_required"
    return "confirmation" if card.is_about_limit else "tool_call"


def _agreement(card: Card) -> dict[str, Json]:
    properties: dict[str, Json] = {"approved": {"type": "boolean"}, "comment": {"type": "string"}}
    if card.may_provide and card.question.schema:
        properties["editedArgs"] = {**card.question.schema, "description": "All arguments, changed or not."}
    return {"type": "object", "properties": properties, "required": ["approved"]}


def _form(card: Card) -> dict[str, Json]:
    payload = card.question.payload if isinstance(card.question.payload, Mapping) else {}
    if isinstance(payload.get("schema"), Mapping):
        return dict(payload["schema"])
    names = [field.path[-1] for field in card.fields] or [FREE_TEXT]
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names}


def _values(entry: ResumeEntry, card: Card) -> dict[str, Json]:
    if isinstance(entry.payload, Mapping):
        return dict(entry.payload)
    if len(card.fields) == 1 and entry.payload is not None:
        return {card.fields[0].path[-1]: entry.payload}
    raise _not_understood(entry, "{" + ", ".join(f'"{field.path[-1]}": …' for field in card.fields) + "}")


def _edit(entry: ResumeEntry, edited: Any, card: Card) -> dict[str, Json]:
    """What it changes. All arguments have to be there: one that is left out would stay, and not be gone."""
    if edited is None:
        return {}
    if not isinstance(edited, Mapping) or not card.question.tool or set(card.arguments) - set(edited):
        raise _not_understood(entry, '{"approved": true, "editedArgs": {…}}')
    return {
        name: value for name, value in edited.items() if name not in card.arguments or card.arguments[name] != value
    }


def _comment(said: Mapping[str, Any] | None) -> str:
    comment = (said or {}).get("comment")
    return comment[:MOST_COMMENT_CHARACTERS] if isinstance(comment, str) else ""


def _not_understood(entry: ResumeEntry, wanted: str) -> Refused:
    return Refused(422, "not_understood", text("web.agui.payload", interrupt=entry.interrupt_id, wanted=wanted))
