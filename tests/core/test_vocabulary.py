"""Every word that a run can end with, or a call fail with, has a sentence for a person."""

import pytest

from opspilot.core.limits import AT_A_LIMIT, Limits, StopReason, sentence
from opspilot.core.observations import COUNTED_AS_FAILURE, SENTENCES, ErrorCode, Observation

EXPLAINED_BY_WHO_GIVES_IT = {
    ErrorCode.INVALID_JSON: "the decoder says what is wrong with the text",
    ErrorCode.INVALID_ARGUMENTS: "validation names the argument",
    ErrorCode.UNKNOWN_TOOL: "the runtime names the tools there are",
    ErrorCode.DENIED_BY_POLICY: "the rule that denied says why",
    ErrorCode.RESULT_UNUSABLE: "the runtime says what the result was",
}


@pytest.mark.parametrize("reason", list(StopReason))
def test_each_reason_has_a_sentence(reason: StopReason) -> None:
    text = sentence(reason, Limits())
    assert text[0].isupper()
    assert text.endswith((".", "?"))


@pytest.mark.parametrize("reason", list(StopReason))
def test_what_failed_is_said_after_the_reason(reason: StopReason) -> None:
    assert sentence(reason, Limits(), "The key was refused.").endswith(" The key was refused.")


@pytest.mark.parametrize(
    ("reason", "number"),
    [
        (StopReason.MAX_STEPS, "7 steps"),
        (StopReason.TIMEOUT, "90.5 seconds"),
        (StopReason.TOO_MANY_FAILS, "4 tool calls"),
        (StopReason.BUDGET, "1234 tokens"),
    ],
)
def test_a_limit_is_named_with_its_number(reason: StopReason, number: str) -> None:
    limits = Limits(steps=7, active_seconds=90.5, failures_in_a_row=4, tokens=1234)
    assert number in sentence(reason, limits)


def test_a_limit_is_a_reason_that_leaves_the_model_able_to_speak() -> None:
    assert set(StopReason) - AT_A_LIMIT == {
        StopReason.ANSWERED,
        StopReason.NOTHING_TO_DO,
        StopReason.CANCELLED,
        StopReason.CONTEXT_TOO_LONG,
        StopReason.MODEL_REFUSED,
        StopReason.MODEL_FAILED,
        StopReason.JOURNAL_BEHIND,
        StopReason.INTERNAL_ERROR,
    }


@pytest.mark.parametrize("code", list(ErrorCode))
def test_each_code_has_a_sentence_or_is_explained_by_who_gives_it(code: ErrorCode) -> None:
    assert (code in SENTENCES) != (code in EXPLAINED_BY_WHO_GIVES_IT)
    if code in SENTENCES:
        assert Observation.failure(code).message.endswith(".")


def test_what_people_and_rules_stop_is_no_failure_of_a_tool() -> None:
    assert set(ErrorCode) - COUNTED_AS_FAILURE == {
        ErrorCode.DENIED_BY_POLICY,
        ErrorCode.REJECTED_BY_HUMAN,
        ErrorCode.APPROVAL_EXPIRED,
        ErrorCode.SKIPPED_IN_SERIAL_STEP,
        ErrorCode.SKIPPED_AFTER_UNSUCCESSFUL_WRITE,
        ErrorCode.NOT_STARTED,
        ErrorCode.CANCELLED,
    }


def test_an_observation_has_the_shape_that_models_are_shown() -> None:
    assert Observation(ok=True, data=[1]).as_json() == {"ok": True, "data": [1]}
    assert Observation.failure(ErrorCode.TIMED_OUT, "It took 30 s.").as_json() == {
        "ok": False,
        "errorCode": "timed_out",
        "message": "It took 30 s.",
    }
