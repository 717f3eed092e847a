"""Arguments as models write them, and the digests that name them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.calls import (
    MAX_DEPTH,
    call_name,
    canonical_json,
    decode_call,
    digest,
    idempotency_key,
    round_name,
)
from opspilot.core.messages import Json, ProtocolCall

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
)
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)


def decoded(arguments: str) -> tuple[Json, str]:
    """What `decode_call` makes of these arguments: input, and the error."""
    executable = decode_call(ProtocolCall("call_1", "look", arguments))
    assert (executable.id, executable.name, executable.raw_arguments) == ("call_1", "look", arguments)
    return executable.input, executable.parse_error


def nested(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param("", {}, id="nothing means no arguments"),
        pytest.param(" \n\t", {}, id="blank means no arguments"),
        pytest.param("{}", {}, id="an empty object"),
        pytest.param(' {"a": [1, 2.5, null, true]} ', {"a": [1, 2.5, None, True]}, id="an object with space around"),
        pytest.param('{"a": 1, "a": 2}', {"a": 2}, id="of two equal keys the last one counts"),
        pytest.param('{"服务": "支付\\u2028"}', {"服务": "支付\u2028"}, id="text in any language"),
        pytest.param('{"a": "\\ud83d\\ude00"}', {"a": "😀"}, id="a pair of surrogates is one character"),
        pytest.param('{"a": 9007199254740993}', {"a": 9007199254740993}, id="whole numbers keep all digits"),
        pytest.param(nested(MAX_DEPTH - 1), json.loads(nested(MAX_DEPTH - 1)), id="as deep as allowed"),
    ],
)
def test_good_arguments_become_an_object(arguments: str, expected: Json) -> None:
    assert decoded(arguments) == (expected, "")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        pytest.param("{", "not valid JSON", id="cut off"),
        pytest.param("{'a': 1}", "not valid JSON", id="single quotes"),
        pytest.param('{"a": 1} and more', "not valid JSON", id="text after it"),
        pytest.param('{"a": 1}{"b": 2}', "not valid JSON", id="two objects"),
        pytest.param('\ufeff{"a": 1}', "not valid JSON", id="byte order mark"),
        pytest.param('{"a": NaN}', "NaN is not JSON", id="not a number"),
        pytest.param('{"a": -Infinity}', "-Infinity is not JSON", id="infinity by name"),
        pytest.param('{"a": 1e999}', "not valid JSON", id="infinity by size"),
        pytest.param('{"a": ' + "9" * 5000 + "}", "not valid JSON", id="a number of five thousand digits"),
        pytest.param('{"a": "\\ud800"}', "not valid JSON", id="a surrogate alone"),
        pytest.param('{"\\udfff": 1}', "not valid JSON", id="a surrogate alone in a name"),
        pytest.param('{"a": "\x00"}', "not valid JSON", id="a control character"),
        pytest.param(nested(MAX_DEPTH), "nested deeper than", id="one level too deep"),
        pytest.param(nested(100_000), "The arguments are", id="so deep that no parser follows"),
        pytest.param("[1]", "must be a JSON object, not list", id="a list"),
        pytest.param('"{}"', "must be a JSON object, not str", id="a string that holds an object"),
        pytest.param("null", "must be a JSON object, not NoneType", id="null"),
        pytest.param("7", "must be a JSON object, not int", id="a number"),
    ],
)
def test_bad_arguments_become_a_sentence(arguments: str, why: str) -> None:
    value, error = decoded(arguments)
    assert value is None
    assert why in error


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")) | values.map(json.dumps))
def test_whatever_a_model_writes_is_an_object_with_a_digest_or_an_error_and_never_both(arguments: str) -> None:
    value, error = decoded(arguments)
    assert (value is None) == bool(error)
    if value is not None:
        assert len(digest(value)) == 32


@given(values)
def test_equal_values_have_one_canonical_text_whatever_the_order_of_keys(value: Json) -> None:
    def turned(part: Json) -> Json:
        if isinstance(part, dict):
            return {key: turned(part[key]) for key in reversed(list(part))}
        return [turned(item) for item in part] if isinstance(part, list) else part

    assert canonical_json(turned(value)) == canonical_json(value)
    assert json.loads(canonical_json(value)) == value


@given(values, values)
def test_digests_are_equal_exactly_when_the_texts_are(one: Json, other: Json) -> None:
    assert (digest(one) == digest(other)) == (canonical_json(one) == canonical_json(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"a": 1}, {"a": "1"}, id="number and text"),
        pytest.param({"a": True}, {"a": 1}, id="true and one"),
        pytest.param({"a": None}, {}, id="null and nothing"),
        pytest.param({"a": [1, 2]}, {"a": [2, 1]}, id="order in a list"),
    ],
)
def test_what_a_tool_could_tell_apart_has_different_digests(one: Json, other: Json) -> None:
    assert digest(one) != digest(other)


def test_the_digest_is_a_fixed_function_because_it_stands_in_histories() -> None:
    assert canonical_json({"b": [1.5, "é"], "a": None}) == '{"a":null,"b":[1.5,"é"]}'
    assert digest({"b": [1.5, "é"], "a": None}) == "e2d2a83f7080a449edc0cdd2e141240b"


def test_a_value_that_is_not_json_has_no_digest() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        digest({"a": float("inf")})


def test_calls_and_rounds_are_named_by_counting_from_one() -> None:
    assert call_name(3, 1) == "3.1"
    assert round_name("3.1", 2) == "3.1#2"
    assert idempotency_key("run", "3.1", 2) == "run/3.1#2"
