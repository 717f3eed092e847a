"""`policy test` and `policy check`: what would happen, in words and as JSON, without a server."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import starter
from opspilot.texts.language import Language, speak

TOOLS = '''
from typing import Annotated, Literal

from opspilot.tools.spec import Sensitive, tool


@tool(effect="read")
def look(topic: str, token: str = "", words: Annotated[str, Sensitive()] = "") -> str:
    """Look."""
    return topic


@tool(roles=["operator"])
def deploy(service: str, environment: Literal["staging", "production"] = "production", count: int = 1) -> str:
    """Deploy."""
    raise AssertionError("nothing is run")
'''
SETTINGS = """
[tools.look]
use = "policy_tools:look"
[tools.deploy]
use = "policy_tools:deploy"
"""
RULES = """
[policy]
role = "approver"
remind_after = "90m"

[[policy.rules]]
name = "staging"
tool = "deploy"
arguments = {environment = "staging", count = [1, 2]}
verdict = "run"

[[policy.rules]]
name = "no-guests"
effect = "write"
user_role = ["guest", "viewer"]
verdict = "deny"
reason = "Guests look."

[[policy.rules]]
name = "production"
tool = "dep*"
verdict = "confirm"
quorum = 2
not_requester = true
risk = "high"
escalate_after = "4h"
escalate_to = "lead"
expire_after = "90s"
remind_after = "never"
on_expiry = "stop"
reason = "Customers are there."
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Runs `opspilot policy …` under the given rules; gives status, output and errors."""
    (tmp_path / "policy_tools.py").write_text(TOOLS, encoding="utf-8")
    monkeypatch.setenv("OPSPILOT_CONFIG", str(tmp_path / "opspilot.toml"))
    monkeypatch.setenv("OPSPILOT_LOCAL__ROLES", '["operator"]')
    monkeypatch.setenv("LOGNAME", "dana")
    monkeypatch.setattr(sys, "path", [*sys.path])

    def run(*arguments: str, rules: str = RULES) -> tuple[int, str, str]:
        (tmp_path / "opspilot.toml").write_text(SETTINGS + rules, encoding="utf-8")
        done = CliRunner().invoke(starter.app, ["policy", *arguments])
        return done.exit_code, done.stdout, done.stderr

    yield run
    sys.modules.pop("policy_tools", None)
    speak(Language.ENGLISH)


LADDER = RULES.replace('"90s"', '"1d"')

EXPLAINED = """\
deploy service="payment" environment="production" count=1
  write; asked for by dana (operator)

It waits until people agree: rule 3 of 3, production.
  Customers are there.
  people with the role approver may agree
  2 different people have to
  who asked for the run may not
  risk: high
  after 4h people with the role lead may agree, too
  after 1d it is too late, and the run stops

Rules that come before and don't match:
  1 staging: environment is not "staging"
  2 no-guests: who asks has not the role "guest" or "viewer"
"""


def test_a_call_is_explained_with_its_defaults_its_verdict_who_is_asked_and_what_did_not_match(run: Run) -> None:
    assert run("test", "deploy", "--args", '{"service": "payment"}', rules=LADDER) == (0, EXPLAINED, "")


DEPENDS = """\
deploy
  write; asked for by dana (operator)

What becomes of a call depends on its arguments. The first of these that fits decides:
  environment is "staging" and count is 1 or 2: it runs; rule 1 of 3, staging
  otherwise: it waits until people agree; rule 3 of 3, production
For one call, with who would be asked: root policy test deploy --args JSON
"""


def test_without_arguments_it_says_what_depends_on_them(run: Run) -> None:
    status, output, _ = run("test", "deploy", rules=LADDER)
    assert (status, output.replace("starter.py", "root")) == (0, DEPENDS)
    shown = json.loads(run("test", "deploy", "--json", rules=LADDER)[1])
    assert [(way["position"], way["gate"], way["arguments"]) for way in shown["courses"]] == [
        (1, "run", {"environment": ["staging"], "count": [1, 2]}),
        (3, "confirm", {}),
    ]
    assert "取决于参数" in run("test", "deploy", "--lang", "zh", rules=LADDER)[1]


@pytest.mark.parametrize(
    ("tool", "role", "rules", "says"),
    [
        ("look", "operator", RULES, "Whatever its arguments are:\nIt runs: no rule matches (unmatched-read).\n"),
        ("deploy", "operator", "", "Whatever its arguments are:\nIt waits until people agree: no rule matches ("),
        ("deploy", "viewer", "", "It does not run: no rule is asked (role)."),
        ("look", "operator", '[[policy.rules]]\nname = "no"\narguments = {topic = "x"}\nverdict = "deny"\n',
         '  topic is "x": it does not run; rule 1 of 1, no\n  otherwise: it runs; no rule matches (unmatched-read)\n'),
    ],
)  # fmt: skip
def test_where_nothing_depends_on_them_it_says_so(run: Run, tool: str, role: str, rules: str, says: str) -> None:
    status, output, _ = run("test", tool, "--user-role", role, rules=rules.replace('"90s"', '"1d"'))
    assert status == 0
    assert says in output


def test_as_json_it_is_one_object(run: Run) -> None:
    status, output, _ = run("test", "deploy", "--args", '{"service": "payment"}', "--json", rules=LADDER)
    assert status == 0
    shown = json.loads(output)
    assert {key: shown[key] for key in ("tool", "effect", "gate", "rule", "position", "message")} == {
        "tool": "deploy",
        "effect": "write",
        "gate": "confirm",
        "rule": "production",
        "position": 3,
        "message": "Customers are there.",
    }
    assert shown["arguments"] == {"service": "payment", "environment": "production", "count": 1}
    assert shown["requester"] == {"id": "dana", "roles": ["operator"]}
    assert shown["terms"]["ladder"][1] == {"kind": "expire", "after_seconds": 86_400.0, "role": "", "stops": True}
    assert shown["passed"][0] == {
        "position": 1,
        "rule": "staging",
        "unmet": [{"condition": "argument", "wanted": ["staging"], "path": "environment"}],
    }


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("deploy", '{"service": "a", "environment": "staging", "count": "2"}'),
         ["It runs: rule 1 of 3, staging.", "Should the tool itself ask a person:", "after 90m they are reminded"]),
        (("deploy", '{"service": "a"}', "viewer", "operator"),
         ["asked for by dana (viewer, operator)", "It does not run: rule 2 of 3, no-guests.", "  Guests look."]),
        (("deploy", '{"service": "a"}', "viewer"), ["It does not run: no rule is asked (role).", "the role operator"]),
        (("deploy", "{}"), ["It can't run: no rule is asked (schema).", "service: is required"]),
        (("look", '{"topic": "a", "token": "hunter2", "words": "to hunter2"}'),
         ["read; asked for", "It runs: no rule matches (unmatched-read).", 'token="[redacted:secret]"',
          '1 staging: the tool is not "deploy"\n', '2 no-guests: its effect is not "write"; who asks has not']),
    ],
)  # fmt: skip
def test_each_verdict_has_its_words(run: Run, arguments: tuple[str, ...], says: list[str]) -> None:
    tool, args, *roles = arguments
    options = [part for role in roles for part in ("--user-role", role)]
    status, output, _ = run("test", tool, "--args", args, *options, rules=LADDER)
    assert status == 0
    for part in says:
        assert part in output
    assert "hunter2" not in output


def test_without_a_policy_a_write_waits_for_anybody_for_as_long_as_it_takes(run: Run) -> None:
    _, output, _ = run("test", "deploy", "--args", '{"service": "a"}', rules="")
    assert output.split("\n")[3:] == [
        "It waits until people agree: no rule matches (unmatched-write).",
        "  anybody may agree who may answer at all",
        "  risk: medium",
        "  it waits for as long as it takes",
        "",
    ]


def test_a_sound_policy_is_said_to_be_and_ends_with_0(run: Run) -> None:
    status, output, _ = run("check", rules=LADDER)
    assert (status, output) == (0, "Nothing is wrong with the policy. Rules: 3; tools: 4.\n")
    assert run("check", "--json", rules=LADDER) == (0, "", "")


FAULTY = """
[[policy.rules]]
name = "all"
tool = "deploy"
verdict = "confirm"
role = "approver"
escalate_after = "1h"
escalate_to = "approver"

[[policy.rules]]
name = "late"
tool = ["deploy", "deplyo"]
arguments = {environment = ["production", "prod"]}
verdict = "deny"
"""


def test_what_is_wrong_is_a_line_each_and_ends_with_1(run: Run) -> None:
    status, output, _ = run("check", rules=FAULTY)
    assert status == 1
    assert output.split("\n") == [
        "policy.rules#1 all: escalate_to is approver, and whoever has that role may agree from the beginning.",
        "policy.rules#2 late: no tool is called deplyo. Did you mean deploy?",
        'policy.rules#2 late: environment can\'t be "prod" in any of its tools: deploy.',
        "policy.rules#2 late: what it matches is decided by a rule before it: all. It never decides.",
        "",
    ]
    lines = [json.loads(line) for line in run("check", "--json", rules=FAULTY)[1].strip().split("\n")]
    assert [(line["position"], line["fault"], line["unreachable"]) for line in lines] == [
        (1, "escalates_to_nobody_new", False),
        (2, "no_tool", False),
        (2, "no_value", False),
        (2, "shadowed", True),
    ]
    assert lines[3]["what"] == ["all"]
    assert lines[3]["message"] == output.split("\n")[3]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("test", "deplyo"), "Did you mean deploy"),
        (("test", "deploy", "--args", "[1]"), "--args must be one JSON object"),
    ],
)
def test_a_wrong_command_is_a_sentence_and_ends_with_2(run: Run, arguments: tuple[str, ...], says: str) -> None:
    status, output, errors = run(*arguments, rules="")
    assert (status, output) == (2, "")
    assert says in errors


def test_a_policy_that_cannot_be_is_a_sentence_and_ends_with_2(run: Run) -> None:
    status, output, errors = run("check")
    assert (status, output) == (2, "")
    assert "expire_after must be longer than escalate_after" in errors


def test_it_speaks_chinese(run: Run) -> None:
    _, output, _ = run("test", "deploy", "--args", '{"service": "payment"}', "--lang", "zh", rules=LADDER)
    assert "它要等人同意：第 3 条规则（共 3 条），production。" in output
    assert "第" in output
    assert "没有工具叫 deplyo" in run("check", "--lang", "zh", rules=FAULTY)[1]
