"""What `doctor --model` finds out: what works and what does not, asking a scripted model three times at most."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opspilot import probing
from opspilot.cli.doctor import Finding
from opspilot.core.messages import ModelReply, ModelRequest
from opspilot.core.ports import Model
from opspilot.model_settings import ModelSettings
from opspilot.models.scripted import ScriptedModel
from opspilot.probing import examine_model, examine_models, probe
from opspilot.settings import load_settings
from opspilot.texts.language import Language, speak

USAGE = {"input_tokens": 9, "output_tokens": 3}
COUNTS = {"text": " ".join(map(str, range(1, 21))), "usage": USAGE}
BOTH = {"calls": [{"name": "temperature"}, {"name": "local_time"}], "usage": USAGE}
FORCED = {"calls": [{"name": "local_time"}], "usage": USAGE}


class Turns(Model):
    """Each request begins a conversation, so the script is told apart by how many came before."""

    def __init__(self, *steps: dict[str, Any]) -> None:
        self.asked: list[ModelRequest] = []
        self._steps = [ScriptedModel([step]) for step in steps]

    @property
    def name(self) -> str:
        return "turns"

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        self.asked.append(request)
        return await self._steps[len(self.asked) - 1].reply(request, on_text)


async def found(*steps: dict[str, Any]) -> list[Finding]:
    model = Turns(*steps)
    findings = [finding async for finding in probe(model)]
    assert len(model.asked) <= 3
    return findings


async def test_a_model_that_can_do_everything_is_told_so_in_four_sentences() -> None:
    findings = await found(COUNTS, BOTH, FORCED)
    assert [finding.name for finding in findings] == ["streaming", "parallel calls", "forced calls", "usage counts"]
    assert all(finding.ok for finding in findings)
    assert findings[3].text == "work: 36 tokens for these requests."


@pytest.mark.parametrize(
    ("steps", "name", "says"),
    [
        ([COUNTS | {"text": "1"}, BOTH, FORCED], "streaming", "came at once"),
        ([COUNTS, FORCED, FORCED], "parallel calls", "one call came"),
        ([COUNTS, COUNTS, FORCED], "parallel calls", "no tool was called"),
        ([COUNTS, BOTH, COUNTS], "forced calls", "another thing was done"),
        ([COUNTS, BOTH, BOTH], "forced calls", "another thing was done"),
        ([COUNTS, BOTH | {"usage": {}}, FORCED], "usage counts", "1 of 3 replies"),
    ],
)
async def test_what_does_not_work_is_named_with_what_that_means(
    steps: list[dict[str, Any]], name: str, says: str
) -> None:
    wrong = [finding for finding in await found(*steps) if not finding.ok]
    assert [finding.name for finding in wrong] == [name]
    assert says in wrong[0].text
    assert wrong[0].fix


async def test_a_failure_ends_it_with_the_servers_own_words() -> None:
    error = {"error": {"fault": "auth", "message": "The model server x did not accept the key."}}
    findings = await found(COUNTS, error)
    assert [finding.ok for finding in findings] == [True, False]
    assert findings[1].text == "The model server x did not accept the key."


async def test_a_model_that_never_ends_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "REQUEST_SECONDS", 0.01)
    async with asyncio.timeout(10):
        (finding,) = await found(COUNTS | {"delay_seconds": 60})
    assert "not done" in finding.text


async def test_every_model_with_a_table_is_asked_after_the_default_and_named(tmp_path: Path) -> None:
    (tmp_path / "counts.json").write_text(json.dumps([COUNTS]), encoding="utf-8")
    (tmp_path / "opspilot.toml").write_text('[models.played]\nprovider = "scripted"\nscript = "counts.json"\n')
    findings = [finding async for finding in examine_models(load_settings(tmp_path / "opspilot.toml"))]
    assert [(finding.name, finding.ok) for finding in findings] == [
        ("model", True),
        ("played streaming", True),
        ("played parallel calls", False),
        ("played forced calls", False),
        ("played usage counts", True),
    ]


async def test_findings_are_in_the_language_that_is_spoken() -> None:
    speak(Language.CHINESE)
    try:
        findings = await found(COUNTS, FORCED, FORCED)
    finally:
        speak(Language.ENGLISH)
    assert findings[0].text.startswith("可用：")
    assert findings[1].text == "不可用：要求两个调用，只来了一个。"


async def test_the_demo_has_no_model_to_ask() -> None:
    (finding,) = [finding async for finding in examine_model(ModelSettings())]
    assert finding.ok
    assert "demo (offline)" in finding.text
