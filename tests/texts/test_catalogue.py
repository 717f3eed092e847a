"""One catalogue in two languages: the same keys and placeholders, all of them used, and no sentence beside it."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Formatter

import pytest

from opspilot.cli.listing import STATES
from opspilot.core.limits import Limits, StopReason, sentence
from opspilot.core.observations import SENTENCES, ErrorCode
from opspilot.texts.chinese import CHINESE
from opspilot.texts.endings import ending, failure
from opspilot.texts.english import ENGLISH
from opspilot.texts.language import CATALOGUE, Language, call_program, counted, language_of, speak, text

ROOT = Path(__file__).parents[2]
FOLDERS = ("access", "cli", "notifying", "sections", "web")
SPEAKING = (
    "starter.py",
    *(
        f"opspilot/{name}.py"
        for name in (
            "approval_key",
            "channels",
            "client",
            "embedded",
            "fate",
            "keeping",
            "model_settings",
            "probing",
            "refusals",
            "settings",
            "settings_errors",
            "stack_web",
            "texts/endings",
            "texts/folding",
            "texts/guessing",
            "texts/objections",
        )
    ),
    *sorted(str(file.relative_to(ROOT)) for folder in FOLDERS for file in (ROOT / "opspilot" / folder).rglob("*.py")),
)
"""What speaks to people at the command line and in the browser."""
TEMPLATES = ROOT / "opspilot" / "web" / "templates"
ASKED = re.compile(r"""\b(text|counted)\(\s*["']([\w.]+)["']( *~)?""")
"""A key in a template; with `~` it is the beginning of several."""
PRINTS = {
    "echo",
    "print",
    "say",
    "_say",
    "print_line",
    "_line",
    "UsageError",
    "Unreachable",
    "OpsPilotError",
    "Finding",
}
"""What is given sentences. A literal may be handed to it when there is nothing in it to translate."""
CJK = re.compile("[\u4e00-\u9fff]")


def trees() -> Iterator[tuple[str, ast.Module]]:
    for name in SPEAKING:
        yield name, ast.parse((ROOT / name).read_text(encoding="utf-8"))


def placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name is not None} - {"program"}


def test_both_languages_have_the_same_keys_in_the_same_order() -> None:
    assert list(ENGLISH) == list(CHINESE)


@pytest.mark.parametrize("key", ENGLISH)
def test_a_sentence_has_the_same_placeholders_and_commands_in_both(key: str) -> None:
    english, chinese = ENGLISH[key], CHINESE[key]
    assert placeholders(english) == placeholders(chinese)
    for options in (r"--[a-z]+", r"\{program\} [a-z]+", r"python worker\.py", r"\b[A-Z]+_[A-Z_]+\b"):
        assert sorted(re.findall(options, english)) == sorted(re.findall(options, chinese))
    assert "" not in (english.strip(), chinese.strip())
    assert not CJK.search(english)


def test_what_is_said_in_chinese_is_chinese() -> None:
    """But for names, figures and commands."""
    bare = {
        "asking.names",
        "doctor.fix",
        "doctor.temporal.fix",
        "happened",
        "policy.course",
        "prompt.about",
        "reply.comment",
        "reply.other",
        "reply.values",
        "transcript.call",
        "transcript.fact",
        "transcript.title",
        "transcript.took",
    }
    assert {key for key, said in CHINESE.items() if not CJK.search(said)} == bare


def keys_used() -> Iterator[tuple[str, str]]:
    """Keys as they stand in the code; the part before the first placeholder of those that are put together."""
    for name, tree in trees():
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args):
                continue
            called, first = node.func.id, node.args[0]
            if called not in {"text", "say", "counted"}:
                continue
            ending = "." if called == "counted" else ""
            for value in [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]:
                if isinstance(value, ast.Constant):
                    yield name, str(value.value) + ending
                elif isinstance(value, ast.JoinedStr):
                    start = value.values[0]
                    assert isinstance(start, ast.Constant), f"{name}:{node.lineno} begins with a placeholder"
                    yield name, str(start.value)


def keys_in_templates() -> Iterator[tuple[str, str]]:
    for file in sorted(TEMPLATES.rglob("*.html")):
        for called, key, _ in ASKED.findall(file.read_text(encoding="utf-8")):
            yield file.name, f"{key}." if called == "counted" else key


def test_every_key_that_the_code_asks_for_is_there_and_every_key_is_asked_for() -> None:
    asked = set(keys_used()) | set(keys_in_templates())
    assert [(name, key) for name, key in asked if not any(known.startswith(key) for known in ENGLISH)] == []
    constants = [
        (node.value, first)
        for _, tree in trees()
        for each in ast.walk(tree)
        for first, node in [
            (True, each.values[0]) if isinstance(each, ast.JoinedStr) and each.values else (False, each)
        ]
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    literal = {value for value, begins in constants if not begins} | {key for _, key in keys_in_templates()}
    started = tuple(value for value, begins in constants if begins and re.fullmatch(r"[a-z_.]+\.", value))
    started += tuple(key for _, key in asked if key.endswith("."))
    unused = [key for key in ENGLISH if key not in literal and not key.startswith(started)]
    assert unused == []


def sentences_beside(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Literals of two words or more that are handed to what prints."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in PRINTS and not any(keyword.arg == "help" for keyword in node.keywords):
            continue
        values = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg in {"text", "fix", "help"})]
        for value in values:
            parts = value.values if isinstance(value, ast.JoinedStr) else [value]
            for part in parts:
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield node.lineno, part.value


def test_no_sentence_for_people_stands_outside_the_catalogue() -> None:
    wordy = re.compile(r"[A-Za-z]{2,}\W+[A-Za-z]{2,}|[\u4e00-\u9fff]")
    harmless = {"search attributes", "bold yellow", "parallel calls", "forced calls", "usage counts"}
    found = [
        f"{name}:{line} {said!r}"
        for name, tree in trees()
        for line, said in sentences_beside(tree)
        if wordy.search(said) and said not in ENGLISH and said not in harmless
    ]
    assert found == []


# ---------------------------------------------------------------- what the record says in English


@pytest.mark.parametrize("reason", list(StopReason))
def test_each_reason_is_said_in_english_as_the_record_says_it_and_in_chinese_with_what_it_adds(
    reason: StopReason,
) -> None:
    limits = Limits(steps=3, active_seconds=40.0, tokens=1234, failures_in_a_row=2)
    stopped = {"stop_reason": reason.value, "message": sentence(reason, limits, "The disk is full.")}

    assert ending(stopped, limits) == stopped["message"]
    speak(Language.CHINESE)
    try:
        said = ending(stopped, limits)
    finally:
        speak(Language.ENGLISH)
    assert CJK.search(said)
    assert said.endswith(" The disk is full.")
    for number in re.findall(r"\d+", stopped["message"]):
        assert number in said


@pytest.mark.parametrize("code", list(ErrorCode))
def test_each_code_is_said_in_english_as_the_model_reads_it(code: ErrorCode) -> None:
    message = SENTENCES.get(code, "What the tool says.")
    assert failure({"errorCode": code.value, "message": f"{message} They said: no."}) == f"{message} They said: no."


@pytest.mark.parametrize(
    ("stopped", "said"),
    [
        ({}, ""),
        ({"message": "Gone."}, "Gone."),
        ({"stop_reason": "of_tomorrow"}, "of_tomorrow"),
        ({"stop_reason": "answered"}, "Answered."),
        ({"stop_reason": "answered", "message": "In other words."}, "In other words."),
    ],
)
def test_what_this_version_does_not_know_is_said_as_it_was_written(stopped: Mapping[str, str], said: str) -> None:
    assert ending(stopped) == said


def test_every_state_of_a_session_has_a_word() -> None:
    assert {f"state.{state}" for state in STATES} <= ENGLISH.keys()


# ---------------------------------------------------------------- the language


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, Language.ENGLISH),
        ({"LANG": "zh_CN.UTF-8"}, Language.CHINESE),
        ({"LANG": "zh_TW"}, Language.CHINESE),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, Language.ENGLISH),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, Language.CHINESE),
        ({"LC_MESSAGES": "zh_CN.UTF-8", "LC_ALL": ""}, Language.CHINESE),
        ({"LANG": "de_DE.UTF-8"}, Language.ENGLISH),
    ],
)
def test_the_locale_decides_in_the_order_of_posix(environment: dict[str, str], language: Language) -> None:
    assert language_of(environment) is language


def test_every_language_that_can_be_spoken_has_its_catalogue() -> None:
    assert CATALOGUE.keys() == set(Language) - {Language.AUTO}


def test_hints_name_the_program_as_it_was_called_and_values_are_never_templates() -> None:
    call_program("opspilot")
    try:
        assert text("refused.no_session", session="{program}", guess="") == (
            "There is no session {program} in this journal. `opspilot sessions` lists them."
        )
    finally:
        call_program("starter.py")
    assert (counted("figures.steps", 1), counted("figures.steps", 1200)) == ("1 step", "1,200 steps")
