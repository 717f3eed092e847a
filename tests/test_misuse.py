"""A command line that can't be meant is answered with one sentence, in the reader's language, and nothing is done."""

from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

import starter
from opspilot.texts.language import Language, speak

ONE_OF_TWO, ONE_OF_TWO_ZH = "--on-limit must be one of stop, ask.", "--on-limit 必须是以下之一：stop, ask。"


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    speak(Language.ENGLISH)


def said(*arguments: str) -> str:
    """What is printed, all of it on standard error."""
    ended = CliRunner().invoke(starter.app, list(arguments), prog_name="starter.py", env={"LANG": "C", "LC_ALL": "C"})
    assert (ended.exit_code, ended.stdout) == (2, "")
    return ended.stderr


@pytest.mark.parametrize(
    ("arguments", "english", "chinese"),
    [
        (["ask", "--on-limit", "perhaps", "x"], ONE_OF_TWO, ONE_OF_TWO_ZH),
        (["ask", "--on-limit=st'o,p", "x"], ONE_OF_TWO, ONE_OF_TWO_ZH),
        (["ask", "--max-steps", "0", "x"], "--max-steps must be at least 1.", "--max-steps 必须不小于 1。"),
        (["ask", "--max-steps", "1001", "x"], "--max-steps must be at most 1,000.", "--max-steps 必须不超过 1,000。"),
        (["ask", "--max-steps", "ten", "x"], "--max-steps must be a whole number.", "--max-steps 必须是整数。"),
        (["ask", "--max-seconds", "long", "x"], "--max-seconds must be a number.", "--max-seconds 必须是一个数。"),
        (["ask"], "question is missing.", "缺少 question。"),
        (["ask", "why", "slow"], "This is more than the command takes: slow.", "多出了这个命令不接受的内容：slow。"),
        (["ask", "x", "--loca"], "There is no option --loca. Did you mean --local", "没有选项 --loca。是不是 --local"),
        (["ask", "x", "--colour"], "There is no option --colour.", "没有选项 --colour。"),
        (["ask", "x", "--json=3"], "--json needs a value, or takes none.", "--json 需要一个值，或不接受值。"),
        (["tools", "call"], "name is missing.", "缺少 name。"),
    ],
)  # fmt: skip
def test_each_mistake_has_a_sentence_in_both_languages(arguments: list[str], english: str, chinese: str) -> None:
    command = "starter.py tools call" if arguments[0] == "tools" else "starter.py ask"
    before = said(*arguments)
    assert before.startswith(english)
    assert before.endswith(f" See `{command} --help`.\n")
    # Wherever it stands: what is wrong may come before it.
    for wish in (["--lang=zh"], ["--lang", "zh"]):
        told = said(*arguments, *wish)
        assert told.startswith(chinese)
        assert told.endswith(f"见 `{command} --help`。\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["sesions"], "There is no command 'sesions'. Did you mean sessions? See `starter.py --help`.\n"),
        (["tools", "drill"], "There is no command 'drill'. See `starter.py tools --help`.\n"),
        (["--lang", "zh", "ask"], "There is no option --lang. See `starter.py --help`.\n"),
    ],
)
def test_so_has_a_command_that_there_is_not(arguments: list[str], sentence: str) -> None:
    assert said(*arguments) == sentence


def test_a_language_that_there_is_not_is_refused_in_that_of_the_locale() -> None:
    assert said("sessions", "--lang", "fr") == (
        "--lang must be one of auto, en, zh. See `starter.py sessions --help`.\n"
    )


@pytest.mark.parametrize("arguments", [[], ["tools"], ["ask", "--help"]])
def test_help_is_help(arguments: list[str]) -> None:
    ended = CliRunner().invoke(starter.app, arguments, prog_name="starter.py")
    assert "Usage: starter.py" in ended.output
    assert "See `" not in ended.output
