"""Forms for the arguments that tools really have: pydantic models in models, unions, lists of them, dates, bounds."""

import json
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, TypeAdapter, create_model

from opspilot.web.forms.checking import checked
from opspilot.web.forms.differences import changed, differences, left_out
from opspilot.web.forms.fields import Fault, Kind, fields_of, taken_away
from opspilot.web.forms.fields import Field as FormField
from opspilot.web.forms.reading import Filled, read
from tests.web.odd_arguments import GIVEN, SCHEMA
from tests.web.test_forms import by_name, typed


def form() -> tuple[FormField, ...]:
    return fields_of(SCHEMA, GIVEN)


def filled(**changes: str) -> Filled:
    """The form with these inputs changed, by their names behind `a/`; two underscores stand for a slash."""
    fields = form()
    sent = typed(fields, **{f"a/{name.replace('__', '/')}": raw for name, raw in changes.items()})
    got = read(fields, sent)
    return checked(got, SCHEMA, GIVEN) if got.is_good else got


def faults(fields: tuple[FormField, ...]) -> dict[str, tuple[Fault, Any, str]]:
    found: dict[str, tuple[Fault, Any, str]] = {}
    for field in fields:
        found |= faults(field.fields)
        if field.fault is not None:
            found[".".join(field.path)] = (field.fault, field.measure, field.where)
    return found


def test_each_argument_has_the_field_that_suits_it() -> None:
    assert {field.label: field.kind for field in form()} == {
        "window": Kind.GROUP, "disks": Kind.JSON, "check": Kind.JSON, "limits": Kind.JSON, "colours": Kind.CHOICES,
        "name": Kind.TEXT, "colour": Kind.CHOICE, "after": Kind.DATE, "at": Kind.TEXT, "pause": Kind.TEXT,
        "share": Kind.NUMBER, "replicas": Kind.INTEGER, "script": Kind.LONG, "hosts": Kind.LINES,
        "fallback": Kind.GROUP, "mode": Kind.CHOICE, "level": Kind.JSON, "tree": Kind.GROUP, "pair": Kind.JSON,
        "secret": Kind.HIDDEN,
    }  # fmt: skip
    inner = by_name(form(), "window").fields
    assert [field.kind for field in inner] == [Kind.DATE, Kind.INTEGER, Kind.GROUP]
    assert (by_name(form(), "replicas").least, by_name(form(), "replicas").most) == (1, 9)
    assert by_name(form(), "at").form == "date-time"
    nothing = fields_of(SCHEMA, {})
    assert json.loads(by_name(nothing, "disks").shape) == [{"path": "…", "gigabytes": 10, "tags": []}]
    assert json.loads(by_name(nothing, "limits").shape) == {"…": 0}
    assert by_name(form(), "disks").shape == ""


def test_what_nobody_touched_is_as_it_was() -> None:
    got = filled()
    assert (got.is_good, got.values) == (True, GIVEN)


EDITS: list[tuple[str, str, Any]] = [
    ("window__day", "2027-01-31", {**GIVEN["window"], "day": "2027-01-31"}),
    ("window__where__gigabytes", "7", {**GIVEN["window"], "where": {"path": "/", "gigabytes": 7, "tags": ["x"]}}),
    ("window__where-", "on", {**GIVEN["window"], "where": None}),
    ("disks", '[{"path": "/new"}]', [{"path": "/new"}]),
    ("check", '{"kind": "http", "url": "https://shop"}', {"kind": "http", "url": "https://shop"}),
    ("limits", '{"cpu": 8, "memory": 2}', {"cpu": 8, "memory": 2}),
    ("colours+1", "on", ["red", "green", "blue"]),
    ("after", "", None),
    ("at", "2026-12-01T08:00:00Z", "2026-12-01T08:00:00Z"),
    ("script", "", ""),
    ("fallback__path", "/spare", {"path": "/spare"}),
    ("level", '"high"', "high"),
    ("tree-", "on", None),
]


@pytest.mark.parametrize(("name", "raw", "value"), EDITS, ids=[f"{name} {raw[:9]}" for name, raw, _ in EDITS])
def test_an_edit_is_what_was_meant_and_what_the_tool_takes(name: str, raw: str, value: Any) -> None:
    got = filled(**{name: raw})
    top = name.rstrip("-").split("__")[0].split("+")[0]
    assert faults(got.fields) == {}
    assert got.values == {**GIVEN, top: value}
    assert left_out(GIVEN, got.values) == ()


LEFT_OUT = ["share", "replicas", "pause", "colour", "hosts-", "name-", "mode", "level", "pair"]


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_optional_can_be_left_out_and_the_form_that_comes_back_says_so(name: str) -> None:
    got = filled(**{name: "on" if name.endswith("-") else ""})
    top = name.rstrip("-")
    assert faults(got.fields) == {}
    if top in got.values:
        # What the schema says is there when it isn't.
        assert got.values[top] == SCHEMA["properties"][top]["default"]
        return
    assert left_out(GIVEN, got.values) == (top,)
    assert [(change.path, change.has) for change in differences(GIVEN, got.values)] == [(top, False)]
    again = taken_away(fields_of(SCHEMA, {**GIVEN, **changed(GIVEN, got.values)}), [top])
    sent = {name: raw for name, raw in typed(again).items() if not (name == f"a/{top}" and by_name(again, top).gone)}
    sent |= {f"a/{top}-": "on"} if by_name(again, top).gone else {}
    assert read(form(), sent).values == got.values


WRONG: list[tuple[str, str, str, tuple[Fault, Any, str]]] = [
    ("window__minutes", "3", "window.minutes", (Fault.TOO_LOW, 5, "")),
    ("window__minutes", "31", "window.minutes", (Fault.NO_MULTIPLE, 5, "")),
    ("window__day", "tomorrow", "window.day", (Fault.NO_DATE, None, "")),
    ("window__where__gigabytes", "0", "window.where.gigabytes", (Fault.NOT_ABOVE, 0, "")),
    ("replicas", "10", "replicas", (Fault.NOT_BELOW, 10, "")),
    ("share", "1.5", "share", (Fault.NOT_BELOW, 1, "")),
    ("name", "a", "name", (Fault.TOO_SHORT, 2, "")),
    ("name", "a" * 21, "name", (Fault.TOO_LONG, 20, "")),
    ("hosts", "a\nb\nc", "hosts", (Fault.TOO_MANY, 2, "")),
    ("disks", '[{"path": "/", "gigabytes": 5000}]', "disks", (Fault.TOO_HIGH, 2000, "[0].gigabytes")),
    ("disks", '[{"gigabytes": 1}]', "disks", (Fault.LACKS, "path", "[0]")),
    ("disks", '{"path": "/"}', "disks", (Fault.OTHER_TYPE, "array", "")),
    ("limits", '{"cpu": "much"}', "limits", (Fault.OTHER_TYPE, "integer", "cpu")),
    ("tree__children", '[{"name": 5}]', "tree.children", (Fault.OTHER_TYPE, "string", "[0].name")),
]


@pytest.mark.parametrize(("name", "raw", "place", "fault"), WRONG, ids=[f"{name} {raw[:9]}" for name, raw, *_ in WRONG])
def test_what_the_tool_would_not_take_is_said_beside_its_field(
    name: str, raw: str, place: str, fault: tuple[Fault, Any, str]
) -> None:
    got = filled(**{name: raw})
    assert not got.is_good
    assert faults(got.fields) == {place: fault}


def test_a_union_that_fits_nowhere_is_said_to_be_wrong() -> None:
    got = filled(check='{"kind": "tcp", "port": 0}')
    assert list(faults(got.fields)) == ["check"]


def test_what_is_wrong_with_what_was_there_before_hinders_nobody() -> None:
    odd = {**GIVEN, "replicas": 99, "disks": "none"}
    fields = fields_of(SCHEMA, odd)
    got = read(fields, typed(fields, **{"a/share": "0.75"}))
    assert checked(got, SCHEMA, odd).is_good


def test_a_pattern_that_would_never_end_is_left_to_the_tool() -> None:
    assert filled(name="a" * 19 + "!").is_good


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "https://elsewhere.example/schema.json"}}},
        {"properties": {"a": {"$ref": "#/nowhere"}}},
        {"properties": {"a": {"type": "strange"}}},
        {"properties": {"a": {"minimum": "five"}}},
        {"properties": {"a": {"patternProperties": {"(": {}}, "additionalProperties": False}}},
        {"properties": "none"},
        {"properties": {"a": {"$ref": "#/properties/a"}}},
    ],
)
@pytest.mark.parametrize("value", [1, "x", {"b": 1}])
def test_a_schema_that_can_not_be_used_forbids_nothing_and_fetches_nothing(schema: Any, value: Any) -> None:
    assert checked(Filled((), {"a": value}), schema, {}).is_good


BOUNDED = st.sampled_from([int, float])


@given(least=st.integers(-50, 50), room=st.integers(0, 20), typed_number=st.integers(-100, 100), kind=BOUNDED)
def test_numbers_are_judged_as_pydantic_judges_them(least: int, room: int, typed_number: int, kind: type) -> None:
    bounded: Any = Annotated[kind, Field(ge=least, lt=least + room + 1)]
    model = create_model("Model", n=(bounded, ...))
    schema = model.model_json_schema()
    fields = fields_of(schema, {"n": least})
    got = read(fields, {"a/n": str(typed_number)})
    verdict = checked(got, schema, {"n": least}).is_good
    assert verdict == _takes(TypeAdapter(bounded), typed_number)


def _takes(adapter: TypeAdapter[Any], value: object) -> bool:
    try:
        adapter.validate_python(value)
    except ValueError:
        return False
    return True
