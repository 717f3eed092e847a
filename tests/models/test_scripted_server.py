"""The scripted server, as any HTTP client sees it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from opspilot.models.scripted_server import ScriptedServer

BODY: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
TOOLS = [{"type": "function", "function": {"name": "search", "parameters": {}}}]
CALL = {
    "text": "é",
    "calls": [{"name": "search", "arguments": {"query": "支付 errors"}}, {"name": "search"}],
    "final": "Bye.",
}


def post(server: ScriptedServer, **more: Any) -> httpx.Response:
    return httpx.post(f"{server.url}/chat/completions", json=BODY | more, headers={"Authorization": "Bearer sk-1"})


def test_without_streaming_the_step_is_one_completion() -> None:
    with ScriptedServer([CALL]) as server:
        answer = post(server, tools=TOOLS).json()
    message = answer["choices"][0]["message"]
    assert message["content"] == "é"
    assert [json.loads(call["function"]["arguments"]) for call in message["tool_calls"]] == [
        {"query": "支付 errors"},
        {},
    ]
    assert answer["choices"][0]["finish_reason"] == "tool_calls"
    assert answer["usage"]["total_tokens"] == 0


def test_a_stream_has_split_arguments_usage_when_asked_for_and_an_end() -> None:
    with ScriptedServer([CALL]) as server:
        with_usage = post(server, tools=TOOLS, stream=True, stream_options={"include_usage": True})
        without = post(server, tools=TOOLS, stream=True)
    assert with_usage.headers["content-type"] == "text/event-stream"
    events = [json.loads(line[6:]) for line in with_usage.text.split("\n") if line.startswith("data: {")]
    fragments = [
        call for event in events for choice in event["choices"] for call in choice["delta"].get("tool_calls", [])
    ]
    assert len([fragment for fragment in fragments if fragment["index"] == 0]) > 2
    assert events[-1]["choices"] == []
    assert "usage" in events[-1]
    assert with_usage.text.endswith("data: [DONE]\n\n")
    assert "usage" not in without.text


def test_without_tools_the_final_text_is_said() -> None:
    with ScriptedServer([CALL]) as server:
        choice = post(server).json()["choices"][0]
    assert choice["message"] == {"role": "assistant", "content": "Bye."}
    assert choice["finish_reason"] == "stop"


def test_an_unexpected_request_is_a_400_that_says_why() -> None:
    with ScriptedServer([{"text": "a", "expect": {"contains": "something else"}}]) as server:
        answer = post(server)
    assert answer.status_code == 400
    assert "expects 'something else'" in answer.json()["error"]["message"]


def test_requests_and_left_over_steps_can_be_read_over_http_without_the_key() -> None:
    with ScriptedServer([{"text": "a"}, {"text": "b"}]) as server:
        post(server)
        root = server.url.removesuffix("/v1")
        (received,) = httpx.get(f"{root}/requests").json()
        assert httpx.get(f"{root}/left-over").json() == [2]
        assert httpx.get(f"{root}/nothing").status_code == 404
    assert (received["step"], received["attempt"], received["body"]) == (1, 1, BODY)
    assert received["headers"]["authorization"] == "[set]"
    with pytest.raises(AssertionError, match="2"):
        server.assert_done()


def test_faults_on_the_wire_last_for_the_first_attempts_only() -> None:
    fault = {"attempts": 2, "status": 503, "headers": {"Retry-After": "1"}, "body": "busy"}
    with ScriptedServer([{"text": "a", "http": fault}]) as server:
        answers = [post(server) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [503, 503, 200]
    assert (answers[0].headers["retry-after"], answers[0].text) == ("1", "busy")


def test_what_is_not_json_and_what_is_no_completion_are_refused() -> None:
    with ScriptedServer([{"text": "a"}]) as server:
        assert httpx.post(f"{server.url}/chat/completions", content=b"{").status_code == 400
        assert httpx.post(f"{server.url}/embeddings", json={}).status_code == 404


def test_as_a_program_it_prints_its_address_and_serves(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('[{"text": "hello"}]', encoding="utf-8")
    command = [sys.executable, "-m", "opspilot.models.scripted_server", str(script), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            answer = httpx.post(f"{url}/chat/completions", json=BODY).json()
        finally:
            server.terminate()
    assert answer["choices"][0]["message"]["content"] == "hello"


def test_as_a_program_it_refuses_a_bad_script_in_a_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "opspilot.models.scripted_server", str(tmp_path / "none.json")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith("The script ")
    assert "Traceback" not in ended.stderr
