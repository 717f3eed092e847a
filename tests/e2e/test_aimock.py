"""Whole jobs over all three wire formats against CopilotKit's aimock, streamed, also where it limits or breaks off."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from urllib.request import urlopen

import pytest

from tests.e2e.peers import Asker, aimock, asker, spoiling

pytestmark = [pytest.mark.slow, pytest.mark.e2e, pytest.mark.timeout(180)]

USAGE = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16, "input_tokens": 11, "output_tokens": 5}
JOBS = ("compare", "limited", "severed", "spoiled")
ERRORS = {
    "openai": 'data: {"error": {"message": "The engine is overloaded", "type": "server_error"}}\n\n',
    "openai-responses": 'event: error\ndata: {"type": "error", "code": "server_error", "message": "It broke."}\n\n',
    "anthropic": 'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Full"}}\n\n',
}


def called(*calls: tuple[str, dict[str, str]]) -> dict[str, Any]:
    return {
        "content": "Looking at both of them.",
        "toolCalls": [{"name": name, "arguments": arguments} for name, arguments in calls],
        "usage": USAGE,
    }


def fixtures() -> list[dict[str, Any]]:
    looks = called(("look", {"topic": "etcd 支付"}), ("look", {"topic": "disk"}))
    played: list[dict[str, Any]] = []
    faults: dict[str, dict[str, Any]] = {
        "limited": {
            "response": {"error": {"message": "slow", "type": "rate_limit_error"}, "status": 429, "retryAfter": 1}
        },
        "severed": {"response": looks, "truncateAfterChunks": 6},
    }
    for job in JOBS:
        first = {"userMessage": job, "hasToolResult": False}
        if job in faults:
            played.append({"match": first | {"sequenceIndex": 0}, **faults[job]})
        played.append({"match": first, "response": looks})
        answer = {"content": f"Both are fine ({job}).", "usage": USAGE}
        played.append({"match": {"userMessage": job, "hasToolResult": True}, "response": answer})
    city = {"city": "Oslo"}
    return [
        *played,
        {"match": {"userMessage": "Count from 1"}, "response": {"content": "1 2 3 4 5 6 7 8 9 10", "usage": USAGE}},
        {"match": {"userMessage": "both tools"}, "response": called(("temperature", city), ("local_time", city))},
        {"match": {"userMessage": "Say hello"}, "response": called(("local_time", city))},
    ]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with aimock(fixtures(), tmp_path_factory.mktemp("aimock")) as url:
        yield url


@pytest.fixture(scope="module", params=list(ERRORS))
def desk(request: pytest.FixtureRequest, server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    """The command line over one wire format. The mock counts what it was asked apart for each."""
    provider = request.param
    settings = (
        f'[model]\nprovider = "{provider}"\nname = "mock"\nbase_url = "{server}/v1"\n'
        f'extra_headers = {{X-Test-Id = "{provider}"}}\n[tools.look]\nuse = "tests.e2e.desk_tools:look"\n'
    )
    with asker(tmp_path_factory.mktemp(provider), settings) as asking:
        yield asking


def provider_of(desk: Asker) -> str:
    return desk.folder.name.rstrip("0123456789")


def attempts(server: str, job: str, provider: str) -> list[tuple[int, bool]]:
    """Status and whether it streamed, of each request of this job to this provider, as the mock remembers them."""
    path = {"openai": "completions", "anthropic": "messages", "openai-responses": "responses"}[provider]
    with urlopen(f"{server}/__aimock/journal") as answer:
        journal = json.load(answer)
    entries = journal if isinstance(journal, list) else journal["entries"]
    return [
        (entry["response"]["status"], bool(entry["body"].get("stream")))
        for entry in entries
        if entry["path"].endswith(path) and job in json.dumps(entry["body"])
    ]


@pytest.mark.parametrize("job", JOBS)
def test_a_job_of_two_steps_and_two_parallel_calls_ends_answered_whatever_happens_on_the_way(
    desk: Asker, server: str, job: str
) -> None:
    provider = provider_of(desk)
    with ExitStack() as stack:
        more = {}
        if job == "spoiled":
            way = stack.enter_context(spoiling(server, job, ERRORS[provider], after_events=4))
            more["OPSPILOT_MODEL__BASE_URL"] = f"{way}/v1"
        status, events = desk.ask(f"Please {job} etcd and disk.", **more)
    stopped = events[-1]
    assert (status, stopped["data"]["stop_reason"]) == (0, "answered"), stopped
    assert stopped["data"]["answer"] == f"Both are fine ({job})."
    assert stopped["data"]["steps"] == 2
    assert stopped["data"]["usage"]["input_tokens"] == 22
    results = {event["call"]: event["data"] for event in events if event["kind"] == "tool.result"}
    assert {call: data["data"] for call, data in results.items()} == {
        "1.1": {"facts": "facts about etcd 支付"},
        "1.2": {"facts": "facts about disk"},
    }
    asked = attempts(server, job, provider)
    assert all(streamed for _, streamed in asked)
    assert [code for code, _ in asked] == {
        "compare": [200, 200],
        "limited": [429, 200, 200],
        "severed": [200, 200, 200],
        "spoiled": [200, 200, 200],
    }[job]


def test_doctor_finds_that_everything_works(desk: Asker) -> None:
    done = desk.run("doctor", "--model")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split(":")[0] for line in done.stdout.split("\n")[:-1]] == [
        "ok      streaming",
        "ok      parallel calls",
        "ok      forced calls",
        "ok      usage counts",
    ]
