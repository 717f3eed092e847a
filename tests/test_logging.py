"""Logs are JSON, one object a line, and carry no secret, whoever wrote them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAM = """
import logging
from pathlib import Path
import structlog
from opspilot.logging import configure_logging
from opspilot.redaction import redact

configure_logging("info", redact, FILE)
structlog.contextvars.bind_contextvars(session="ops-1")
log = structlog.get_logger("opspilot.example")
log.debug("left out")
log.info("支付 asked", api_key="sk-invented-0123456789abcdef", path=Path("/somewhere"))
logging.getLogger("library").warning("sent %s", "Authorization: Bearer abcdefghijklmnop0123456789")
logging.getLogger("httpx").info("HTTP Request: GET http://127.0.0.1/")
try:
    raise ValueError("Bearer abcdefghijklmnop0123456789")
except ValueError:
    log.exception("it failed")
"""


def entries(file: Path | None) -> list[dict[str, Any]]:
    """Run the program in a process of its own, since logging is set up for a whole process."""
    program = PROGRAM.replace("FILE", f"Path({str(file)!r})" if file else "None")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=30)
    assert done.stdout == b""
    text = file.read_bytes() if file else done.stderr
    assert not (file and done.stderr)
    return [json.loads(line) for line in text.decode().strip().split("\n")]


def test_each_entry_is_one_object_with_level_logger_time_and_context() -> None:
    asked, sent, failed = entries(None)
    assert (asked["event"], asked["level"], asked["logger"]) == ("支付 asked", "info", "opspilot.example")
    assert (asked["session"], asked["path"]) == ("ops-1", "/somewhere")
    assert asked["at"].endswith("Z")
    assert (sent["level"], sent["logger"], sent["session"]) == ("warning", "library", "ops-1")
    assert failed["event"] == "it failed"
    assert "Traceback" in failed["exception"]


def test_no_secret_is_written_not_even_in_a_stack_trace() -> None:
    text = json.dumps(entries(None))
    assert "0123456789" not in text


def test_file_is_made_with_its_folder_and_holds_the_same(tmp_path: Path) -> None:
    logged = entries(tmp_path / "state" / "worker.log")
    assert [entry["event"] for entry in logged] == [entry["event"] for entry in entries(None)]
