"""What the configured models can really do: at most three tiny requests to each, a sentence for each thing they show.

Knows no wire format. Owns what is asked; how findings are shown is the command line's business.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

from opspilot.choosing import build_model
from opspilot.cli.doctor import Finding
from opspilot.core.errors import ModelError
from opspilot.core.messages import ModelReply, ModelRequest, SystemMessage, ToolSpec, UserMessage
from opspilot.core.ports import Model
from opspilot.model_settings import ModelSettings
from opspilot.settings import Settings
from opspilot.texts.language import text

REQUEST_SECONDS = 120.0
_BRIEF = SystemMessage("You are being tested. Do exactly what is asked, and nothing else.")
_COUNT = "Count from 1 to 20 in digits, with a space between."
_BOTH = "What are the temperature in Rome and the time in Oslo? Call both tools, at once, in this one reply."
_NEITHER = "Say hello."


def _tool(name: str, description: str) -> ToolSpec:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return ToolSpec(name, description, schema)


_TOOLS = (_tool("temperature", "The temperature in a city."), _tool("local_time", "The time in a city."))


async def examine_models(settings: Settings) -> AsyncIterator[Finding]:
    """The findings for the default model, then those for each that has a table, with its name before theirs."""
    async for finding in examine_model(settings.model):
        yield finding
    for name, model in settings.models.items():
        async for finding in examine_model(model):
            yield replace(finding, name=f"{name} {finding.name}")


async def examine_model(settings: ModelSettings) -> AsyncIterator[Finding]:
    """The findings of `probe` for the model that the settings name; the offline demo has no server to ask."""
    if settings.adapter == "demo":
        yield Finding("model", ok=True, text=text("probe.demo"), fix=text("probe.demo.fix"))
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
            late = text("probe.late", model=model.name, seconds=f"{REQUEST_SECONDS:g}")
            yield Finding(name, ok=False, text=late, fix=text("probe.late.fix"))
            return
        except ModelError as error:
            yield Finding(name, ok=False, text=error.message, fix=text("probe.failed.fix"))
            return
        yield judge(replies[-1])
    yield _usage(replies)


def _streaming(pieces: int) -> Finding:
    if pieces > 1:
        return Finding("streaming", ok=True, text=text("probe.streaming", count=pieces))
    return Finding("streaming", ok=False, text=text("probe.streaming.not"), fix=text("probe.streaming.fix"))


def _parallel(reply: ModelReply) -> Finding:
    count = len(reply.calls)
    if count > 1:
        return Finding("parallel calls", ok=True, text=text("probe.parallel", count=count))
    how = "one" if count else "none"
    said, fix = text(f"probe.parallel.{how}"), text(f"probe.parallel.{how}.fix")
    return Finding("parallel calls", ok=False, text=said, fix=fix)


def _forced(reply: ModelReply) -> Finding:
    if [call.name for call in reply.calls[:1]] == ["local_time"]:
        return Finding("forced calls", ok=True, text=text("probe.forced"))
    return Finding("forced calls", ok=False, text=text("probe.forced.not"), fix=text("probe.forced.fix"))


def _usage(replies: list[ModelReply]) -> Finding:
    counted = [reply for reply in replies if reply.usage.input_tokens and reply.usage.output_tokens]
    if len(counted) == len(replies):
        total = sum(reply.usage.total_tokens for reply in replies)
        return Finding("usage counts", ok=True, text=text("probe.usage", total=total))
    missing = len(replies) - len(counted)
    said = text("probe.usage.not", count=missing, all=len(replies))
    return Finding("usage counts", ok=False, text=said, fix=text("probe.usage.fix"))
