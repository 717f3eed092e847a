"""`worker.py --check` says in a sentence whether a worker could start, and needs no server for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("settings", "status", "sentence"),
    [
        ("[tools.search_docs]\npath = '.'\n", 0, ""),
        ("[tools.divine]\npath = '.'\n", 2, "divine"),
        ("[limits]\nsteps = 0\n", 2, "limits.steps must be greater than 0."),
        (
            "model.ca_file = 'missing.pem'\nmodel.base_url = 'https://model.example'\nmodel.name = 'x'\n",
            2,
            "missing.pem",
        ),
        (
            "[models.far]\nca_file = 'missing.pem'\nbase_url = 'https://model.example'\nname = 'x'\n",
            2,
            "models.far: ",
        ),
        ("journal = 'sqlite:///missing/journal.sqlite'\n", 5, "can't be opened"),
    ],
)
def test_what_would_keep_a_worker_from_starting_is_said(
    settings: str, status: int, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "opspilot.toml").write_text(settings, encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPSPILOT_", "TEMPORAL_"))}

    checked = subprocess.run(
        [sys.executable, str(ROOT / "worker.py"), "--check"],
        cwd=tmp_path,
        env={**kept, "OPSPILOT_STATE_DIR": str(tmp_path), "OPSPILOT_WEB__AUTH": "local"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (checked.returncode, checked.stdout) == (status, "")
    assert sentence in checked.stderr
    assert "Traceback" not in checked.stderr
