"""What the shell adds to the formats: addresses, headers, fields, strictness, pauses, routes; over real sockets."""

import json
from pathlib import Path
from typing import Any

import pytest

from opspilot.core.errors import ModelError, ModelFault, UsageError
from opspilot.core.messages import Finish, ModelReply, ModelRequest, ToolSpec, Usage, UserMessage
from opspilot.models.anthropic import MAX_PAUSES, AnthropicModel
from opspilot.models.http import Route
from opspilot.models.openai import OpenAIModel
from opspilot.models.responses import ResponsesModel
from opspilot.models.wire_model import WireModel, WireOptions
from tests.models.canned import canned

KEY = "sk-very-secret-key"
TOOLS = (ToolSpec("now", "", {}),)
ADAPTERS: list[type[Any]] = [OpenAIModel, AnthropicModel, ResponsesModel]


def claude(*content: dict[str, Any], reason: str = "end_turn") -> str:
    usage = {"input_tokens": 3, "output_tokens": 2}
    return json.dumps({"type": "message", "content": content, "stop_reason": reason, "usage": usage})


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def called(adapter: type[Any], *calls: tuple[str, str]) -> str:
    """A whole reply of these calls (id, name) in the adapter's format."""
    if adapter is AnthropicModel:
        return claude(*({"type": "tool_use", "id": id_, "name": name, "input": {}} for id_, name in calls))
    if adapter is ResponsesModel:
        output = [{"type": "function_call", "call_id": id_, "name": name, "arguments": "{}"} for id_, name in calls]
        return json.dumps({"status": "completed", "output": output})
    listed = [{"id": id_, "function": {"name": name, "arguments": "{}"}} for id_, name in calls]
    return json.dumps({"choices": [{"message": {"tool_calls": listed}, "finish_reason": "tool_calls"}]})


async def ask(model: WireModel, shown: list[str] | None = None, force: str | None = None) -> ModelReply:
    pieces: list[str] = [] if shown is None else shown
    return await model.reply(ModelRequest((UserMessage("q"),), TOOLS, force=force), pieces.append)


@pytest.mark.parametrize(
    ("adapter", "base", "path", "header", "value"),
    [
        (OpenAIModel, "/v1", "/v1/chat/completions", "authorization", f"Bearer {KEY}"),
        (ResponsesModel, "/v1/", "/v1/responses", "authorization", f"Bearer {KEY}"),
        (AnthropicModel, "", "/v1/messages", "x-api-key", KEY),
        (AnthropicModel, "/v1/", "/v1/messages", "x-api-key", KEY),
        (AnthropicModel, "/proxy?tenant=1", "/proxy/v1/messages?tenant=1", "anthropic-version", "2023-06-01"),
    ],
)
async def test_each_format_has_its_path_and_its_way_to_show_the_key(
    adapter: type[Any], base: str, path: str, header: str, value: str
) -> None:
    with canned(called(adapter, ("a", "now"))) as server:
        options = WireOptions(extra_headers={"X-Team": "ops"}, extra_body={"seed": 7, "model": "no"})
        reply = await ask(adapter("m", server.url + base, KEY, options))
        (asked_path, headers, body) = server.asked[0]
    assert reply.calls[0].name == "now"
    assert (asked_path, headers[header], headers["x-team"]) == (path, value, "ops")
    assert (body["seed"], body["model"]) == (7, "m")


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize(
    ("calls", "says"),
    [
        ([("", "now")], "a call without an id"),
        ([("a", "")], "a call without a name"),
        ([("a", "now"), ("a", "now")], "two calls with one id"),
    ],
)
async def test_flawed_calls_are_mended_unless_strictness_refuses_the_reply(
    adapter: type[Any], calls: list[tuple[str, str]], says: str
) -> None:
    with canned(called(adapter, *calls), called(adapter, *calls)) as server:
        base = server.url + "/v1"
        mended = await ask(adapter("m", base))
        assert len({call.id for call in mended.calls}) == len(calls)
        with pytest.raises(ModelError, match=says) as caught:
            await ask(adapter("m", base, "", WireOptions(strict_tool_calls=True)))
    assert (caught.value.fault, caught.value.retryable) == (ModelFault.BAD_REPLY, True)


@pytest.mark.parametrize("adapter", ADAPTERS)
async def test_strictness_takes_sound_replies_as_they_are(adapter: type[Any]) -> None:
    with canned(called(adapter, ("a", "now"), ("b", "now"))) as server:
        reply = await ask(adapter("m", server.url + "/v1", "", WireOptions(strict_tool_calls=True)))
    assert [call.id for call in reply.calls] == ["a", "b"]


async def test_a_paused_turn_is_carried_on_with_its_own_words_and_is_one_reply() -> None:
    search = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    call = {"type": "tool_use", "id": "a", "name": "now", "input": {}}
    shown: list[str] = []
    with canned(claude(text("One. "), search, reason="pause_turn"), claude(found, text("Two."), call)) as server:
        reply = await ask(AnthropicModel("m", server.url), shown)
        again = server.asked[1][2]["messages"]
    assert again[-1] == {"role": "assistant", "content": [text("One. "), search]}
    assert (reply.text, reply.finish, reply.usage) == ("One. Two.", Finish.TOOL_CALLS, Usage(6, 4))
    assert reply.opaque == {"content": [text("One. "), search, found, text("Two."), {"type": "tool_use"}]}


async def test_a_turn_that_pauses_for_ever_is_left_at_what_it_said() -> None:
    pauses = [claude(text("so "), reason="pause_turn")] * (MAX_PAUSES + 1)
    with canned(*pauses) as server:
        reply = await ask(AnthropicModel("m", server.url))
        assert len(server.asked) == MAX_PAUSES + 1
    assert reply.text == "so " * (MAX_PAUSES + 1)


async def test_thinking_gives_way_to_a_forced_call_which_excludes_it() -> None:
    with canned(claude(text("a")), claude(text("a"))) as server:
        model = AnthropicModel("m", server.url, "", WireOptions(extra_body={"thinking": {"type": "adaptive"}}))
        await ask(model)
        await ask(model, force="now")
        assert ["thinking" in body for _, _, body in server.asked] == [True, False]


async def test_a_proxy_is_asked_instead_of_the_server() -> None:
    with canned(called(OpenAIModel, ("a", "now"))) as proxy:
        route = Route(proxy=proxy.url.replace("http://", "http://me:hunter22@"))
        await ask(OpenAIModel("m", "http://127.0.0.2:9/v1", "", WireOptions(route=route)))
        path, headers, _ = proxy.asked[0]
    assert path == "http://127.0.0.2:9/v1/chat/completions"
    assert headers["proxy-authorization"].startswith("Basic ")
    assert "hunter22" not in repr(route)


@pytest.mark.parametrize("proxy", ["proxy:3128", "ftp://proxy", ""])
def test_a_proxy_that_is_none_is_refused_at_once(proxy: str) -> None:
    with pytest.raises(UsageError, match="must look like"):
        Route(proxy=proxy)


def test_certificates_that_are_none_are_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nothing", encoding="utf-8")
    with pytest.raises(UsageError, match=r"ca\.pem can't be read as certificates"):
        Route(ca_file=tmp_path / "ca.pem")
