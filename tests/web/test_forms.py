"""Forms from JSON Schemas: what is shown, what is meant by what is typed, and what that changes."""

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from opspilot.web.forms.differences import Sign, changed, differences
from opspilot.web.forms.fields import Fault, Field, Kind, asked_fields, fields_of
from opspilot.web.forms.reading import Filled, read

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "service": {"type": "string", "description": "Which one."},
        "environment": {"type": "string", "enum": ["staging", "production"]},
        "level": {"$ref": "#/$defs/Level"},
        "instances": {"type": "integer", "minimum": 1, "maximum": 9},
        "share": {"type": "number"},
        "drain": {"type": "boolean", "default": True},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "hosts": {"type": "array", "items": {"type": "string"}},
        "ports": {"type": "array", "items": {"type": "integer"}},
        "limits": {"$ref": "#/$defs/Limits"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "token": {"type": "string", "writeOnly": True},
    },
    "required": ["service", "environment"],
    "$defs": {
        "Level": {"enum": [1, 2, True, None]},
        "Limits": {
            "type": "object",
            "properties": {"cpu": {"type": "number"}, "memory": {"type": "string"}},
            "required": ["cpu"],
        },
    },
}
ALL: dict[str, Any] = {
    "service": "payment",
    "environment": "staging",
    "level": True,
    "instances": 2,
    "share": 0.5,
    "drain": False,
    "note": "Line one.\nLine two.",
    "hosts": ["a", "b"],
    "ports": [1, 2],
    "limits": {"cpu": 1.5, "memory": "2Gi"},
    "labels": {"team": "pay"},
    "either": 7,
    "token": "[redacted:sensitive]",
    "unknown": [None],
}


def typed(fields: tuple[Field, ...], **changes: str) -> dict[str, str]:
    """What a browser would send for a form in which only these inputs were changed, by their names."""
    sent: dict[str, str] = {}
    for field in fields:
        line_ends = re.sub("\r\n?|\n", "\r\n", field.raw)
        if field.kind is Kind.GROUP:
            sent |= typed(field.fields)
        elif field.kind is Kind.CHOICES:
            sent |= {f"{field.name}+{number}": "on" for number in field.raw.split(",") if number}
        else:
            sent[field.name] = line_ends
    return sent | changes


def edited(name: str, raw: str, current: dict[str, Any] = ALL) -> Filled:
    fields = fields_of(SCHEMA, current)
    return read(fields, {**typed(fields), name: raw})


def by_name(fields: tuple[Field, ...], name: str) -> Field:
    (found,) = [field for field in fields if field.label == name]
    return found


KINDS = {
    "service": Kind.TEXT,
    "environment": Kind.CHOICE,
    "level": Kind.CHOICE,
    "instances": Kind.INTEGER,
    "share": Kind.NUMBER,
    "drain": Kind.YES_NO,
    "note": Kind.LONG,
    "hosts": Kind.LINES,
    "ports": Kind.LINES,
    "limits": Kind.GROUP,
    "labels": Kind.JSON,
    "either": Kind.JSON,
    "token": Kind.HIDDEN,
    "unknown": Kind.JSON,
}


def test_each_parameter_has_a_field_of_its_kind() -> None:
    fields = fields_of(SCHEMA, ALL)
    assert {field.label: field.kind for field in fields} == KINDS
    service = by_name(fields, "service")
    assert (service.about, service.required, service.raw, service.name) == ("Which one.", True, "payment", "a/service")
    assert by_name(fields, "level").options == (1, 2, True)
    assert [field.name for field in by_name(fields, "limits").fields] == ["a/limits/cpu", "a/limits/memory"]


def test_a_form_that_nobody_touched_says_what_there_was() -> None:
    fields = fields_of(SCHEMA, ALL)
    filled = read(fields, typed(fields))
    assert filled.is_good
    assert filled.values == ALL
    assert changed(ALL, filled.values) == {}


EDITS: list[tuple[str, str, Any]] = [
    ("a/service", "search", "search"),
    ("a/service", " 5 ", " 5 "),
    ("a/environment", "1", "production"),
    ("a/level", "0", 1),
    ("a/instances", "12", 12),
    ("a/instances", " 3.0 ", 3),
    ("a/share", "1e-3", 0.001),
    ("a/share", "2", 2),
    ("a/drain", "true", True),
    ("a/note", "", None),
    ("a/note", "one\r\ntwo", "one\ntwo"),
    ("a/hosts", "b\r\n\r\n c ", ["b", "c"]),
    ("a/hosts", "", []),
    ("a/ports", "80\r\n443", [80, 443]),
    ("a/limits/cpu", "2", {"cpu": 2, "memory": "2Gi"}),
    ("a/limits/memory", "", {"cpu": 1.5}),
    ("a/labels", '{"team": "search"}', {"team": "search"}),
    ("a/either", '"seven"', "seven"),
    ("a/token", "new", "new"),
]


@pytest.mark.parametrize(("name", "raw", "value"), EDITS)
def test_what_is_typed_becomes_the_value_that_is_meant(name: str, raw: str, value: Any) -> None:
    filled = edited(name, raw)
    assert filled.is_good
    top = name.split("/")[1]
    assert filled.values == {**ALL, top: value}
    assert type(filled.values[top]) is type(value)
    assert changed(ALL, filled.values) == {top: value}


FAULTS: list[tuple[str, str, Fault]] = [
    ("a/service", "", Fault.NEEDED),
    ("a/environment", "", Fault.NEEDED),
    ("a/environment", "9", Fault.NO_CHOICE),
    ("a/environment", "production", Fault.NO_CHOICE),
    ("a/instances", "many", Fault.NO_INTEGER),
    ("a/instances", "1.5", Fault.NO_INTEGER),
    ("a/instances", "1_000", Fault.NO_INTEGER),
    ("a/instances", "٣", Fault.NO_INTEGER),
    ("a/share", "NaN", Fault.NO_NUMBER),
    ("a/share", "1e999", Fault.NO_NUMBER),
    ("a/drain", "maybe", Fault.NO_CHOICE),
    ("a/ports", "80\nhttp", Fault.NO_INTEGER),
    ("a/labels", "{", Fault.NO_JSON),
    ("a/either", "NaN", Fault.NO_JSON),
    ("a/labels", "[" * 100_000, Fault.NO_JSON),
]


@pytest.mark.parametrize(("name", "raw", "fault"), FAULTS, ids=[f"{name} {raw[:12]}" for name, raw, _ in FAULTS])
def test_what_can_not_be_meant_is_said_beside_its_field_and_stays_in_it(name: str, raw: str, fault: Fault) -> None:
    filled = edited(name, raw)
    assert not filled.is_good
    field = by_name(filled.fields, name.split("/")[1])
    assert (field.fault, field.raw) == (fault, raw)


def test_an_optional_value_that_was_given_falls_back_to_its_default() -> None:
    assert edited("a/drain", "").values["drain"] is True


def test_a_fault_inside_a_group_is_one_of_the_form() -> None:
    filled = edited("a/limits/cpu", "much")
    assert not filled.is_good
    assert by_name(filled.fields, "limits").fields[0].fault is Fault.NO_NUMBER


def test_an_optional_object_that_is_not_there_stays_away_until_something_of_it_is_given() -> None:
    current = {"service": "payment", "environment": "staging"}
    fields = fields_of(SCHEMA, current)
    assert read(fields, typed(fields)).values == current
    filled = read(fields, {**typed(fields), "a/limits/cpu": "3"})
    assert (filled.is_good, filled.values) == (True, {**current, "limits": {"cpu": 3}})
    filled = read(fields, {**typed(fields), "a/limits/memory": "1Gi"})
    assert not filled.is_good


def test_what_an_input_could_not_show_as_it_is_becomes_json() -> None:
    hidden = {"service": "pay\u202ement", "environment": "staging", "note": "a\rb", "hosts": ["a\nb"], "instances": "2"}
    fields = fields_of(SCHEMA, hidden)
    assert {by_name(fields, name).kind for name in ("service", "note", "hosts", "instances")} == {Kind.JSON}
    assert by_name(fields, "service").raw == '"pay\\u202ement"'
    assert read(fields, typed(fields)).values == hidden


def test_a_value_that_is_not_among_the_choices_is_shown_as_one() -> None:
    fields = fields_of(SCHEMA, {**ALL, "environment": "moon"})
    assert by_name(fields, "environment").options == ("staging", "production", "moon")


def test_names_of_parameters_are_told_apart_whatever_characters_they_have() -> None:
    names = ["a/b", "a~b", "a", "é 1"]
    schema = {"properties": {name: {"type": "string"} for name in names}}
    fields = fields_of(schema, dict.fromkeys(names, "x"))
    assert len({field.name for field in fields}) == len(names)
    assert read(fields, {**typed(fields), "a/a~1b": "y"}).values["a/b"] == "y"


@pytest.mark.parametrize(
    ("options", "kind"),
    [(["Tuesday", "Sunday"], Kind.CHOICE), ({"answer": ["Tuesday"]}, Kind.CHOICE), (None, Kind.LONG), ([], Kind.LONG)],
)
def test_a_question_offers_its_options_and_takes_other_words(options: Any, kind: Kind) -> None:
    fields = asked_fields(["answer"], {}, options)
    assert fields[0].kind is kind
    if kind is Kind.CHOICE:
        assert read(fields, {"a/answer": "0"}).values == {"answer": "Tuesday"}
        assert read(fields, {"a/answer": "0", "a/answer+": "never"}).values == {"answer": "never"}
        assert not read(fields, {}).is_good
    else:
        assert read(fields, {"a/answer": "next week"}).values == {"answer": "next week"}


def test_missing_parameters_are_asked_for_by_their_schema() -> None:
    schema = {"type": "object", "properties": {"replicas": {"type": "integer"}}, "required": ["replicas"]}
    fields = asked_fields(["replicas", "reason"], schema, {"reason": ["load"]})
    assert [(field.kind, field.required) for field in fields] == [(Kind.INTEGER, True), (Kind.CHOICE, True)]
    assert read(fields, {"a/replicas": "3", "a/reason": "0"}).values == {"replicas": 3, "reason": "load"}
    assert not read(fields, {"a/replicas": "3"}).is_good


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": {"a": True}},
        {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"properties": {"a": {"$ref": "#/nowhere"}}},
        {"properties": {"a": {"type": ["string", "integer", "null"]}}},
        {"properties": {"a": {"type": "array", "prefixItems": [{"type": "string"}]}}},
        {"properties": {"a": {"anyOf": []}}},
        {"properties": {"a": {"enum": []}}},
    ],
)
@pytest.mark.parametrize("value", ["x", 1, 1.5, True, None, [1, "x"], {"b": {"c": []}}])
def test_any_schema_has_a_form_and_an_untouched_form_changes_nothing(schema: Any, value: Any) -> None:
    fields = fields_of(schema, {"a": value})
    filled = read(fields, typed(fields))
    assert (filled.is_good, filled.values) == (True, {"a": value})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
VALUES = st.fixed_dictionaries({}, optional=dict.fromkeys(SCHEMA["properties"], JSON))


@given(VALUES)
@example({"token": "one\rtwo\r\n", "service": "\r"})
def test_whatever_the_arguments_are_an_untouched_form_keeps_them_exactly(current: dict[str, Any]) -> None:
    current = {"service": "s", "environment": "staging", **current}
    fields = fields_of(SCHEMA, current)
    filled = read(fields, typed(fields))
    assert filled.is_good
    assert json.dumps(filled.values, sort_keys=True) == json.dumps(current, sort_keys=True)


@given(VALUES, VALUES)
def test_what_changed_laid_over_what_there_was_is_what_there_is_now(old: dict[str, Any], new: dict[str, Any]) -> None:
    after = {**old, **new}
    values = changed(old, after)
    assert {**old, **values} == after
    assert bool(differences(old, after)) == bool(values)


def test_a_change_is_told_as_deep_as_it_is_and_texts_line_by_line() -> None:
    before = {"limits": {"cpu": 1, "memory": "1Gi"}, "text": "a\nb\nc", "n": 1, "gone": 1}
    after = {"limits": {"cpu": 2, "memory": "1Gi"}, "text": "a\nB\nc", "n": True, "new": [1]}
    told = {change.path: change for change in differences(before, after)}
    assert list(told) == ["limits.cpu", "text", "n", "new", "gone"]
    assert (told["limits.cpu"].before, told["limits.cpu"].after) == (1, 2)
    assert told["text"].lines == ((Sign.KEPT, "a"), (Sign.GONE, "b"), (Sign.NEW, "B"), (Sign.KEPT, "c"))
    assert (told["n"].before, told["n"].after) == (1, True)
    assert (told["new"].had, told["gone"].has) == (False, False)
