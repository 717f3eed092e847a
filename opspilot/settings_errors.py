"""Owns the sentences that refuse a wrong setting. Must not know what any setting means, and never shows a value."""

import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from opspilot.texts.language import text


@dataclass(frozen=True)
class Origin:
    """Where settings were read: a file (or none) under environment variables that begin with `prefix`."""

    file: Path | None
    environment: Mapping[str, str]
    prefix: str

    def where(self, *location: str) -> str:
        """The start of a sentence about one key: the variable or file that holds its value, and the key.

        `#2` is the second of a list: `where("policy", "rules", "#2")`.
        """
        key = ".".join(location).replace(".#", "#")
        own = self.prefix + "__".join(location).upper()
        variable = self._variable(location)
        if variable is not None:
            if variable.upper() == own:
                return text("settings.variable", variable=variable)
            return text("settings.variable.part", variable=variable, key=key)
        return f"{self.file}: {key}" if self.file else f"{key} ({own})"

    def unknown_variables(self, allowed: Collection[str]) -> list[str]:
        """A sentence for each variable that begins with the prefix and is no setting, such as a misspelt one."""
        return [
            text(
                "settings.unknown.variable",
                where=text("settings.variable", variable=name),
                guess=_suggestion(name.upper(), allowed),
                allowed=", ".join(sorted(allowed)),
                prefix=self.prefix,
            )
            for name in sorted(self.environment)
            if name.upper().startswith(self.prefix) and name.upper().partition("__")[0] not in allowed
        ]

    def describe(self, error: ValidationError, root: type[BaseModel]) -> str:
        """One line for each fault: the file or variable that holds the value, the key, and what is allowed there."""
        return "\n".join(self._sentence(fault, root) for fault in error.errors())

    def _sentence(self, fault: ErrorDetails, root: type[BaseModel]) -> str:
        location = tuple(f"#{part + 1}" if isinstance(part, int) else part for part in fault["loc"])
        where = self.where(*location)
        if fault["type"] != "extra_forbidden":
            what, guess = what_is_allowed(fault)
            return text("settings.must", where=where, what=what) + guess
        *sections, name = location
        names = sorted(_section(root, sections).model_fields)
        guess, allowed = _suggestion(name, names), ", ".join(names)
        if not sections:
            return text("settings.unknown.top", where=where, guess=guess, allowed=allowed)
        section = ".".join(part for part in sections if not part.startswith("#"))
        section = f"[{section}]" if sections[-1].startswith("#") else section
        return text("settings.unknown.key", where=where, guess=guess, section=section, allowed=allowed)

    def _variable(self, location: tuple[str, ...]) -> str | None:
        """The variable that a value came from: its own, else one that sets a whole section or list as JSON."""
        set_ = {name.upper(): name for name, value in self.environment.items() if value}
        for length in range(len(location), 0, -1):
            if variable := set_.get(self.prefix + "__".join(location[:length]).upper()):
                return variable
        return None


def _section(root: type[BaseModel], sections: list[str]) -> type[BaseModel]:
    """The model of a section; in a list of tables it is `#1`, below a table of tables the names are the person's."""
    annotation: Any = root
    for section in sections:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            annotation = annotation.model_fields[section].annotation
        else:
            annotation = get_args(annotation)[0 if section.startswith("#") else 1]
    assert isinstance(annotation, type)
    assert issubclass(annotation, BaseModel)
    return annotation


def what_is_allowed(fault: ErrorDetails) -> tuple[str, str]:
    """What a value has to be, behind `must be`, and what may have been meant. Of the value itself nothing is said."""
    context: dict[str, Any] = fault.get("ctx", {})
    match fault["type"]:
        case "literal_error":
            choices = re.findall(r"'([^']*)'", context["expected"])
            return text("settings.must.choice", choices=", ".join(choices)), _suggestion(str(fault["input"]), choices)
        case "greater_than":
            return text("settings.must.greater", least=f"{context['gt']:g}"), ""
        case "greater_than_equal":
            return text("settings.must.least", least=f"{context['ge']:g}"), ""
        case "less_than_equal":
            return text("settings.must.most", most=f"{context['le']:,.0f}"), ""
        case "string_too_long":
            return text("settings.must.short", most=context["max_length"]), ""
        case "string_too_short":
            return text("settings.must.filled"), ""
        case "too_short":
            return text("settings.must.some"), ""
        case "duration":
            return text("settings.kind.duration", days=context["days"]), ""
        case "string_pattern_mismatch":
            return text("settings.must.word"), ""
    # pydantic's error types begin with what was wanted: `int_parsing`, `int_type`, `int_from_float`.
    return text(f"settings.kind.{fault['type'].partition('_')[0]}"), ""


def _suggestion(name: str, allowed: Collection[str]) -> str:
    close = difflib.get_close_matches(name, allowed, n=1)
    return text("settings.guess", name=close[0]) if close else ""
