"""What the journal says in English, for models and machines, said again in the language of the person who reads."""

from collections.abc import Mapping
from dataclasses import fields

from opspilot.core.limits import Limits, StopReason, sentence
from opspilot.core.messages import Json
from opspilot.core.observations import SENTENCES, ErrorCode
from opspilot.texts.language import text


def limits_of(started: Mapping[str, Json]) -> Limits:
    """The limits that a `run.started` entry records; defaults for those that it lacks."""
    recorded = started.get("limits")
    known = {field.name for field in fields(Limits)}
    return Limits(**{name: value for name, value in dict(recorded or {}).items() if name in known})


def ending(stopped: Mapping[str, Json], limits: Limits = Limits()) -> str:
    """Why a run ended: the sentence of its reason, and what the `run.stopped` entry adds to it."""
    message = str(stopped.get("message") or "")
    try:
        reason = StopReason(str(stopped.get("stop_reason")))
    except ValueError:
        return message or str(stopped.get("stop_reason") or "")
    recorded = sentence(reason, limits)
    if message and not message.startswith(recorded):
        return message
    said = text(
        f"ended.{reason.value}",
        steps=limits.steps,
        seconds=f"{limits.active_seconds:g}",
        failures=limits.failures_in_a_row,
        tokens=limits.tokens,
    )
    return said + message.removeprefix(recorded)


def failure(result: Mapping[str, Json]) -> str:
    """What a failed call says of itself. A code's own sentence is translated; what a tool wrote stays as it is."""
    message = str(result.get("message") or "")
    try:
        code = ErrorCode(str(result.get("errorCode")))
    except ValueError:
        return message
    recorded = SENTENCES.get(code, "")
    if not recorded or not message.startswith(recorded):
        return message
    return text(f"failed.{code.value}") + message.removeprefix(recorded)
