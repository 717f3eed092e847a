"""What may be said in public of a call and its failures: one line, without secrets, traces or our own paths.

Owns the wording of validation errors, exceptions and summaries. Knows nothing of how tools are run.
"""

import sys
import sysconfig
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from opspilot.core.messages import Json
from opspilot.core.sensitive import without
from opspilot.redaction import redact
from opspilot.tools.trim import json_text

__all__ = ["exception_line", "innermost", "public_line", "summary_line", "validation_line"]

_MAX_LINE_CHARS = 300
_MAX_SUMMARY_CHARS = 120
_MAX_VALUE_CHARS = 40
_MAX_ERRORS = 5
_READ_CHARS = 4000
"""More than is ever shown, and little enough to redact at once."""

_OWN_PATHS = sorted(
    {
        str(Path(__file__).resolve().parents[2]),
        *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")),
        *([sys.prefix] if sys.prefix != sys.base_prefix else []),
    },
    key=len,
    reverse=True,
)


def public_line(text: str, limit: int = _MAX_LINE_CHARS, secrets: Sequence[str] = ()) -> str:
    """One redacted line of at most `limit` characters, without control characters, our own paths, and `secrets`."""
    text = str(redact(without(text, secrets)[:_READ_CHARS]))
    for path in _OWN_PATHS:
        text = text.replace(path, "…")
    return _shorten(_one_line(text), limit)


def innermost(error: BaseException) -> BaseException:
    """What really happened: the first error inside of exception groups."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


def exception_line(error: BaseException, secrets: Sequence[str] = ()) -> str:
    """`ValueError: what it said`, or the class alone when it said nothing; without the `secrets`."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - a broken __str__ is the tool's, and must not hide its failure
        text = ""
    kind = type(error).__name__
    return public_line(f"{kind}: {text}" if text.strip() else kind, secrets=secrets)


def validation_line(
    error: ValidationError, parameters: tuple[str, ...], hidden: Collection[str] = (), secrets: Sequence[str] = ()
) -> str:
    """`field: what is wrong, got …` for each of the first errors. What was given for the `hidden` stays unsaid."""
    errors = error.errors(include_url=False, include_context=False)
    lines = [_error_line(item, parameters, hidden, secrets) for item in errors[:_MAX_ERRORS]]
    if len(errors) > _MAX_ERRORS:
        lines.append(f"and {len(errors) - _MAX_ERRORS} more")
    return "; ".join(lines)


def complaint(error: Any) -> str:
    """What a validation minds, as it stands behind a name: without pydantic's labels."""
    if error["type"] == "missing":
        return "is required"
    said: str = error["msg"]
    return said.removeprefix("Value error, ").removeprefix("Assertion failed, ").removeprefix("Input ")


def _error_line(error: Any, parameters: tuple[str, ...], hidden: Collection[str], secrets: Sequence[str]) -> str:
    names = [str(part) for part in error["loc"]]
    field = public_line(".".join(names), 80, secrets)
    if error["type"] == "extra_forbidden" and len(names) == 1:
        allowed = ", ".join(parameters) or "none"
        return f"{field}: is no parameter of this tool, which has {allowed}"
    said = f"{field}: {public_line(complaint(error), secrets=secrets)}"
    if error["type"] == "missing" or (names and names[0] in hidden):
        return said
    # Redacted together with its name: a value that has no look of a secret may stand under a telling key.
    shown = redact({names[-1] if names else "": error["input"]})
    return f"{said}, got {public_line(_value(next(iter(shown.values()))), 60, secrets)}"


def summary_line(name: str, arguments: Mapping[str, Json]) -> str:
    """`search_logs service=payment level=error`: one redacted line of at most 120 characters."""
    short = {key[:80]: value[:_READ_CHARS] if isinstance(value, str) else value for key, value in arguments.items()}
    pairs = [f"{key}={_shorten(_value(value), _MAX_VALUE_CHARS)}" for key, value in redact(short).items()]
    return _shorten(_one_line(" ".join([name, *pairs])), _MAX_SUMMARY_CHARS)


def _value(value: Json) -> str:
    """A word as it is, everything else as JSON."""
    if isinstance(value, str) and value and not any(character.isspace() or character == '"' for character in value):
        return value
    try:
        return json_text(value)
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__


def _one_line(text: str) -> str:
    """Control characters, direction marks, half characters and line ends become single spaces."""
    visible = (
        " " if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} else character for character in text
    )
    return " ".join("".join(visible).split())


def _shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
