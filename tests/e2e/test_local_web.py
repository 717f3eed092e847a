"""The web server of the local stack: it comes up beside the others, comes back, goes with them, is never in the way."""

import http.client
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from opspilot import embedded, stack, stack_web
from opspilot.access.links import new_link_token, read_address, sign_in_url
from opspilot.core.errors import Unreachable
from opspilot.place import Deadlines, Place

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

ROOT = Path(__file__).parents[2]
STUB = Path(__file__).with_name("stub_worker.py")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """One stack for all of these tests, in whose folder lies a file with the name of a standard module."""
    state, folder = tmp_path_factory.mktemp("state").resolve(), tmp_path_factory.mktemp("folder").resolve()
    (folder / "ssl.py").write_text("raise SystemExit('not the real one')\n")
    environment = {**os.environ, "OPSPILOT_STATE_DIR": str(state), "OPSPILOT_WEB__AUTH": "local"}
    place = Place(state, STUB, "1", environment, folder, deadlines=Deadlines(drain=5), web=ROOT)
    try:
        yield place
    finally:
        for mark in (place.web_mark, place.worker_mark, place.server_mark):
            for process in stack.find(mark, 0):
                process.kill()


@pytest.fixture
def place(running: Place) -> Place:
    embedded.ensure(running)
    stack_web.await_web(running)
    return running


def web_of(place: Place) -> psutil.Process:
    (web,) = stack.find(place.web_mark, 0)
    return web


def status_of(url: str) -> int:
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=20)) as connection:
        connection.request("GET", f"{parts.path}?{parts.query}")
        return connection.getresponse().status


def test_it_lets_in_who_comes_with_a_link_of_its_state_folder(place: Place) -> None:
    endpoint = embedded.ensure(place)

    assert read_address(place.state) == endpoint.web
    assert status_of(sign_in_url(endpoint.web, new_link_token(place.state))) == 303


def test_it_is_told_where_temporal_and_its_console_are(place: Place) -> None:
    endpoint = embedded.ensure(place)
    environment = web_of(place).environ()

    assert environment["TEMPORAL_ADDRESS"] == endpoint.address
    assert environment["OPSPILOT_WEB__CONSOLE"] == endpoint.console


def test_killed_it_comes_back_on_the_same_port_with_the_next_command_and_nothing_else_restarts(place: Place) -> None:
    before = embedded.ensure(place)
    others = [stack.find(mark, 0) for mark in (place.server_mark, place.worker_mark)]
    killed = web_of(place)
    killed.kill()
    killed.wait(10)

    assert not stack_web.answers(place, 0)
    assert embedded.ensure(place) == before
    stack_web.await_web(place)

    assert read_address(place.state) == before.web
    assert [stack.find(mark, 0) for mark in (place.server_mark, place.worker_mark)] == others


def test_other_code_or_settings_restart_it_unless_one_only_looks_on(place: Place) -> None:
    before = web_of(place)

    embedded.ensure(replace(place, digest="2"), any_worker=True)
    assert web_of(place) == before

    embedded.ensure(replace(place, digest="2"))
    assert web_of(place) != before


def test_a_port_that_was_chosen_is_used(place: Place) -> None:
    port = stack.free_port(0)

    assert embedded.ensure(replace(place, web_port=port)).web == f"http://127.0.0.1:{port}"
    stack_web.await_web(place)
    assert read_address(place.state).endswith(f":{port}")


def test_one_that_can_not_start_keeps_nobody_from_asking_and_is_reported_to_who_wants_it(place: Place) -> None:
    broken = replace(place, digest="3", environment={**place.environment, "OPSPILOT_WEB__COLOUR": "red"})

    assert embedded.ensure(broken).address
    with pytest.raises(Unreachable, match=r"The local web server ended while.*web\.log.*OPSPILOT_WEB__COLOUR"):
        stack_web.await_web(broken)


def test_down_ends_it_first_and_says_so(place: Place) -> None:
    said: list[str] = []
    embedded.shut_down(place, said.append)

    assert said == [
        "The local web server is stopped.",
        "The local worker is stopped.",
        "The local Temporal server is stopped.",
    ]
    assert stack.find(place.web_mark, 0) == []
    assert read_address(place.state) == ""
