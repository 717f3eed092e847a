"""What the journal says in English, for models and machines, said again in the language of the person who reads."""

import re
from collections.abc import Mapping
from dataclasses import fields
from functools import partial

from opspilot.core.budget import BudgetName
from opspilot.core.ghosts import OUTSIDE
from opspilot.core.limits import AS_MUCH_AGAIN, BUDGETS_USED_UP, Limits, StopReason, extended, sentence
from opspilot.core.messages import Json
from opspilot.core.observations import SENTENCES, ErrorCode
from opspilot.core.verdicts import MUST_AGREE
from opspilot.texts.language import counted, text

THEY_SAID = " They said: "
"""What stands before the comment of whoever rejected a call."""


def limits_of(started: Mapping[str, Json]) -> Limits:
    """The limits that a `run.started` entry records; defaults for those that it lacks."""
    recorded = started.get("limits")
    known = {field.name for field in fields(Limits)}
    return Limits(**{name: value for name, value in dict(recorded or {}).items() if name in known})


def ending(stopped: Mapping[str, Json], limits: Limits = Limits()) -> str:
    """Why a run ended: the sentence of its reason, and what the `run.stopped` entry adds to it."""
    message = str(stopped.get("message") or "")
    if message == OUTSIDE:
        return text("ended.outside")
    try:
        reason = StopReason(str(stopped.get("stop_reason")))
    except ValueError:
        return message or str(stopped.get("stop_reason") or "")
    if reason is StopReason.BUDGET and message.startswith(BUDGETS_USED_UP):
        return text("ended.budgets") + told_of_budgets(message.removeprefix(BUDGETS_USED_UP))
    limits = extended(limits, stopped.get("grants") or ())
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
    rest = message.removeprefix(recorded)
    if rest.startswith(THEY_SAID):
        rest = text("web.settled.comment", comment=rest.removeprefix(THEY_SAID))
    return text(f"failed.{code.value}") + rest


def figures(stopped: Json) -> list[str]:
    """Steps, tokens and cost of a `run.stopped` entry, as far as they are known."""
    usage = stopped.get("usage") or {}
    parts = [counted("figures.steps", int(stopped.get("steps") or 0))]
    read, written = usage.get("input_tokens", 0), usage.get("output_tokens", 0)
    if read + written:
        parts.append(
            text("figures.tokens", total=f"{read + written:,}", read=f"{read:,}", written=f"{written:,}"),
        )
    if (cost := stopped.get("cost")) is not None:
        parts.append(text("figures.cost", cost=f"{cost:.4f}"))
    return parts


def is_about_limit(question: Mapping[str, Json]) -> bool:
    """Is it the question whether a run may go on, which no call asks?"""
    return str(question.get("interrupt")).startswith("limit#")


def asked(question: Mapping[str, Json]) -> str:
    """What a person is asked: the data of an `interrupt.opened` entry, or a row of the journal."""
    return question_told(str(question.get("reason") or ""))


def question_told(reason: str) -> str:
    """A question that OpsPilot itself asks, about a limit or before a built-in tool runs.

    What a rule, another tool or a model wrote stays as it is.
    """
    if reason.endswith(AS_MUCH_AGAIN):
        return text("limit.budgets", budgets=told_of_budgets(reason.removesuffix(AS_MUCH_AGAIN).rstrip()))
    if steps := _MORE_STEPS.fullmatch(reason):
        return counted("limit.max_steps", int(steps[1].replace(",", "")))
    for key, pattern in _QUESTIONS.items():
        if found := pattern.fullmatch(reason):
            return text(key, **found.groupdict())
    return reason


def told_of_budgets(sentences: str) -> str:
    """How budgets stand: the sentences of `opspilot.core.budget`, whatever stands around them."""
    for budget, pattern in _OF_BUDGETS.items():
        sentences = pattern.sub(partial(_told, f"budget.{budget.value}"), sentences)
    return sentences


def _told(key: str, found: re.Match[str]) -> str:
    return text(key, **found.groupdict())


_OF_BUDGETS = {
    BudgetName.SESSION_TOKENS: re.compile(
        r"Session (?P<whose>\S+) has used (?P<used>[\d,]+) of its (?P<allowed>[\d,]+) tokens\."
    ),
    BudgetName.SESSION_COST: re.compile(
        r"Session (?P<whose>\S+) has cost (?P<used>[\d,.]+); it may cost (?P<allowed>[\d,.]+)\."
    ),
    BudgetName.USER_TOKENS: re.compile(
        r"(?P<whose>\S+) has used (?P<used>[\d,]+) of (?P<allowed>[\d,]+) tokens within (?P<hours>[\d.e+-]+) h\."
    ),
    BudgetName.USER_COST: re.compile(
        r"(?P<whose>\S+) has spent (?P<used>[\d,.]+) within (?P<hours>[\d.e+-]+) h; (?P<allowed>[\d,.]+) may be spent\."
    ),
}
"""Sessions and people whose name is one word; others keep their English."""

_MORE_STEPS = re.compile(r"The limit of this run is reached\. Go on for ([\d,]+) more steps?\?")

_NAME = r"[a-z0-9][a-z0-9-]*"
_QUESTIONS = {
    key: re.compile(pattern)
    for key, pattern in {
        "limit.timeout": r"The time of this run is used up\. Go on for (?P<more>[\d.e+]+) more seconds\?",
        "limit.too_many_fails": r"(?P<more>\d+) tool calls in a row failed\. Go on all the same\?",
        "limit.loop_detected": (r"The same call was made again and again without anything new\. Go on all the same\?"),
        "limit.budget": r"The budget of this run is used up\. Go on for (?P<more>[\d,]+) more tokens\?",
        "asking.agreement": re.escape(MUST_AGREE),
        "asking.restart": rf"Restart (?P<service>{_NAME})\? Requests that it is serving may fail\.",
        "asking.restart_in": (
            rf"Restart (?P<service>{_NAME}) in (?P<environment>{_NAME})\? Requests that it is serving may fail\."
        ),
        "asking.environment": rf"In which environment should (?P<service>{_NAME}) be restarted\?",
    }.items()
}
"""Those of limits, of a call that no rule says a reason for, and of the tool `restart_service`."""
