"""Owns the sentences that refuse a wrong setting. Must not know what any setting means, and never shows a value."""

import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

_KINDS = {
    "bool": "true or false",
    "dict": "a table",
    "finite": "a finite number",
    "float": "a number",
    "int": "a whole number",
    "model": "a table",
    "path": "a path",
    "string": "text",
    "tuple": "a list",
}
"""What a value has to be, by the first word of pydantic's error type (`int_parsing`, `int_type`, `int_from_float`)."""


@dataclass(frozen=True)
class Origin:
    """Where settings were read: a file (or none) under environment variables that begin with `prefix`."""

    file: Path | None
    environment: Mapping[str, str]
    prefix: str

    def where(self, *location: str) -> str:
        """The start of a sentence about one key: the variable or file that holds its value, and the key."""
        key = ".".join(location)
        own = self.prefix + "__".join(location).upper()
        variable = self._variable(location)
        if variable is not None:
            return f"Environment variable {variable}" + ("" if variable.upper() == own else f" ({key})")
        return f"{self.file}: {key}" if self.file else f"{key} ({own})"

    def unknown_variables(self, allowed: Collection[str]) -> list[str]:
        """A sentence for each variable that begins with the prefix and is no setting, such as a misspelt one."""
        return [
            f"Environment variable {name} is not a setting.{_suggestion(name.upper(), allowed)} "
            f"Allowed: {', '.join(sorted(allowed))}; a key of a section is set as {self.prefix}SECTION__KEY."
            for name in sorted(self.environment)
            if name.upper().startswith(self.prefix) and name.upper().partition("__")[0] not in allowed
        ]

    def describe(self, error: ValidationError, root: type[BaseModel]) -> str:
        """One line for each fault: the file or variable that holds the value, the key, and what is allowed there."""
        return "\n".join(self._sentence(fault, root) for fault in error.errors())

    def _sentence(self, fault: ErrorDetails, root: type[BaseModel]) -> str:
        location = tuple(str(part) for part in fault["loc"])
        where = self.where(*location)
        if fault["type"] != "extra_forbidden":
            return f"{where} must be {_allowed(fault)}"
        *sections, name = location
        for section in sections:
            annotation = root.model_fields[section].annotation
            assert isinstance(annotation, type)
            assert issubclass(annotation, BaseModel)
            root = annotation
        names = sorted(root.model_fields)
        place = f"in [{'.'.join(sections)}]" if sections else "at the top"
        return f"{where} is not a setting.{_suggestion(name, names)} Allowed {place}: {', '.join(names)}."

    def _variable(self, location: tuple[str, ...]) -> str | None:
        """The variable that a value came from: its own, else one that sets a whole section or list as JSON."""
        set_ = {name.upper(): name for name, value in self.environment.items() if value}
        for length in range(len(location), 0, -1):
            if variable := set_.get(self.prefix + "__".join(location[:length]).upper()):
                return variable
        return None


def _allowed(fault: ErrorDetails) -> str:
    context: dict[str, Any] = fault.get("ctx", {})
    match fault["type"]:
        case "literal_error":
            choices = re.findall(r"'([^']*)'", context["expected"])
            return f"one of {', '.join(choices)}." + _suggestion(str(fault["input"]), choices)
        case "greater_than":
            return f"greater than {context['gt']:g}."
        case "less_than_equal":
            return f"at most {context['le']:,.0f}."
        case "string_too_long":
            return f"text of at most {context['max_length']} characters."
        case "string_too_short":
            return "text that is not empty."
    return _KINDS[fault["type"].partition("_")[0]] + "."


def _suggestion(name: str, allowed: Collection[str]) -> str:
    close = difflib.get_close_matches(name, allowed, n=1)
    return f" Did you mean {close[0]}?" if close else ""
