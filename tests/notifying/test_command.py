"""A command gets the facts as JSON, no secret of ours, and so much time; what it prints is nobody's business."""

import asyncio
import json
import logging
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from opspilot.child_environment import child_environment
from opspilot.core.errors import NotificationError
from opspilot.notifying.command import Command
from opspilot.notifying.message import FACTS, Wording
from tests.notifying.receiver import ASKED

SLEEP = "import time; time.sleep(60)"


def command(folder: Path, *arguments: str, **more: object) -> Command:
    given = {"environment": child_environment(os.environ), "wording": Wording("https://ops.example"), **more}
    return Command("pager", arguments, folder, **given)  # type: ignore[arg-type]


def python(folder: Path, code: str, **more: object) -> Command:
    return command(folder, "{python}", "-c", code, **more)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def failure(channel: Command) -> str:
    with pytest.raises(NotificationError) as raised:
        await channel.send(ASKED)
    assert raised.value.__cause__ is None
    return str(raised.value)


async def test_it_reads_the_facts_as_json(tmp_path: Path) -> None:
    await python(tmp_path, "import sys; open('got', 'wb').write(sys.stdin.buffer.read())").send(ASKED)
    got = json.loads((tmp_path / "got").read_bytes())
    assert tuple(got) == FACTS
    assert (got["notice"], got["reason"], got["tool"]) == ("asked", "Restart payment in production?", "restart_service")
    assert got["link"] == "https://ops.example/sessions/ops-1#3.1%230"
    assert got["link"] in got["text"]


async def test_its_arguments_are_no_shell(tmp_path: Path) -> None:
    await command(tmp_path, "touch", "a; touch b", "$HOME", "`id`").send(ASKED)
    assert names(tmp_path) == ["$HOME", "`id`", "a; touch b"]


async def test_it_sees_none_of_our_secrets(tmp_path: Path) -> None:
    ours = {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "OPSPILOT_NOTIFY__WEBHOOKS": "[…]",
        "OPSPILOT_APPROVALS__KEY": "k",
        "OPENAI_API_KEY": "sk-1",
        "TEMPORAL_API_KEY": "t",
        "DB": "postgres://me:hunter2@db/x",
        "SLACK_TOKEN": "xoxb",
    }
    code = "import json, os; json.dump(sorted(os.environ), open('seen', 'w'))"
    await python(tmp_path, code, environment=child_environment(ours)).send(ASKED)
    seen = set(json.loads((tmp_path / "seen").read_text()))
    assert {"PATH", "LANG"} <= seen
    assert seen.isdisjoint(ours.keys() - {"PATH", "LANG"})


async def test_one_that_does_not_read_its_input_is_content_all_the_same(tmp_path: Path) -> None:
    await python(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w').close()").send(ASKED)
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("raise SystemExit(3)", "The command pager ended with exit status 3; what it printed is not kept."),
        ("import os; os.kill(os.getpid(), 9)", "The command pager was ended by signal 9; what it printed is not kept."),
    ],
)
async def test_one_that_fails(tmp_path: Path, code: str, sentence: str) -> None:
    assert await failure(python(tmp_path, code)) == sentence


async def test_what_it_prints_is_in_no_error_and_no_log_and_not_on_our_own_output(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    code = "import sys; print('password=hunter2'); print('token hunter2', file=sys.stderr); sys.exit(1)"
    said = await failure(python(tmp_path, code))
    assert "hunter2" not in said + repr(python(tmp_path, code)) + "".join(capfd.readouterr())
    assert "hunter2" not in "".join(record.getMessage() for record in caplog.records if record.name != "asyncio")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("no-such-command-anywhere",), "The command pager could not be started: No such file or directory."),
        (("/",), "The command pager could not be started: Permission denied."),
        (("a\0b",), "The command pager could not be started: not a valid command."),
    ],
)
async def test_one_that_can_not_be_started(tmp_path: Path, arguments: tuple[str, ...], sentence: str) -> None:
    assert await failure(command(tmp_path, *arguments)) == sentence


def gone(pid: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    return True


async def test_one_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    code = (
        "import os, signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        f"child = subprocess.Popen([sys.executable, '-c', {SLEEP!r}]);"
        "open('pids.new', 'w').write(f'{os.getpid()} {child.pid}'); os.rename('pids.new', 'pids'); time.sleep(60)"
    )
    began = time.monotonic()
    said = await failure(python(tmp_path, code, seconds=1.5))
    assert said == "The command pager took longer than 1.5 seconds and was ended."
    assert time.monotonic() - began < 10
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    deadline = time.monotonic() + 10
    while not all(map(gone, pids)):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def test_the_facts_stand_in_no_list_of_processes(tmp_path: Path) -> None:
    """Arguments can be seen by everybody on a machine."""
    code = "import os, psutil; open('line', 'w').write(repr(psutil.Process().cmdline()))"
    await python(tmp_path, code).send(ASKED)
    line = (tmp_path / "line").read_text()
    assert sys.executable in line
    assert ASKED.reason not in line
