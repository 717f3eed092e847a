"""The tool `restart_service`: nothing before a person agreed, then one command, exactly as configured."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from opspilot.core.calls import Effect, Gate, Verdict
from opspilot.core.interrupts import Interrupt, InterruptType, Principal
from opspilot.core.observations import ErrorCode
from opspilot.core.policy import RUN_ANYTHING
from opspilot.tools.builtin.restart_service import Config
from opspilot.tools.registry import Registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import Tool, ToolError
from tests.tools.builtin.calls import BuildTool, CallTool

RECORD = (
    "import json, os, sys; json.dump({'arguments': sys.argv[1:], 'environment': dict(os.environ)}, open('ran', 'w'))"
)


def ran(folder: Path) -> dict[str, Any] | None:
    """What the recording command was given, None when it did not run."""
    path = folder / "ran"
    found: dict[str, Any] | None = json.loads(path.read_text()) if path.exists() else None
    return found


@pytest.fixture
def tool(build_tool: BuildTool) -> Tool:
    return build_tool("restart_service", command=["{python}", "-c", RECORD, "{service}", "--key={key}"])


ASKED = {"service": "payment", "reason": "it hangs"}


def test_it_is_a_write_that_runs_alone(tool: Tool) -> None:
    assert (tool.effect, tool.concurrent, tool.idempotent) == (Effect.WRITE, False, False)


def test_a_person_is_asked_before_anything_happens(tool: Tool, run_tool: CallTool, tmp_path: Path) -> None:
    answer = run_tool(tool, ASKED)
    assert isinstance(answer, Interrupt)
    assert answer.type is InterruptType.CONFIRM_RISKY
    assert answer.payload == {"action": "restart", "service": "payment", "reason": "it hangs"}
    assert ran(tmp_path) is None


def test_after_a_person_agreed_the_command_runs_with_its_key_and_without_our_secrets(
    tool: Tool, run_tool: CallTool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = {
        "OPSPILOT_MODEL__API_KEY": "s",
        "OPENAI_API_KEY": "s",
        "PGPASSWORD": "s",
        "GITHUB_TOKEN": "s",
        "STORE": "postgres://user:pass@host/db",
    }
    for name, value in (secrets | {"HARMLESS": "yes"}).items():
        monkeypatch.setenv(name, value)
    result = run_tool(tool, ASKED, approved=True)
    record = ran(tmp_path)
    assert record is not None
    assert record["arguments"] == ["payment", "--key=run-1/1.1#1"]
    assert record["environment"]["OPSPILOT_IDEMPOTENCY_KEY"] == "run-1/1.1#1"
    assert record["environment"]["HARMLESS"] == "yes"
    assert not set(secrets) & set(record["environment"])
    assert (result["restarted"], result["exit_status"]) == ("payment", 0)


@pytest.mark.parametrize("service", ["", "-x", "a b", "a;b", "../a", "{key}", "A", "支付", "a" * 63 + "b"])
def test_what_is_no_service_name_never_reaches_the_command(
    tool: Tool, run_tool: CallTool, tmp_path: Path, service: str
) -> None:
    with pytest.raises(ValidationError):
        run_tool(tool, {"service": service, "reason": "x"}, approved=True)
    assert ran(tmp_path) is None


def judged(tool: Tool, **arguments: str) -> Verdict:
    """What a run decides about a restart before it asks anybody."""
    return ToolRuntime(Registry([tool])).judge("restart_service", {"reason": "x", **arguments}, Principal("ann"))


def test_only_listed_services_may_be_restarted_and_nobody_is_asked_about_others(
    build_tool: BuildTool, run_tool: CallTool
) -> None:
    tool = build_tool("restart_service", command=["true"], services=["payment", "orders"])
    assert isinstance(run_tool(tool, ASKED | {"service": " payment "}), Interrupt)
    wrong = judged(tool, service="paymnt")
    assert wrong.code is ErrorCode.INVALID_ARGUMENTS
    assert wrong.message == ("service: is not a service that may be restarted (did you mean payment?), got paymnt")
    assert "(there are orders, payment), got search" in judged(tool, service="search").message


def test_only_components_of_the_catalogue_may_be_restarted(
    build_tool: BuildTool, run_tool: CallTool, tmp_path: Path
) -> None:
    catalogue = tmp_path / "c.yaml"
    catalogue.write_text(
        "kind: Component\nmetadata: {name: payment}\n---\nkind: Resource\nmetadata: {name: payment-db}\n"
    )
    tool = build_tool("restart_service", command=["true"], catalog="c.yaml")
    assert isinstance(run_tool(tool, ASKED), Interrupt)
    assert "is not a service that may be restarted" in judged(tool, service="payment-db").message
    assert judged(tool, service="payment").gate is Gate.CONFIRM
    catalogue.unlink()
    assert judged(tool, service="payment").code is ErrorCode.INVALID_ARGUMENTS


def test_whoever_must_agree_is_asked_in_the_same_words_by_the_policy_and_by_the_tool(
    build_tool: BuildTool, run_tool: CallTool
) -> None:
    one = build_tool("restart_service", command=["true"], environments=["production"])
    several = build_tool("restart_service", command=["true"], environments=["staging", "production"])
    in_production = "Restart payment in production? Requests that it is serving may fail."
    for tool, arguments in ((one, {}), (several, {"environment": "production"})):
        assert judged(tool, service="payment", **arguments).message == in_production
        assert run_tool(tool, ASKED | arguments).reason == in_production
    unsaid = "Restart payment? Requests that it is serving may fail."
    assert judged(several, service="payment").message == unsaid


def test_an_environment_that_there_is_not_is_refused_before_anybody_is_asked(build_tool: BuildTool) -> None:
    tool = build_tool("restart_service", command=["true"], environments=["staging", "production"])
    wrong = judged(tool, service="payment", environment="moon")
    assert wrong.code is ErrorCode.INVALID_ARGUMENTS
    assert "should be 'staging' or 'production', got moon" in wrong.message


def test_where_a_rule_lets_it_run_it_still_asks_by_itself(build_tool: BuildTool, run_tool: CallTool) -> None:
    tool = build_tool("restart_service", command=["true"])
    freely = ToolRuntime(Registry([tool]), RUN_ANYTHING).judge("restart_service", ASKED, Principal("ann"))
    assert freely.gate is Gate.RUN
    assert isinstance(run_tool(tool, ASKED), Interrupt)


def test_where_there_are_several_environments_a_call_must_name_one(
    build_tool: BuildTool, run_tool: CallTool, tmp_path: Path
) -> None:
    tool = build_tool(
        "restart_service",
        command=["{python}", "-c", RECORD, "{service}@{environment}"],
        environments=["staging", "production"],
    )
    question = run_tool(tool, ASKED, approved=True)
    assert isinstance(question, Interrupt)
    assert question.type is InterruptType.PARAMS_REQUIRED
    assert question.payload == {"fields": ["environment"], "options": {"environment": ["staging", "production"]}}
    assert ran(tmp_path) is None
    confirmation = run_tool(tool, ASKED | {"environment": "staging"})
    assert isinstance(confirmation, Interrupt)
    assert confirmation.payload["environment"] == "staging"
    run_tool(tool, ASKED | {"environment": "staging"}, approved=True)
    record = ran(tmp_path)
    assert record is not None
    assert record["arguments"] == ["payment@staging"]
    with pytest.raises(ValidationError):
        run_tool(tool, ASKED | {"environment": "moon"}, approved=True)


def test_a_failed_command_is_reported_with_the_end_of_its_output(build_tool: BuildTool, run_tool: CallTool) -> None:
    tool = build_tool("restart_service", command=["{python}", "-c", "import sys; sys.exit('no such unit')"])
    with pytest.raises(ToolError, match=r"exit status 1\. Its output ends: no such unit") as failed:
        run_tool(tool, ASKED, approved=True)
    assert failed.value.code is ErrorCode.TOOL_FAILED


def test_a_command_that_is_not_there_did_surely_nothing(build_tool: BuildTool, run_tool: CallTool) -> None:
    tool = build_tool("restart_service", command=["/no/such/command", "{service}"])
    with pytest.raises(ToolError, match="can't be run: /no/such/command: No such file") as failed:
        run_tool(tool, ASKED, approved=True)
    assert failed.value.code is ErrorCode.NOT_STARTED


SLEEPER = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open("pids", "w").write(f"{os.getpid()} {child.pid}")
time.sleep(60)
"""


def gone(pid: int) -> bool:
    """Has this process ended? One that nobody has waited for yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("how", ["timeout", "cancel"])
def test_a_command_that_must_end_takes_its_children_with_it_and_its_outcome_is_unknown(
    build_tool: BuildTool, run_tool: CallTool, tmp_path: Path, how: str
) -> None:
    seconds = 1.0 if how == "timeout" else 50.0
    tool = build_tool("restart_service", command=["{python}", "-c", SLEEPER], seconds=seconds)
    pids = tmp_path / "pids"

    def cancelled() -> bool:
        return how == "cancel" and pids.exists() and len(pids.read_text().split()) == 2

    with pytest.raises(ToolError, match="may or may not have been restarted") as ended:
        run_tool(tool, ASKED, approved=True, cancelled=cancelled)
    assert ended.value.code is ErrorCode.OUTCOME_UNKNOWN
    left = [int(pid) for pid in pids.read_text().split()]
    deadline = time.monotonic() + 10
    while not all(map(gone, left)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert all(map(gone, left))


def test_output_is_cut_to_its_end(build_tool: BuildTool, run_tool: CallTool) -> None:
    tool = build_tool("restart_service", command=["{python}", "-c", "print('x' * 100_000); print('done')"])
    output = run_tool(tool, ASKED, approved=True)["output"]
    assert len(output) < 9_000
    assert output.startswith("… xx")
    assert output.endswith("done")


def test_a_command_that_writes_without_end_is_stopped(build_tool: BuildTool, run_tool: CallTool) -> None:
    tool = build_tool("restart_service", command=["{python}", "-c", "while True: print('x' * 1_000_000)"])
    with pytest.raises(ToolError, match="wrote more than") as ended:
        run_tool(tool, ASKED, approved=True)
    assert ended.value.code is ErrorCode.OUTCOME_UNKNOWN


@pytest.mark.parametrize(("status", "happened"), [(0, True), (1, None), (7, None)])
def test_whether_it_happened_can_be_asked_later_and_that_it_did_not_is_never_taken_as_sure(
    build_tool: BuildTool, status: int, happened: bool | None
) -> None:
    """A command that outlived its worker can still do what the check doesn't know of yet."""
    check = f"import sys; sys.exit({status} if sys.argv[1] == 'run-1/1.1#1' else 0 if {status} else 9)"
    tool = build_tool("restart_service", command=["true"], reconcile_command=["{python}", "-c", check, "{key}"])
    assert tool.reconcile is not None
    report = tool.reconcile("run-1/1.1#1")
    assert (None if report is None else report["restarted"]) is happened


def test_without_a_reconcile_command_nobody_can_be_asked(tool: Tool) -> None:
    assert tool.reconcile is None


@pytest.mark.parametrize(
    "settings",
    [
        {"command": []},
        {"command": ["restart", "{servcie}"]},
        {"command": ["restart", "{environment}"]},
        {"command": ["restart"], "reconcile_command": ["ask", "{service}"]},
        {"command": ["restart"], "services": ["Not A Name"]},
        {"command": ["restart"], "seconds": 0},
        {"command": ["restart"], "shell": True},
    ],
)
def test_settings_that_can_not_work_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Config(**settings)
