"""State that an earlier version carried over continue-as-new can still be loaded and gone on with.

`samples/` holds one carried request of each kind and version, as Temporal has it in its history. A sample that was
released is never changed. `python -m tests.core.test_samples` writes the ones of the current version that are missing.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.contrib.pydantic import pydantic_data_converter

from opspilot.core.budget import BudgetName, Grant
from opspilot.core.calls import Effect
from opspilot.core.contract import Mode, RunRequest
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.limits import Limits, OnLimit, StopReason
from opspilot.core.loop import decide
from opspilot.core.messages import Json, Usage
from opspilot.core.observations import ErrorCode
from opspilot.core.state import (
    STATE_VERSION,
    CallState,
    LimitQuestion,
    Phase,
    QueuedMessage,
    Repeats,
    RunState,
    Stage,
)
from opspilot.core.terms import Rung, RungKind, Wait
from tests.core.builders import words

FOLDER = Path(__file__).parent / "samples"

ANN = Principal("ann", "Ann Example", ("operator",), "local")
BETWEEN_STEPS = RunState(
    phase=Phase.THINKING,
    opened=True,
    journal="7d2c",
    step=52,
    steps_now=2,
    active_now=12.75,
    tokens_now=2300,
    failures_now=1,
    repeats=(Repeats("read look 00ff", "aa11", 2, 1), Repeats("write restart 01fe", "tool_failed", 1, 1)),
    usage=Usage(40_000, 1_200, 30_000),
    inbox=(QueuedMessage("m7", "And yesterday? 昨天呢？"),),
    closes=3,
)
CALL = CallState(
    index=1,
    tool="restart_service",
    summary="restart_service service=payment",
    digest="00ff",
    effect=Effect.WRITE,
    concurrent=False,
    seconds=30.0,
    stage=Stage.ASKED,
    round=2,
    shown="11ee",
)
WAITING = replace(
    BETWEEN_STEPS,
    phase=Phase.SETTLING,
    calls=(
        CALL,
        replace(CALL, index=2, stage=Stage.AGREED, round=1, idempotent=True),
        replace(CALL, index=3, stage=Stage.READY, round=1, shown=""),
        replace(CALL, index=4, tool="look", effect=Effect.READ, stage=Stage.DONE, result="aa11", polling=True),
        replace(CALL, index=5, tool="look", effect=Effect.READ, stage=Stage.DONE, code=ErrorCode.TIMED_OUT),
    ),
    stopped_messages=1,
)
ANSWER = Answer("a1", "52.1#2", AnswerAction.PROVIDE, ANN, {"service": "cart", "instances": [1, 2.5]}, "not it", "11ee")

LADDER = (
    Rung(RungKind.REMIND, 3600.0),
    Rung(RungKind.ESCALATE, 14400.0, role="lead"),
    Rung(RungKind.EXPIRE, 86400.0, stops=True),
)
CLIMBING = replace(
    WAITING,
    calls=(replace(CALL, wait=Wait(1_700_000_000.5, LADDER, climbed=1)), *WAITING.calls[1:]),
    clock=1_700_003_600.5,
    ignored_now=3,
    grants=(StopReason.MAX_STEPS, StopReason.BUDGET),
    limits_asked=2,
    notifies=True,
)
AT_A_LIMIT = replace(
    BETWEEN_STEPS,
    stop=StopReason.MAX_STEPS,
    limit_question=LimitQuestion(1, "22ee", Wait(1_700_000_000.5, LADDER[:1])),
    limits_asked=1,
    sought=(Grant(BudgetName.SESSION_TOKENS, 1000.0),),
    granted=(Grant(BudgetName.USER_COST, 2.5),),
)

REQUESTS = {
    "between-steps": RunRequest(ANN, Limits(steps=6), Mode(only="look", force=True), BETWEEN_STEPS),
    "waiting": RunRequest(ANN, Limits(), Mode(), WAITING),
    "climbing": RunRequest(ANN, Limits(), Mode(), CLIMBING),
    "at-a-limit": RunRequest(ANN, Limits(on_limit=OnLimit.ASK), Mode(model="other"), AT_A_LIMIT),
    "answered": RunRequest(ANN, Limits(), Mode(), replace(WAITING, answers=(ANSWER,), cancelled_by_temporal=True)),
}
NEXT = {
    "between-steps": "think 53 m7",
    "waiting": "ask 1",
    "climbing": "ask 1",
    "at-a-limit": "ask limit#1",
    "answered": "judge a1",
}


def written(request: RunRequest) -> bytes:
    """As Temporal's history has it."""
    (payload,) = pydantic_data_converter.payload_converter.to_payloads([request])
    return payload.data


def loaded(data: bytes) -> RunRequest:
    payload = Payload(metadata={"encoding": b"json/plain"}, data=data)
    (request,) = pydantic_data_converter.payload_converter.from_payloads([payload], [RunRequest])
    assert isinstance(request, RunRequest)
    return request


def is_kept(before: Json, after: Json) -> bool:
    """Whether all that was there is there, with its name and value; new fields may stand beside it."""
    if isinstance(before, dict) and isinstance(after, dict):
        return all(key in after and is_kept(value, after[key]) for key, value in before.items())
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(is_kept, before, after))
    return bool(before == after)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("state-v*.json")), ids=lambda path: path.stem)
def test_a_carried_state_of_any_version_loads_with_all_that_it_says_and_goes_on(path: Path) -> None:
    data = path.read_bytes()
    request = loaded(data)
    assert is_kept(json.loads(data), json.loads(written(request)))
    assert request.carried is not None
    kind = path.stem.removeprefix("state-").partition("-")[2]
    assert words(decide(request.carried, request.limits)) == NEXT[kind]


@pytest.mark.parametrize("kind", list(REQUESTS))
def test_the_current_version_has_a_sample_of_each_kind_that_is_still_what_it_was(kind: str) -> None:
    path = FOLDER / f"state-v{STATE_VERSION}-{kind}.json"
    assert loaded(path.read_bytes()) == REQUESTS[kind]


@pytest.mark.parametrize("kind", list(REQUESTS))
def test_what_temporal_writes_it_loads_as_it_was(kind: str) -> None:
    assert loaded(written(REQUESTS[kind])) == REQUESTS[kind]


def test_a_state_says_its_version() -> None:
    assert json.loads(written(RunRequest(ANN, carried=RunState())))["carried"]["version"] == STATE_VERSION


if __name__ == "__main__":
    for kind, request in REQUESTS.items():
        path = FOLDER / f"state-v{STATE_VERSION}-{kind}.json"
        if not path.exists():
            path.write_text(json.dumps(json.loads(written(request)), ensure_ascii=False, indent=1) + "\n")
