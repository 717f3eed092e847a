"""What OpsPilot itself asks before a call runs is asked in the reader's language; what others wrote stays theirs."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from opspilot.core.interrupts import Principal
from opspilot.core.verdicts import MUST_AGREE
from opspilot.texts.endings import asked
from opspilot.texts.language import Language, speak
from opspilot.tools.builtin.restart_service import Config, build
from opspilot.tools.registry import Registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import ToolPlace
from opspilot.tools.trying import try_tool

CJK = re.compile("[\u4e00-\u9fff]")


@pytest.fixture
def in_chinese() -> Iterator[None]:
    speak(Language.CHINESE)
    yield
    speak(Language.ENGLISH)


async def question(folder: Path, environments: tuple[str, ...], **arguments: str) -> str:
    """What `restart_service` has a person asked."""
    tool = build("restart_service", Config(command=("true",), environments=environments), ToolPlace(folder, folder))
    given = {"service": "payment-2", "reason": "It hangs.", **arguments}
    # As approved where it would first be held: then it asks by itself what is missing.
    shown = await try_tool(
        ToolRuntime(Registry([tool])),
        tool.name,
        given,
        Principal("ann"),
        approved=len(environments) > 1 and not arguments,
    )
    return str(shown["reason"])


@pytest.mark.parametrize(
    ("environments", "arguments", "said"),
    [
        ((), {}, "重启 payment-2 吗？它正在处理的请求可能失败。"),
        (("eu-1",), {}, "重启 eu-1 环境的 payment-2 吗？它正在处理的请求可能失败。"),
        (("eu-1", "us"), {"environment": "us"}, "重启 us 环境的 payment-2 吗？它正在处理的请求可能失败。"),
        (("eu-1", "us"), {}, "要在哪个环境重启 payment-2？"),
    ],
)
async def test_a_restart_is_asked_about_in_the_readers_language(
    environments: tuple[str, ...],
    arguments: dict[str, str],
    said: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    reason = await question(tmp_path, environments, **arguments)
    assert asked({"reason": reason}) == reason
    request.getfixturevalue("in_chinese")
    assert asked({"reason": reason}) == said


def test_so_is_the_sentence_of_a_call_that_nobody_wrote_one_for(in_chinese: None) -> None:
    assert CJK.search(asked({"reason": MUST_AGREE}))


@pytest.mark.parametrize(
    "reason", ["Restart a b? Requests that it is serving may fail.", "Wipe orders?", "确定吗？", ""]
)
def test_what_a_rule_a_tool_or_a_model_asks_stays_as_it_was_written(reason: str, in_chinese: None) -> None:
    assert asked({"reason": reason}) == reason
