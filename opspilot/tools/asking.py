"""What a person is asked about a call: a tool's own question made fit to be shown, and the sentence for a held call.

Owns the form that a question about missing parameters comes with. Knows nothing of who may answer, or where.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from opspilot.core.interrupts import Interrupt, InterruptType
from opspilot.core.messages import Json
from opspilot.core.sensitive import without
from opspilot.redaction import redact
from opspilot.tools.public import public_line
from opspilot.tools.results import Unusable
from opspilot.tools.spec import Tool
from opspilot.tools.trim import json_text

__all__ = ["asked", "sentence"]

_MAX_REASON_CHARS = 1000


def asked(interrupt: Interrupt, tool: Tool, secrets: Sequence[str], max_chars: int) -> Interrupt:
    """The question as people are shown it: redacted, without the call's sensitive values, its fields by name alone.

    One about missing parameters has a `schema` for the form. Raises `Unusable` for one of more than `max_chars`
    characters of JSON.
    """
    given = without(dict(interrupt.payload), secrets)
    payload = redact({name: part for name, part in given.items() if name != "schema"})
    fields = _fields(payload.get("fields"))
    if fields:
        payload["fields"] = list(fields)
    # A schema is the tool's code; redacted, a parameter named `token` would be of no type.
    if "schema" in given:
        payload["schema"] = given["schema"]
    elif fields and interrupt.type is InterruptType.PARAMS_REQUIRED:
        payload["schema"] = _form(fields, payload.get("options"), tool.input_schema)
    if len(json_text(payload)) > max_chars:
        raise Unusable(f"returned an interrupt of more than {max_chars} characters")
    return replace(interrupt, reason=public_line(interrupt.reason, _MAX_REASON_CHARS, secrets), payload=payload)


def sentence(tool: Tool, values: Mapping[str, Any], secrets: Sequence[str]) -> str:
    """What the tool would have a person asked before this call, on one line; empty when it says nothing.

    `values` are the function's. What the tool's code raises here is no reason not to ask.
    """
    try:
        said = tool.question(**values) if callable(tool.question) else tool.question
        return public_line(str(said), secrets=secrets) if said else ""
    except Exception:  # noqa: BLE001 - the person is asked in general words instead
        return ""


def _fields(given: Json) -> dict[str, str]:
    """What is asked for, by name, with its description. Tools give names, or objects with `name` and `description`."""
    described: dict[str, str] = {}
    for field in given if isinstance(given, list) else ():
        name = field.get("name") if isinstance(field, dict) else field
        about = field.get("description") if isinstance(field, dict) else ""
        if isinstance(name, str) and name:
            described[name] = about if isinstance(about, str) else ""
    return described


def _form(fields: Mapping[str, str], options: Json, schema: Mapping[str, Json]) -> dict[str, Json]:
    """A JSON Schema of just these fields, as the tool declares them. One that it doesn't know is a text."""
    declared: Mapping[str, Json] = schema["properties"]
    properties: dict[str, Json] = {}
    for name, about in fields.items():
        offered = options.get(name) if isinstance(options, dict) else options if len(fields) == 1 else None
        rule = _asked(declared[name]) if name in declared else {"type": "string"}
        if isinstance(offered, list) and offered:
            rule = {
                **{key: rule[key] for key in ("description", "writeOnly", "format") if key in rule},
                "enum": offered,
            }
        properties[name] = {**rule, "description": about} if about else rule
    form = {"type": "object", "properties": properties, "required": list(fields), "additionalProperties": False}
    return {**form, "$defs": schema["$defs"]} if "$defs" in schema else form


def _asked(rule: Mapping[str, Json]) -> dict[str, Json]:
    """What is declared of a parameter, without the ways of leaving it out: whoever is asked gives a value."""
    rest = {key: value for key, value in rule.items() if key != "default"}
    branches = [branch for branch in rest.get("anyOf", ()) if branch != {"type": "null"}]
    if len(branches) == 1:
        del rest["anyOf"]
        return {**branches[0], **rest}
    return {**rest, "anyOf": branches} if branches else rest
