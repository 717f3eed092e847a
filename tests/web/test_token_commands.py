"""`token add`, `token list`, `token remove`, `url`: what lets somebody in, from the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import starter
from opspilot.access.links import use_link_token, write_address
from opspilot.access.tokens import Tokens


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPSPILOT_STATE_DIR", str(tmp_path))
    return tmp_path


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(starter.app, [*arguments])
    return result.exit_code, result.stdout, result.stderr


def test_a_token_is_printed_once_alone_and_works_until_it_is_removed(state: Path) -> None:
    tokens = Tokens(state / "tokens.json")
    status, token, said = run("token", "add", "ann@ops", "--role", "viewer", "--role", "sre", "--role", "viewer")
    assert (status, token.count("\n"), "shown this once" in said) == (0, 1, True)
    found = tokens.find(token.strip())
    assert found is not None
    assert (found.name, found.roles) == ("ann@ops", ("viewer", "sre"))

    status, listed, _ = run("token", "list", "--json")
    assert (status, json.loads(listed)["roles"], token.strip() in listed) == (0, ["viewer", "sre"], False)
    status, listed, _ = run("token", "list")
    assert listed.startswith("ann@ops\tviewer,sre\t")

    assert run("token", "remove", "ann@ops")[0] == 0
    assert tokens.find(token.strip()) is None
    assert run("token", "list")[2] == "Nobody has a token.\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["add", "ann"], "Say with --role what ann may do"),
        (["add", "two words", "--role", "viewer"], "A name has 1 to 100 letters"),
        (["add", "ann", "--role", "all of it"], "Roles are words"),
        (["remove", "ann"], "ann has no token"),
    ],
)
def test_what_can_not_be_is_a_sentence(arguments: list[str], sentence: str) -> None:
    status, printed, said = run("token", *arguments)
    assert (status, printed) == (2, "")
    assert sentence in said


def test_an_address_that_signs_in_is_that_of_the_running_server(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, _, said = run("url")
    assert (status, "python -m opspilot.web" in said) == (2, True)
    write_address(state, "http://127.0.0.1:8321")
    first, second = run("url")[1].strip(), run("url")[1].strip()
    assert first.startswith("http://127.0.0.1:8321/sign-in?token=")
    assert first != second
    assert use_link_token(state, first.partition("token=")[2])
    monkeypatch.setenv("OPSPILOT_WEB__AUTH", "token")
    monkeypatch.setenv("OPSPILOT_WEB__URL", "https://ops.test")
    status, _, said = run("url")
    assert (status, "https://ops.test" in said) == (2, True)
