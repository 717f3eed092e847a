"""The handed wire cases, judged by their own judge. Skipped where that folder is absent."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from tests.wire import driver

FOLDER = Path(__file__).parents[3] / "shared" / "wire-cases"
CASES = sorted((FOLDER / "cases").glob("*.json"))
pytestmark = pytest.mark.skipif(not CASES, reason="no wire cases beside this checkout")


@pytest.fixture(scope="module")
def judge() -> ModuleType:
    spec = importlib.util.spec_from_file_location("wire_judge", FOLDER / "judge.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path, judge: ModuleType) -> None:
    assert judge.judge(json.loads(path.read_text(encoding="utf-8")), driver) is None


def test_every_case_was_judged() -> None:
    assert len(CASES) >= 169
