"""What holds across the whole tree: who may import whom, how pure the core is, and what no file may contain."""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parent.parent
PRODUCT = ("opspilot", "activities", "workflows")

PURE = {
    "base64", "bisect", "collections", "contextlib", "copy", "dataclasses", "datetime", "email", "enum",
    "functools", "hashlib", "hmac", "itertools", "json", "math", "operator", "re", "string", "typing", "unicodedata",
}  # fmt: skip
"""The standard library that a pure module may use; `email` reads the dates of HTTP headers."""

IMPURE_CALLS = {"now", "utcnow", "today", "open", "print", "input", "urandom", "eval", "exec"}


def sources(*folders: str) -> Iterator[tuple[str, ast.Module]]:
    for folder in folders:
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield str(file.relative_to(ROOT)), ast.parse(file.read_text(encoding="utf-8"))


def tracked() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_imports_point_one_way(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    status = lint_imports(no_cache=True, no_logo=True)
    assert status == 0, capsys.readouterr().out


def test_core_uses_the_pure_part_of_the_standard_library_alone() -> None:
    foreign = []
    for name, tree in sources("opspilot/core"):
        for node in ast.walk(tree):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or "."] if isinstance(node, ast.ImportFrom) else []
            foreign += [
                f"{name}: {module}"
                for module in modules
                if module.partition(".")[0] not in PURE and not module.startswith("opspilot.core")
            ]
    assert foreign == []


def test_core_asks_no_clock_and_touches_no_file() -> None:
    called = []
    for name, tree in sources("opspilot/core"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                function = node.func
                label = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
                called += [f"{name}:{node.lineno} {label}"] if label in IMPURE_CALLS else []
    assert called == []


def test_settings_alone_read_the_environment() -> None:
    """Who configures is handed settings, who starts processes an environment; commands of tools inherit one."""
    readers = {
        name
        for name, tree in sources(*PRODUCT)
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv"})
        or (isinstance(node, ast.alias) and node.name in {"environ", "getenv"})
    }
    assert readers - {"opspilot/tools/builtin/processes.py"} == {"opspilot/settings.py"}


def test_workflow_files_pass_nothing_through_the_sandbox() -> None:
    """A block that passes a package un-sandboxes its siblings, silently; the plugin names each module instead."""
    passing = [
        name
        for name, tree in sources("workflows", "activities", "opspilot/core")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "imports_passed_through"
    ]
    assert passing == []


def test_a_module_is_named_after_its_idea_and_stays_readable() -> None:
    vague = {"common", "helper", "helpers", "manager", "misc", "util", "utils"}
    files = [file for folder in PRODUCT for file in (ROOT / folder).rglob("*.py")]
    files += [ROOT / name for name in ("starter.py", "worker.py") if (ROOT / name).exists()]
    assert [str(file) for file in files if file.stem in vague] == []
    assert [str(file) for file in files if len(file.read_text("utf-8").split("\n")) > 451] == []


def test_lines_end_at_line_feeds_only() -> None:
    """`str.splitlines` also splits at U+2028, U+0085 and others, which stand inside log lines and JSON."""
    users = [
        f"{name}:{node.lineno}"
        for name, tree in sources(*PRODUCT)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "splitlines"
    ]
    assert users == []


def test_nothing_is_left_unfinished() -> None:
    mark = re.compile(r"\b(TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b|NotImplemented[E]rror")
    marked = [str(file) for file in tracked() if file.suffix == ".py" and mark.search(file.read_text("utf-8"))]
    assert marked == []


def test_no_file_names_a_package_index_or_a_folder_of_one_machine() -> None:
    foreign = re.compile(
        rb"p[y]pi\.org|python[h]osted|registry\.npm[j]s|deb\.deb[i]an|(?<![\w.-])/(w[o]rk|r[o]ot|opt/p[y]pi|tmp/br[i]ef)/"
    )
    assert [str(file) for file in tracked() if foreign.search(file.read_bytes())] == []


@pytest.mark.parametrize("kind", ["runtime", "dev"])
def test_each_requirement_is_pinned_by_version_and_hash(kind: str) -> None:
    text = (ROOT / "requirements" / f"{kind}.txt").read_text(encoding="utf-8")
    blocks = text.replace("\\\n", " ").strip().split("\n")
    pinned = re.compile(r"[\w.-]+==[\w.]+( ; [^-]+)?( +--hash=sha256:[0-9a-f]{64})+")
    assert [block for block in blocks if not pinned.fullmatch(block.strip())] == []


@pytest.mark.parametrize(("kind", "extra"), [("runtime", None), ("dev", "dev")])
def test_each_dependency_is_among_the_pins(kind: str, extra: str | None) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + (project["optional-dependencies"][extra] if extra else [])
    names = {re.split(r"[<>=\[ ]", line)[0].lower() for line in wanted}
    text = (ROOT / "requirements" / f"{kind}.txt").read_text(encoding="utf-8")
    assert names - {line.partition("==")[0] for line in text.split("\n")} == set()
