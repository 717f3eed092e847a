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


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.timeout(120)
def test_viewers_of_live_runs_miss_nothing_and_hear_of_it_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "bench/live.py", "--runs", "5", "--viewers", "50", "--seconds", "4"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "lost 0, repeated 0" in done.stdout


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.timeout(180)
def test_waiting_runs_answered_in_one_go_are_neither_lost_nor_run_twice() -> None:
    done = subprocess.run(
        [sys.executable, "bench/waiting.py", "40"], cwd=ROOT, capture_output=True, text=True, timeout=170, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "lost: 0; not done: 0; done twice: 0" in done.stdout
