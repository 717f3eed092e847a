"""The web server of a local stack: a third process, which no command waits for unless it has to show its address.

Started, restarted and ended as the worker is (see `embedded.py`), but that it may fail: asking and answering in a
terminal go on without it. Knows its process, port and log; nothing of what it serves.
"""

import hashlib
import http.client
import os
import sys
import time

from opspilot import stack
from opspilot.access.links import forget_address, read_address
from opspilot.core.errors import Unreachable
from opspilot.place import Place
from opspilot.texts.language import text

END_SECONDS = 12.0
"""It gives requests ten seconds to end."""
ANSWER_SECONDS = 5.0
_POLL_SECONDS = 0.05


def address_of(remembered: stack.StackFile) -> str:
    """Where it is, empty when there is none."""
    return f"http://127.0.0.1:{remembered.web_port}" if remembered.web_port else ""


def with_web(
    place: Place, remembered: stack.StackFile, address: str, console: str, *, any_code: bool
) -> stack.StackFile:
    """Make it run, with Temporal at `address` and its console at `console`, without waiting until it answers.

    `any_code` accepts one that runs other code or settings.
    """
    if place.web is None:
        return remembered
    wanted = f"{place.digest} {address} {console} {place.web_port}"
    digest = hashlib.blake2b(wanted.encode(), digest_size=16).hexdigest()
    found = stack.find(place.web_mark, remembered.web_pid)
    if len(found) == 1 and (any_code or remembered.web_digest == digest):
        return remembered.model_copy(update={"web_pid": found[0].pid})
    for leftover in found:
        stack.end(leftover, END_SECONDS)
    # What a killed one has left behind would be taken for the new one's.
    forget_address(place.state, read_address(place.state))
    port = place.web_port or stack.free_port(remembered.web_port)
    environment = {
        **place.at(address),
        "OPSPILOT_WEB__PORT": str(port),
        "OPSPILOT_WEB__CONSOLE": console,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(place.web), place.environment.get("PYTHONPATH")])),
    }
    # Without -P a file in the person's folder could stand in for one of the standard library.
    command = [sys.executable, "-X", place.web_mark, "-P", "-m", "opspilot.web"]
    web = stack.spawn(command, environment, place.folder, place.web_log)
    return remembered.model_copy(update={"web_pid": web.pid, "web_port": port, "web_digest": digest})


def answers(place: Place, seconds: float) -> bool:
    """Does it answer within this time? False at once when it isn't running."""
    deadline = time.monotonic() + seconds
    while True:
        remembered = stack.load(place.file)
        if not stack.find(place.web_mark, remembered.web_pid):
            return False
        if _responds(remembered.web_port):
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)


def await_web(place: Place) -> None:
    """Wait until it answers. Raises `Unreachable` with a pointer to its log when it doesn't."""
    seconds = place.deadlines.web_start
    if answers(place, seconds):
        return
    runs = stack.find(place.web_mark, stack.load(place.file).web_pid)
    key = "stack.not_ready" if runs else "stack.ended"
    line = stack.last_line(place.web_log)
    said = text(key, what=text("stack.web"), seconds=f"{seconds:g}", log=place.web_log, line=line)
    raise Unreachable(said.rstrip(" :："))


def end_web(place: Place, remembered: stack.StackFile) -> bool | None:
    """End it: True when it stopped by itself, False when it was killed, None when there was none."""
    ended = None
    for web in stack.find(place.web_mark, remembered.web_pid):
        ended = stack.end(web, END_SECONDS)
    return ended


def _responds(port: int) -> bool:
    # Whatever it says: it is there. The name stands for both of the machine's own addresses.
    connection = http.client.HTTPConnection("localhost", port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", "/api/me")
        connection.getresponse()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return True
