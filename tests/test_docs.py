"""The documentation is true: its commands run, its settings exist, its links lead somewhere, its example tool works."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from opspilot.settings import Settings
from opspilot.tools.spec import Tool

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

NOT_RUN = {
    "scripts/test": "would run itself",
    "scripts/check": "is run beside the tests",
    "docker": "needs an engine; tests/test_compose.py has the real Compose read the file",
    "OPENAI_API_KEY=…": "needs somebody's key",
    "ANTHROPIC_API_KEY=…": "needs somebody's key",
    "python worker.py": "runs until it is stopped; tests/e2e start it",
    "python bench/": "tests/test_bench.py runs it",
}
"""How a command begins that is not run here, and why."""


def blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language]


def commands() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for block in blocks(page, "sh"):
            for line in block.strip().split("\n"):
                if not line.startswith(tuple(NOT_RUN)):
                    yield page.name, line


@pytest.mark.e2e
@pytest.mark.timeout(180)
def test_every_command_in_the_documentation_runs(tmp_path: Path) -> None:
    environment = {**os.environ, "OPSPILOT_STATE_DIR": str(tmp_path), "OPSPILOT_CONFIG": str(ROOT / "opspilot.toml")}
    python = f'"{sys.executable}"'
    ran = []
    try:
        for page, line in commands():
            command = line.replace("scripts/try", f"{python} starter.py ask --local")
            command = re.sub(r"^(\.venv/bin/)?python ", f"{python} ", command)
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                timeout=90,
                check=False,
            )
            waits = "</dev/null" in line
            assert done.returncode == (4 if waits else 0), f"{page}: {line}\n{done.stdout}\n{done.stderr}"
            ran.append(line)
    finally:
        subprocess.run(
            [sys.executable, "starter.py", "down"], cwd=ROOT, env=environment, check=True, capture_output=True
        )
    assert len(ran) > 5


def keys(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from keys(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def test_operations_names_every_setting_and_no_other() -> None:
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `([\w.]+)` \|", text, re.MULTILINE))
    tables = {"tools": "tools.NAME", "prices": "prices.MODEL"}
    assert named == {tables.get(key, key) for key in keys(Settings)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_settings_of_a_page_are_sound(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
    for block in blocks(page, "toml"):
        assert tomllib.loads(block).keys() <= Settings.model_fields.keys()


def test_the_tool_in_the_documentation_is_a_tool() -> None:
    (block,) = blocks(ROOT / "docs" / "tools.md", "python")
    names: dict[str, object] = {}
    exec(compile(block, "docs/tools.md", "exec"), names)
    declared = names["queue_length"]
    assert isinstance(declared, Tool)
    assert declared.bind({"queue": "orders"}) == {"queue": "orders"}
    assert "queue" in declared.input_schema["required"]
