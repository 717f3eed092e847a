"""Which failures of a model server are worth another attempt, and when."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.core.errors import ModelFault
from opspilot.core.retry import MAX_DETAIL_CHARS, classify

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def said(message: str = "", **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


CASES: list[tuple[str, int, Any, ModelFault, bool]] = [
    ("too many requests", 429, said("slow down", code="rate_limit_exceeded"), ModelFault.RATE_LIMIT, True),
    ("a rate limit with any other status", 403, said(code="rate_limit_exceeded"), ModelFault.RATE_LIMIT, True),
    ("a 429 that talks of tokens is no overflow", 429, said("maximum context window tpm"), ModelFault.RATE_LIMIT, True),
    ("quota by code", 429, said("…", code="insufficient_quota"), ModelFault.QUOTA, False),
    ("quota by type", 429, said("…", type="insufficient_quota"), ModelFault.QUOTA, False),
    (
        "quota in words only is a limit",
        429,
        {"error": "QUOTA EXCEEDED", "message": "wait"},
        ModelFault.RATE_LIMIT,
        True,
    ),
    ("payment required", 402, "", ModelFault.QUOTA, False),
    ("no credit, dressed as a bad request", 400, said("Your credit balance is too low"), ModelFault.QUOTA, False),
    ("context by code", 400, said("…", code="context_length_exceeded"), ModelFault.CONTEXT_LENGTH, False),
    ("context by type", 400, said("…", type="exceed_context_size_error"), ModelFault.CONTEXT_LENGTH, False),
    ("context by OpenAI's words", 400, said("maximum context length is 8192"), ModelFault.CONTEXT_LENGTH, False),
    ("context by Anthropic's words", 400, said("prompt is too long: 9 > 8"), ModelFault.CONTEXT_LENGTH, False),
    ("context by Mistral's words", 400, said("Prompt contains 9 tokens"), ModelFault.CONTEXT_LENGTH, False),
    ("context by Gemini's words", 400, said("input token count (9) exceeds"), ModelFault.CONTEXT_LENGTH, False),
    (
        "an overflow that a server calls its own fault",
        500,
        said("context size exceeded"),
        ModelFault.CONTEXT_LENGTH,
        False,
    ),
    ("too large a request", 413, "", ModelFault.CONTEXT_LENGTH, False),
    ("a long id is no overflow", 400, said("id too long, maximum length 40"), ModelFault.BAD_REQUEST, False),
    ("an empty list is no overflow", 400, said("[] is too short - 'tools'"), ModelFault.BAD_REQUEST, False),
    ("a wrong key", 401, said("no such key"), ModelFault.AUTH, False),
    ("forbidden", 403, said("flagged"), ModelFault.AUTH, False),
    ("no such model", 404, said("no such model"), ModelFault.BAD_REQUEST, False),
    ("validation without an error key", 422, {"detail": [{"msg": "extra"}]}, ModelFault.BAD_REQUEST, False),
    ("a redirect", 307, "", ModelFault.BAD_REQUEST, False),
    ("timeout", 408, "", ModelFault.SERVER, True),
    ("lock conflict", 409, "", ModelFault.SERVER, True),
    ("server error", 500, said("oops"), ModelFault.SERVER, True),
    ("a proxy's web page", 520, "<html><title>520: unknown</title></html>", ModelFault.SERVER, True),
    ("overloaded by status", 503, "", ModelFault.OVERLOADED, True),
    ("overloaded by Anthropic's status", 529, "", ModelFault.OVERLOADED, True),
    ("overloaded by type", 500, said(type="overloaded_error"), ModelFault.OVERLOADED, True),
    ("inside a 200: a status as code", 200, said("no credits", code=402), ModelFault.QUOTA, False),
    ("inside a 200: a status as text", 200, said("…", code="503"), ModelFault.OVERLOADED, True),
    ("inside a 200: a type", 200, said("…", type="invalid_request_error"), ModelFault.BAD_REQUEST, False),
    ("inside a 200: gRPC's words", 200, said("…", status="UNAVAILABLE"), ModelFault.OVERLOADED, True),
    ("inside a 200: nothing known", 200, said("strange"), ModelFault.SERVER, True),
    ("inside a 200: Gemini's list", 200, [said("…", code=429)], ModelFault.RATE_LIMIT, True),
]


@pytest.mark.parametrize(
    ("status", "body", "fault", "retryable"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_a_failure_is_named_and_judged(status: int, body: Any, fault: ModelFault, retryable: bool) -> None:
    failure = classify(status, {}, body, NOW)
    assert (failure.fault, failure.retryable) == (fault, retryable)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "20"}, 20.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": " 7.66 "}, 7.66),
        ({"retry-after": "3600"}, 3600.0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "2"}, 2.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 -0000"}, 30.0),
        ({"retry-after": "Sun, 01 Mar 2026 11:59:00 GMT"}, None),
        ({"retry-after": "-10"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "tomorrow"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_the_wait_that_a_server_asks_for_is_read_in_each_of_its_forms(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert classify(429, headers, "", NOW).retry_after_seconds == seconds


def test_a_wait_in_the_body_counts_when_no_header_says_otherwise() -> None:
    body = [said("…", code=429, details=[{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}])]
    assert classify(429, {}, body, NOW).retry_after_seconds == 34.0
    assert classify(429, {"retry-after": "5"}, body, NOW).retry_after_seconds == 5.0


@pytest.mark.parametrize(
    ("status", "header", "retryable"), [(409, "true", True), (400, "TRUE", True), (500, "false", False)]
)
def test_a_server_that_says_whether_to_retry_is_obeyed(status: int, header: str, retryable: bool) -> None:
    assert classify(status, {"X-Should-Retry": header}, said("…"), NOW).retryable is retryable


def test_a_conversation_that_is_too_long_is_never_sent_again_unchanged() -> None:
    failure = classify(400, {"x-should-retry": "true"}, said(code="context_length_exceeded"), NOW)
    assert not failure.retryable


def test_the_error_tells_a_person_who_failed_how_and_in_what_words() -> None:
    error = classify(429, {"retry-after": "3"}, said("Rate limit reached"), NOW).as_error("llm.example", text="So far")
    assert "llm.example" in error.message
    assert "HTTP 429" in error.message
    assert error.message.endswith("Rate limit reached")
    assert (error.fault, error.retry_after_seconds, error.text) == (ModelFault.RATE_LIMIT, 3.0, "So far")


def test_of_a_web_page_only_the_title_is_shown() -> None:
    assert classify(520, {}, "<!DOCTYPE html><title>Origin\n down</title><p>1000 lines", NOW).detail == "Origin down"


def test_long_words_of_a_server_are_cut() -> None:
    assert len(classify(500, {}, said("x" * 5000), NOW).detail) == MAX_DETAIL_CHARS


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "code", "type", "status", "metadata", "detail", "details", "x"]), inner
        )
    ),
    max_leaves=12,
)


@given(status=st.integers(200, 599), body=ANYTHING, headers=st.dictionaries(st.text(max_size=15), st.text(max_size=15)))
def test_no_answer_whatever_its_shape_breaks_the_judgement(status: int, body: Any, headers: dict[str, str]) -> None:
    failure = classify(status, headers, body, NOW)
    assert failure.retry_after_seconds is None or failure.retry_after_seconds >= 0
    assert failure == classify(status, headers, json.dumps(body), NOW) or isinstance(body, str)
