"""What the configured model can really do: at most three tiny requests, and a sentence for each thing they show.

Knows no wire format. Owns what is asked; how findings are shown is the command line's business.
"""

import asyncio
from collections.abc import AsyncIterator, Callable

from opspilot.choosing import build_model
from opspilot.cli.doctor import Finding
from opspilot.core.errors import ModelError
from opspilot.core.messages import ModelReply, ModelRequest, SystemMessage, ToolSpec, UserMessage
from opspilot.core.ports import Model
from opspilot.settings import ModelSettings

REQUEST_SECONDS = 120.0
_BRIEF = SystemMessage("You are being tested. Do exactly what is asked, and nothing else.")
_COUNT = "Count from 1 to 20 in digits, with a space between."
_BOTH = "What are the temperature in Rome and the time in Oslo? Call both tools, at once, in this one reply."
_NEITHER = "Say hello."


def _tool(name: str, description: str) -> ToolSpec:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return ToolSpec(name, description, schema)


_TOOLS = (_tool("temperature", "The temperature in a city."), _tool("local_time", "The time in a city."))


async def examine_model(settings: ModelSettings) -> AsyncIterator[Finding]:
    """The findings of `probe` for the model that the settings name; the offline demo has no server to ask."""
    if settings.adapter == "demo":
        fix = "Set OPENAI_API_KEY or ANTHROPIC_API_KEY, or model.base_url, and there is one to test."
        yield Finding("model", ok=True, text="demo (offline) plans by rules; there is no model to ask.", fix=fix)
        return
    async for finding in probe(build_model(settings)):
        yield finding


async def probe(model: Model) -> AsyncIterator[Finding]:
    """Each finding as it is made: streaming, parallel calls, forced calls, usage counts. Ends early at a failure.

    A failed request is a finding, not an exception.
    """
    replies: list[ModelReply] = []
    pieces: list[str] = []
    checks: tuple[tuple[str, ModelRequest, Callable[[ModelReply], Finding]], ...] = (
        ("streaming", ModelRequest((_BRIEF, UserMessage(_COUNT))), lambda _: _streaming(len(pieces))),
        ("parallel calls", ModelRequest((_BRIEF, UserMessage(_BOTH)), _TOOLS), _parallel),
        ("forced calls", ModelRequest((_BRIEF, UserMessage(_NEITHER)), _TOOLS, force="local_time"), _forced),
    )
    for name, request, judge in checks:
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                replies.append(await model.reply(request, pieces.append))
        except TimeoutError:
            text = f"{model.name} was not done after {REQUEST_SECONDS:g} seconds."
            yield Finding(name, ok=False, text=text, fix="Is it loaded, or is the machine too busy for it?")
            return
        except ModelError as error:
            yield Finding(
                name, ok=False, text=error.message, fix="See model.* in opspilot.toml, and docs/providers.md."
            )
            return
        yield judge(replies[-1])
    yield _usage(replies)


def _streaming(pieces: int) -> Finding:
    if pieces > 1:
        return Finding("streaming", ok=True, text=f"works: the answer came in {pieces} pieces.")
    text = "does not work: the whole answer came at once."
    return Finding("streaming", ok=False, text=text, fix="Runs work like this; nothing can be watched being written.")


def _parallel(reply: ModelReply) -> Finding:
    count = len(reply.calls)
    if count > 1:
        return Finding("parallel calls", ok=True, text=f"work: {count} calls in one reply.")
    if count:
        text = "do not work: one call came where two were asked for."
        return Finding("parallel calls", ok=False, text=text, fix="Runs work like this; they take more steps.")
    text = "do not work: no tool was called where two were asked for."
    return Finding("parallel calls", ok=False, text=text, fix="A model that calls no tools can only talk.")


def _forced(reply: ModelReply) -> Finding:
    if [call.name for call in reply.calls[:1]] == ["local_time"]:
        return Finding("forced calls", ok=True, text="work: the tool that was forced was called.")
    text = "do not work: another thing was done than to call the tool that was forced."
    return Finding(
        "forced calls", ok=False, text=text, fix="`ask --only TOOL --force` may call nothing with this model."
    )


def _usage(replies: list[ModelReply]) -> Finding:
    counted = [reply for reply in replies if reply.usage.input_tokens and reply.usage.output_tokens]
    if len(counted) == len(replies):
        total = sum(reply.usage.total_tokens for reply in replies)
        return Finding("usage counts", ok=True, text=f"work: {total} tokens for these requests.")
    text = f"do not work: {len(replies) - len(counted)} of {len(replies)} replies did not say what they cost."
    return Finding("usage counts", ok=False, text=text, fix="The limit on tokens can't stop a run with this model.")
