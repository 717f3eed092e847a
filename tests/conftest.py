"""What holds for every test: no settings, keys or servers of the person who runs it, and no way out of this machine."""

import os
import sys
import tempfile
from collections.abc import Iterator

import hypothesis
import pytest

FOREIGN = ("OPSPILOT_", "OPENAI_", "ANTHROPIC_", "TEMPORAL_")
HERE = ("127.", "::1", "localhost", "0.0.0.0")

# A machine shared with others makes no promises about time; on CI the same commit must give the same verdict.
hypothesis.settings.register_profile("opspilot", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("opspilot")


def pytest_configure() -> None:
    """Forget the caller's settings and keys, for tests and the processes that they start."""
    for name in list(os.environ):
        if name.upper().startswith(FOREIGN):
            del os.environ[name]
    os.environ["TEMPORAL_CONFIG_FILE"] = os.devnull
    os.environ["LC_ALL"] = "C.UTF-8"
    sys.addaudithook(_stay_here)


@pytest.fixture(autouse=True, scope="session")
def _state_of_its_own() -> Iterator[None]:
    """What a test forgets to redirect lands in a folder that goes away, never in the person's own state."""
    with tempfile.TemporaryDirectory(prefix="opspilot-", ignore_cleanup_errors=True) as folder:
        os.environ["OPSPILOT_STATE_DIR"] = folder
        yield
        del os.environ["OPSPILOT_STATE_DIR"]


def _stay_here(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse connections to other machines, so that no test asks a real model by accident."""
    if event == "socket.connect" and isinstance(address := arguments[1], tuple):
        host = address[0]
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if isinstance(host, bytes):
        host = host.decode()
    if isinstance(host, str) and host and not host.startswith(HERE):
        raise AssertionError(f"A test tried to reach {host}: tests stay on this machine.")
