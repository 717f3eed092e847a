"""`tools list`, `tools show`, `tools call`: what an author of tools sees, without a server and outside any run."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from typer.testing import CliRunner

import starter
from opspilot.core.verdicts import MUST_AGREE
from opspilot.texts.language import Language, speak

TOOLS = '''
import time
from typing import Annotated, Literal

from pydantic import Field

from opspilot.core.interrupts import Interrupt, InterruptType
from opspilot.core.ports import CallContext
from opspilot.tools.spec import Sensitive, tool


@tool(effect="read", timeout_seconds=0.2)
def depth(
    queue: Annotated[str, Field(description="Which one.")],
    unit: Literal["messages", "bytes"] = "messages",
    sizes: list[int] | None = None,
) -> dict[str, object]:
    """How deep a queue is. In messages.

    Returns the depth.
    """
    if queue == "slow":
        time.sleep(1)
    if queue == "broken":
        raise ValueError("no such thing, token=hunter2")
    return {"depth": 3, "password": "hunter2", "text": "深い\\u202e", "more": "x" * (20_000 if queue == "long" else 0)}


@tool(roles=["oncall"], idempotent=True)
def drain(context: CallContext, queue: str) -> object:
    """Empty a queue."""
    if "why" not in context.answers:
        return Interrupt(InterruptType.QUESTION, "Why?")
    if not context.approved:
        return Interrupt(InterruptType.CONFIRM_RISKY, f"{queue} would be emptied", {"queue": queue})
    return {"emptied": queue, "by": context.principal.id, "key": context.idempotency_key, "why": context.answers["why"]}


@tool()
def ping() -> str:
    """Say pong"""
    return "pong"


@tool(question=lambda code, where: f"Seal the {where}?")
def seal(code: Annotated[str, Sensitive(), Field(description="To open it again.")], where: str = "gate") -> str:
    """Seal something."""
    return f"{where} sealed with {code}"
'''
SETTINGS = """
[tools.depth]
use = "author_tools:depth"
[tools.drain]
use = "author_tools:drain"
[tools.ping]
use = "author_tools:ping"
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Runs `opspilot tools …` beside an opspilot.toml that names three tools; gives status, output and errors."""
    (tmp_path / "author_tools.py").write_text(TOOLS, encoding="utf-8")
    (tmp_path / "opspilot.toml").write_text(SETTINGS)
    monkeypatch.setenv("OPSPILOT_CONFIG", str(tmp_path / "opspilot.toml"))
    monkeypatch.setattr(sys, "path", [*sys.path])

    def run(*arguments: str) -> tuple[int, str, str]:
        done = CliRunner().invoke(starter.app, ["tools", *arguments])
        return done.exit_code, done.stdout, done.stderr

    yield run
    sys.modules.pop("author_tools", None)
    structlog.reset_defaults()
    speak(Language.ENGLISH)


def called(run: Run, *arguments: str) -> tuple[int, Any, str]:
    status, output, errors = run("call", *arguments)
    return status, json.loads(output), errors


def test_list_has_a_line_for_each_tool_and_for_the_one_that_is_always_there(run: Run) -> None:
    status, output, _ = run("list")
    assert status == 0
    assert output.split("\n")[:3] == [
        "depth      read   How deep a queue is",
        "drain      write  Empty a queue",
        "ping       write  Say pong",
    ]
    assert [json.loads(line)["name"] for line in run("list", "--json")[1].strip().split("\n")] == [
        "depth",
        "drain",
        "ping",
        "read_more",
        "ask_human",
    ]


def test_show_says_what_a_model_is_told_and_what_limits_the_tool(run: Run) -> None:
    status, output, _ = run("show", "depth")
    assert status == 0
    assert output.split("\n") == [
        "depth: read; may run beside other calls; at most 0.2 s",
        "",
        "How deep a queue is. In messages.",
        "",
        "Returns the depth.",
        "",
        "Parameters:",
        "  queue (string, required): Which one.",
        '  unit ("messages" | "bytes", "messages" if left out)',
        "  sizes (array of integer | null)",
        "",
    ]
    assert (
        "write; runs alone; at most 30 s; the same key twice does it once; only for people" in run("show", "drain")[1]
    )
    assert run("show", "ping")[1].endswith("It has no parameters.\n")


def test_show_as_json_has_the_whole_schema_effect_limits_and_roles(run: Run) -> None:
    declared = json.loads(run("show", "drain", "--json")[1])
    assert declared["input_schema"]["required"] == ["queue"]
    assert (declared["effect"], declared["timeout_seconds"], declared["roles"]) == ("write", 30.0, ["oncall"])
    assert (declared["idempotent"], declared["concurrent"], declared["reconcile"]) == (True, False, False)


def test_a_call_that_goes_well_prints_its_observation_redacted_and_ends_with_0(run: Run) -> None:
    status, shown, errors = called(run, "depth", "--args", '{"queue": "orders"}')
    assert status == 0
    assert shown == {
        "ok": True,
        "data": {"depth": 3, "password": "[redacted:secret]", "text": "深い\u202e", "more": ""},
    }
    assert errors.startswith("depth went well in ")


def test_a_long_result_is_cut_as_in_a_run_and_read_more_says_that_there_is_no_run(run: Run) -> None:
    _, shown, _ = called(run, "depth", "--args", '{"queue": "long"}')
    rest = json.dumps(shown["data"]["read_more"])
    status, more, _ = called(run, "read_more", "--args", rest)
    assert status == 1
    assert "There is no run here" in more["message"]


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        ("{}", "invalid_arguments", "queue: is required"),
        ('{"queue": "orders", "unit": "miles"}', "invalid_arguments", "unit"),
        ('{"queue": "slow"}', "timed_out", "within 0.2 s"),
        ('{"queue": "broken"}', "tool_failed", "no such thing"),
    ],
)
def test_a_call_that_fails_prints_what_the_model_would_read_and_ends_with_1(
    run: Run, args: str, code: str, says: str
) -> None:
    status, shown, errors = called(run, "depth", "--args", args)
    assert (status, shown["ok"], shown["errorCode"]) == (1, False, code)
    assert says in shown["message"]
    assert "hunter2" not in str(shown) + errors
    assert "Traceback" not in errors


def test_the_place_of_a_failure_is_shown_on_demand_and_redacted(run: Run) -> None:
    _, _, errors = called(run, "depth", "--trace", "--args", '{"queue": "broken"}')
    assert 'raise ValueError("no such thing' in errors
    assert "author_tools.py" in errors
    assert "hunter2" not in errors


def test_a_call_asks_with_4_until_it_is_approved_and_answered(run: Run) -> None:
    arguments: tuple[str, ...] = ("drain", "--args", '{"queue": "orders"}', "--role", "oncall")
    status, shown, errors = called(run, *arguments)
    assert (status, shown["interruptType"], shown["reason"]) == (4, "confirm_risky", MUST_AGREE)
    assert "--yes" in errors
    arguments = (*arguments, "--yes")
    status, shown, errors = called(run, *arguments)
    assert (status, shown["interruptType"], shown["reason"]) == (4, "question", "Why?")
    assert "--answers" in errors
    arguments = (*arguments, "--answers", '{"why": "full"}')
    status, shown, _ = called(run, *arguments)
    assert (status, shown["data"]["emptied"], shown["data"]["why"]) == (0, "orders", "full")
    _, again, _ = called(run, *arguments)
    assert again["data"]["key"] != shown["data"]["key"]


def test_a_tool_says_what_is_asked_and_what_is_sensitive_is_marked_and_masked(run: Run, tmp_path: Path) -> None:
    (tmp_path / "opspilot.toml").write_text('[tools.seal]\nuse = "author_tools:seal"\n')
    assert "code (string, required, sensitive): To open it again." in run("show", "seal")[1]
    _, shown, _ = called(run, "seal", "--args", '{"code": "sesame"}')
    assert shown["reason"] == "Seal the gate?"
    _, shown, _ = called(run, "seal", "--yes", "--args", '{"code": "sesame"}')
    assert shown["data"] == "gate sealed with [redacted:sensitive]"


def test_a_call_is_judged_by_the_policy_of_the_settings(run: Run, tmp_path: Path) -> None:
    rules = '[[policy.rules]]\nname = "{0}"\ntool = "ping"\nverdict = "{0}"\nreason = "Not on Mondays."\n'
    (tmp_path / "opspilot.toml").write_text(SETTINGS + rules.format("run"))
    status, shown, _ = called(run, "ping")
    assert (status, shown) == (0, {"ok": True, "data": "pong"})
    (tmp_path / "opspilot.toml").write_text(SETTINGS + rules.format("deny"))
    status, shown, _ = called(run, "ping", "--yes")
    assert (status, shown["errorCode"], shown["message"]) == (1, "denied_by_policy", "Not on Mondays.")


def test_who_lacks_a_role_is_denied_as_in_a_run(run: Run) -> None:
    status, shown, _ = called(run, "drain", "--args", '{"queue": "orders"}', "--yes")
    assert (status, shown["errorCode"]) == (1, "denied_by_policy")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("call", "dept"), "Did you mean depth"),
        (("show", "dept"), "Configured are: depth, drain, ping, read_more"),
        (("call", "ping", "--args", "{'a': 1}"), "--args must be one JSON object"),
        (("call", "ping", "--args", "[1]"), "and is not: list"),
        (("call", "ping", "--args", "[" * 100_000), "--args must be one JSON object"),
        (("call", "ping", "--answers", "1"), "--answers must be one JSON object"),
    ],
)
def test_a_wrong_command_is_a_sentence_and_ends_with_2(run: Run, arguments: tuple[str, ...], says: str) -> None:
    status, output, errors = run(*arguments)
    assert (status, output) == (2, "")
    assert says in errors


def test_a_wrong_setting_is_a_sentence_and_ends_with_2(run: Run, tmp_path: Path) -> None:
    (tmp_path / "opspilot.toml").write_text('[tools.depth]\nuse = "author_tools:width"\n')
    status, output, errors = run("list")
    assert (status, output) == (2, "")
    assert errors == "tools.depth.use: author_tools has no attribute 'width'.\n"


@pytest.mark.parametrize(("words", "offered"), [("show d", ["depth", "drain"]), ("call p", ["ping"])])
def test_the_shell_is_offered_the_names_of_tools(
    run: Run, words: str, offered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_OPSPILOT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"opspilot tools {words}")
    monkeypatch.setenv("COMP_CWORD", "3")
    done = CliRunner().invoke(starter.app, [], prog_name="opspilot")
    assert done.stdout.split() == offered


def test_it_speaks_chinese(run: Run) -> None:
    assert "只读" in run("show", "depth", "--lang", "zh")[1]
    assert "要先问人" in run("call", "drain", "--args", '{"queue": "x"}', "--role", "oncall", "--lang", "zh")[2]
