"""The figures that the documentation promises."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.timeout(180)
def test_history_grows_by_less_than_4_kib_a_step_and_evenly() -> None:
    done = subprocess.run(
        [sys.executable, "bench/history.py"], cwd=ROOT, capture_output=True, text=True, timeout=170, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
