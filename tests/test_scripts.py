"""The scripts: quiet and quick when all is set up, one setup for two callers, a sentence where something is missing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
STARTER = """import json, os, sys
def main():
    print(json.dumps([sys.argv[1:], os.environ.get("OPSPILOT_CONFIG"), sys.executable]))
if __name__ == "__main__":
    main()
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what setting up needs, with a program that shows how it was called."""
    folder = tmp_path / "check out"
    for name in ("scripts", "requirements"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "pyproject.toml", folder)
    for name, text in {"starter.py": STARTER, "worker.py": "", "README.md": "", "opspilot.toml": ""}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def ask_setup(checkout: Path, code: str) -> str:
    """What scripts/setup.py itself answers, read as a module."""
    program = f"import sys; sys.path.insert(0, 'scripts'); import setup; {code}"
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True).stdout.strip()


def stand_in(checkout: Path, kind: str) -> None:
    """As if `kind` were set up: this Python in its place, and the stamp that a setup leaves."""
    (checkout / ".venv" / "bin").mkdir(parents=True)
    (checkout / ".venv" / "bin" / "python").symlink_to(sys.executable)
    ask_setup(checkout, f"setup.stamp_of({kind!r}).write_text(setup.wanted({kind!r}))")


def run(command: Path, *arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(command), *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def test_an_environment_outside_of_the_checkout_is_used_as_it_is_and_never_rewritten(
    checkout: Path, tmp_path: Path
) -> None:
    stand_in(checkout, "runtime")
    shared = tmp_path / "shared"
    (checkout / ".venv").rename(shared)
    (checkout / ".venv").symlink_to(shared)
    assert run(checkout / "scripts/try", "Why?", folder=tmp_path).returncode == 0
    (shared / "setup-runtime").write_text("of another checkout")

    refused = run(checkout / "scripts/try", "Why?", folder=tmp_path)

    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith(f"{checkout / '.venv'} is a link to {shared}, ")
    assert f"Remove the link (rm {checkout / '.venv'})" in refused.stderr
    assert (shared / "setup-runtime").read_text() == "of another checkout"


def test_try_passes_its_arguments_and_the_checkouts_settings_and_says_nothing(checkout: Path, tmp_path: Path) -> None:
    stand_in(checkout, "runtime")
    done = run(checkout / "scripts/try", "two words", "--json", folder=tmp_path)
    python = checkout / ".venv/bin/python"
    assert done.stderr == ""
    assert done.stdout.strip() == (
        f'[["ask", "--local", "two words", "--json"], "{checkout}/opspilot.toml", "{python}"]'
    )


def test_try_leaves_settings_of_ones_own_alone(checkout: Path, tmp_path: Path) -> None:
    stand_in(checkout, "runtime")
    assert '"mine.toml"' in run(checkout / "scripts/try", folder=tmp_path, OPSPILOT_CONFIG="mine.toml").stdout
    (tmp_path / "opspilot.toml").touch()
    assert "null" in run(checkout / "scripts/try", folder=tmp_path).stdout


@pytest.mark.parametrize("changed", ["requirements/runtime.txt", "pyproject.toml", "scripts/setup.py"])
def test_setup_is_made_again_when_what_it_is_made_from_changes(checkout: Path, changed: str) -> None:
    stand_in(checkout, "runtime")
    assert ask_setup(checkout, "print(setup.is_ready('runtime'))") == "True"
    with (checkout / changed).open("a", encoding="utf-8") as file:
        file.write("\n")
    assert ask_setup(checkout, "print(setup.is_ready('runtime'))") == "False"


def test_without_a_new_enough_python_a_sentence_says_so(checkout: Path, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "dirname"):
        found = shutil.which(name)
        assert found
        (tools / name).symlink_to(found)
    old = tools / "python3"
    old.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)
    done = run(checkout / "scripts/try", folder=tmp_path, PATH=str(tools))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "OpsPilot needs Python 3.11 or newer, and there is none on the PATH. "
        "Install it (python3.11, for example) and try again.\n"
    )


def test_failed_setup_says_what_it_needs_and_does_not_count(checkout: Path) -> None:
    (checkout / "requirements/runtime.txt").write_text("./missing-1.0-py3-none-any.whl\n", encoding="utf-8")
    done = run(checkout / "scripts/try", folder=checkout)
    assert (done.returncode, done.stdout) == (5, "")
    assert "The setup failed" in done.stderr
    assert "Traceback" not in done.stderr
    assert ask_setup(checkout, "print(setup.is_ready('runtime'))") == "False"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_two_first_calls_at_the_same_moment_share_one_setup(checkout: Path) -> None:
    """Installs from the package index, as a person's first call does."""
    command = [str(checkout / "scripts/try"), "--json"]
    calls = [
        subprocess.Popen(command, cwd=checkout, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    ends = [call.communicate(timeout=280) for call in calls]
    assert [call.returncode for call in calls] == [0, 0], ends
    assert all(output.startswith('[["ask", "--local", "--json"]') for output, _ in ends)
    assert sorted(len(errors.strip().split("\n")) for _, errors in ends) == [1, 2], ends
    installed = run(checkout / ".venv/bin/opspilot", "sessions", folder=checkout)
    assert installed.stdout.startswith('[["sessions"]')
