"""Sensitive arguments: found by what a schema marks, wherever they stand, and in nothing that leaves the journal."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.entries import Entry, Kind
from opspilot.core.messages import Json
from opspilot.core.sensitive import MASK, has_mask, in_answer, mask, masked, pointers, texts, without

SECRET: dict[str, Json] = {"type": "string", "writeOnly": True}
TEXT: dict[str, Json] = {"type": "string"}


def of(**properties: Json) -> dict[str, Json]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


LOGIN = of(host=TEXT, token=SECRET)
TREE: dict[str, Json] = {
    **of(node={"$ref": "#/$defs/Node"}),
    "$defs": {"Node": of(pin=SECRET, inner={"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]})},
}
FOUND: tuple[tuple[Mapping[str, Json], Json, list[str]], ...] = (
    (of(name=TEXT), {"name": "a", "other": "b"}, []),
    (of(name=TEXT, key=SECRET), {"name": "a", "key": "b"}, ["/key"]),
    (of(key={"type": "string", "format": "password"}), {"key": "b"}, ["/key"]),
    (of(key={"type": "string", "writeOnly": False}), {"key": "b"}, []),
    (of(key=SECRET), {"key": {"not": "a text"}}, ["/key"]),
    (of(key=SECRET), {"key": None}, []),
    (of(key={"anyOf": [SECRET, {"type": "null"}]}), {"key": "b"}, ["/key"]),
    (of(key={"anyOf": [TEXT, {"type": "null"}], "writeOnly": True}), {"key": "b"}, ["/key"]),
    (of(login=LOGIN), {"login": {"host": "h", "token": "t"}}, ["/login/token"]),
    (of(logins={"type": "array", "items": LOGIN}), {"logins": [{"host": "h"}, {"token": "t"}]}, ["/logins/1/token"]),
    (of(pair={"type": "array", "prefixItems": [TEXT, SECRET]}), {"pair": ["a", "b"]}, ["/pair/1"]),
    (of(keys={"type": "object", "additionalProperties": SECRET}), {"keys": {"a/b": "x", "~": "y"}},
     ["/keys/a~1b", "/keys/~0"]),
    (of(who={"oneOf": [LOGIN, of(name=TEXT)]}), {"who": {"name": "ann"}}, []),
    (TREE, {"node": {"pin": "1", "inner": {"pin": "2", "inner": None}}}, ["/node/pin", "/node/inner/pin"]),
    # What the schema doesn't expect may be a sensitive value in the wrong place.
    (of(name=TEXT, key=SECRET), {"name": "a", "kye": "b"}, ["/kye"]),
    (of(login=LOGIN), {"login": "token=t"}, ["/login"]),
    (of(login=LOGIN), {"login": {"host": "h", "tokne": "t"}}, ["/login/tokne"]),
    (of(key=SECRET), '{"key": "b"', [""]),
    ({}, {"key": "b"}, []),
)  # fmt: skip


@pytest.mark.parametrize(("schema", "value", "places"), FOUND)
def test_sensitive_values_are_found_where_the_schema_marks_them(
    schema: Mapping[str, Json], value: Json, places: list[str]
) -> None:
    assert pointers(schema, value) == places


def test_a_value_of_any_depth_is_searched() -> None:
    deep: Json = {"pin": "1", "inner": None}
    for _ in range(5000):
        deep = {"pin": "1", "inner": deep}
    assert len(pointers(TREE, {"node": deep})) == 5001
    assert not has_mask(deep)


def test_a_schema_that_refers_to_itself_ends() -> None:
    circle: dict[str, Json] = {**of(a={"$ref": "#/$defs/A"}), "$defs": {"A": {"$ref": "#/$defs/A"}}}
    assert pointers(circle, {"a": {"b": 1}}) == []


def test_a_mask_takes_the_place_of_values_and_of_nothing_else() -> None:
    given = {"a": "x", "b": [{"c": "y", "d": "z"}], "e/f": {"~": 1}}
    shown = mask(given, ["/b/0/c", "/e~1f/~0", "/no/such", "/b/7"])
    assert shown == {"a": "x", "b": [{"c": MASK, "d": "z"}], "e/f": {"~": MASK}}
    assert given["b"] == [{"c": "y", "d": "z"}]
    assert mask("whole", [""]) == MASK
    assert has_mask(shown)
    assert not has_mask(given)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(value=json_values)
def test_whatever_is_given_for_a_sensitive_parameter_is_masked_whole(value: Json) -> None:
    arguments = {"name": "a", "key": value}
    shown = mask(arguments, pointers(of(name=TEXT, key=SECRET), arguments))
    assert shown == {"name": "a", "key": value if value is None else MASK}


def all_texts(value: Json) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for item in inner for text in all_texts(item)]


@given(value=json_values, secret=st.text(st.characters(exclude_categories=["Cc"]), min_size=4))
def test_a_known_text_is_found_in_whatever_repeats_it(value: Json, secret: str) -> None:
    said = [value, {f"<{secret}>": f"it was {secret}!"}]
    shown = "\n".join(all_texts(without(said, [secret])))
    assert secret not in shown.replace(MASK, "")
    assert f"<{MASK}>" in shown


def test_texts_to_look_for_are_the_long_ones_longest_first() -> None:
    given: Json = {"keys": ["abc", "abcd", {"x": "abcdef", "n": 12345}], "name": "a name"}
    assert texts(given, ["/keys"]) == ["abcdef", "abcd"]
    assert without("abcdef abcd abc", ["abcdef", "abcd"]) == f"{MASK} {MASK} abc"
    assert without({"a": 1}, []) == {"a": 1}


def test_answers_are_searched_by_the_tools_schema_and_by_the_form() -> None:
    form = of(code=SECRET)
    question = {"schema": of(name=TEXT, key=SECRET), "payload": {"fields": ["code"], "schema": form}}
    assert in_answer(question, {"name": "a"}) == ["/name"]
    assert in_answer(question, {"key": "k"}) == ["/key"]
    assert in_answer({"schema": of(name=TEXT), "payload": {"schema": form}}, {"code": "c"}) == ["/code"]
    assert in_answer({"schema": {}, "payload": {}}, {"code": "c"}) == []


# ---------------------------------------------------------------- entries


def entry(kind: Kind, data: Mapping[str, Json]) -> Entry:
    return Entry("s", 1, "r", "k", kind, datetime(2026, 1, 1, tzinfo=UTC), data, 1, "1.1")


def test_an_entry_that_names_no_places_is_left_as_it_is() -> None:
    for kind in Kind:
        plain = entry(kind, {"arguments": {"key": "k"}})
        assert masked(plain) is plain


def test_arguments_and_values_are_masked_in_every_kind_of_entry_that_has_them() -> None:
    data = {"arguments": {"name": "a", "key": "k"}, "values": {"key": "k"}, "sensitive": ["/key"], "reason": "why"}
    for kind in (Kind.TOOL_CALL, Kind.INTERRUPT_OPENED, Kind.INTERRUPT_ANSWERED, Kind.ANSWER_KEPT):
        shown = masked(entry(kind, data)).data
        assert shown == {**data, "arguments": {"name": "a", "key": MASK}, "values": {"key": MASK}}
    assert masked(entry(Kind.TOOL_CALL, {"arguments": '{"key', "sensitive": [""]})).data["arguments"] == MASK


def test_a_reply_is_masked_in_its_calls_and_loses_what_nobody_can_read() -> None:
    calls = [
        {"id": "1", "name": "login", "arguments": '{"name": "ä", "key": "k"}', "sensitive": ["/key"]},
        {"id": "2", "name": "look", "arguments": '{"a":1}'},
        {"id": "3", "name": "login", "arguments": '{"key": "k', "sensitive": [""]},
    ]
    shown = masked(entry(Kind.ASSISTANT_MESSAGE, {"tool_calls": calls, "opaque": {"blocks": ["k"]}, "text": "t"}))
    assert [call["arguments"] for call in shown.data["tool_calls"]] == [
        json.dumps({"name": "ä", "key": MASK}, ensure_ascii=False),
        '{"a":1}',
        MASK,
    ]
    assert (shown.data["opaque"], shown.data["text"]) == ({}, "t")
