"""The documentation is true: its commands run, its settings exist, its links lead somewhere, its guide works."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
from pydantic import BaseModel

from opspilot import stack
from opspilot.embedded import server_binary
from opspilot.settings import Settings
from opspilot.tools import builtin
from opspilot.tools.finding import is_tool_module

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
AUTHORS = ROOT / "docs" / "tools.md"
"""Not run where the project lies, but in a folder of the author's own."""
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

NOT_RUN = {
    "scripts/test": "would run itself",
    "scripts/check": "is run beside the tests",
    "docker": "needs an engine; tests/test_compose.py has the real Compose read the file",
    "OPENAI_API_KEY=…": "needs somebody's key",
    "ANTHROPIC_API_KEY=…": "needs somebody's key",
    "python worker.py": "runs until it is stopped; tests/e2e start it",
    "python -m opspilot.web": "runs until it is stopped; tests/web start it",
    "python bench/": "tests/test_bench.py runs it",
}
"""How a command begins that is not run here, and why."""


def blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language]


def commands() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for block in blocks(page, "sh") if page != AUTHORS else ():
            for line in block.strip().split("\n"):
                if not line.startswith(tuple(NOT_RUN)):
                    yield page.name, line


def as_run(line: str, port: int, state: Path) -> str:
    """A documented command as it is run here: with this Python, and with the servers of this test's own stack."""
    python = f'"{sys.executable}"'
    line = line.replace("scripts/try", f"{python} starter.py ask --local").replace(":8321", f":{port}")
    if line.startswith("temporal "):
        there = stack.load(state / "stack.json").port
        line = f'"{server_binary()}" {line.removeprefix("temporal ")} --address 127.0.0.1:{there}'
    return re.sub(r"(?<![\w/.])(\.venv/bin/)?python (?=starter\.py|-c )", f"{python} ", line)


@pytest.mark.e2e
@pytest.mark.timeout(400)
def test_every_command_in_the_documentation_runs(tmp_path: Path) -> None:
    port = stack.free_port(0)
    environment = {
        **os.environ,
        "OPSPILOT_STATE_DIR": str(tmp_path),
        "OPSPILOT_CONFIG": str(ROOT / "opspilot.toml"),
        "OPSPILOT_WEB__PORT": str(port),
    }
    ran = []
    try:
        for page, line in commands():
            # What is assigned to a variable is there for the commands behind.
            assigned = re.fullmatch(r"([A-Z]+)=\$\((.*)\)", line)
            done = subprocess.run(
                ["bash", "-c", as_run(assigned[2] if assigned else line, port, tmp_path)],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=90,
                check=False,
            )
            waits = "</dev/null" in line
            assert done.returncode == (4 if waits else 0), f"{page}: {line}\n{done.stdout}\n{done.stderr}"
            if assigned:
                environment[assigned[1]] = done.stdout.strip()
            ran.append(line)
    finally:
        subprocess.run(
            [sys.executable, "starter.py", "down"], cwd=ROOT, env=environment, check=True, capture_output=True
        )
    assert len(ran) > 25


def keys(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from keys(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def test_operations_names_every_setting_and_no_other() -> None:
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `([\w.]+)` \|", text, re.MULTILINE))
    tables = {"tools": "tools.NAME", "models": "models.NAME", "prices": "prices.MODEL"}
    assert named == {tables.get(key, key) for key in keys(Settings)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_settings_of_a_page_are_sound(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
    for block in blocks(page, "toml"):
        if not block.startswith("# pyproject.toml"):
            assert tomllib.loads(block).keys() <= Settings.model_fields.keys()


@pytest.mark.e2e
@pytest.mark.timeout(180)
def test_the_guide_for_tool_authors_works_as_it_stands(tmp_path: Path) -> None:
    """A block that begins with a file's name is the next part of that file; JSON is what the last command prints."""
    environment = {**os.environ, "OPSPILOT_STATE_DIR": str(tmp_path / "state"), "PYTHONPATH": str(ROOT)}
    named = re.compile(r"# (\w+\.(?:py|toml))\n")
    printed = ""
    ran = 0
    for kind, text in BLOCK.findall(AUTHORS.read_text(encoding="utf-8")):
        if name := named.match(text):
            with (tmp_path / name[1]).open("a", encoding="utf-8") as file:
                file.write(text[name.end() :])
        elif kind == "json":
            assert json.loads(printed) == json.loads(text)
        elif kind == "sh":
            for line in text.strip().split("\n"):
                command = line.replace("opspilot ", f'"{sys.executable}" "{ROOT / "starter.py"}" ', 1)
                command = re.sub("^python ", f'"{sys.executable}" ', command)
                done = subprocess.run(
                    ["bash", "-c", command],
                    cwd=tmp_path,
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=90,
                    check=False,
                )
                expected = re.search(r"# exit status (\d)", line)
                assert done.returncode == (int(expected[1]) if expected else 0), f"{line}\n{done.stdout}\n{done.stderr}"
                printed = done.stdout
                ran += 1
    assert ran > 7


def test_the_guide_for_tool_authors_names_every_built_in_with_its_settings() -> None:
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", AUTHORS.read_text(encoding="utf-8"), re.MULTILINE)
    named = {name: set(re.findall(r"`(\w+)`", settings)) for name, settings in rows}
    modules = [import_module(f"{builtin.__name__}.{found.name}") for found in iter_modules(builtin.__path__)]
    there = {module.__name__.rpartition(".")[2]: module for module in modules if is_tool_module(module)}
    assert named == {name: set(module.Config.model_fields) for name, module in there.items()}
