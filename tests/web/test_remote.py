"""Answers of a command line outside local mode: through the server, with a token, and every way in which that fails."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from temporalio.client import Client

from opspilot.cli.answering import Reply, answer_question
from opspilot.cli.remote import Told, answers
from opspilot.client import OpsPilot
from opspilot.core.calls import Gate
from opspilot.core.entries import Kind
from opspilot.core.errors import OpsPilotError, Unreachable, UsageError
from opspilot.core.interrupts import Answer, AnswerAction, Principal
from opspilot.core.policy import Policy, Rule
from opspilot.sections.web import WebSettings
from opspilot.settings import Settings, load_settings
from opspilot.testing import Step, call
from opspilot.tools.spec import tool
from tests.web.serving import serving
from tests.web.stand import Stand

SOMEBODY = Principal("whoever", method="local")
ANSWER = Answer("click", "1.1#0", AnswerAction.APPROVE, SOMEBODY, {"by": 2}, "fine", "d1")


def settings(url: str, token: str | None = "ops_t0ken") -> Settings:
    secret = SecretStr(token) if token is not None else None
    return load_settings().model_copy(update={"web": WebSettings(url=url), "token": secret})


class Server:
    """Says what a test wants, and remembers what it was asked."""

    def __init__(self) -> None:
        self.reply: Response = JSONResponse({})
        self.asked: dict[str, Any] = {}
        path = "/api/interrupts/{session}/{interrupt}/answer"
        self.app = Starlette(routes=[Route(path, self.answer, methods=["POST"])])

    async def answer(self, request: Request) -> Response:
        self.asked = {**request.path_params, **await request.json(), "token": request.headers["authorization"]}
        return self.reply


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def url(server: Server) -> Iterator[str]:
    with serving(server.app) as address:
        yield address


async def test_an_answer_goes_with_the_token_and_without_saying_who_it_is(url: str, server: Server) -> None:
    server.reply = JSONResponse({"outcome": "settled", "message": "Approved; the run goes on."})
    told = await answers(settings(url))("talk", ANSWER)
    assert isinstance(told, Told)
    assert told.message == "Approved; the run goes on."
    assert server.asked == {
        "session": "talk",
        "interrupt": "1.1#0",
        "id": "click",
        "action": "approve",
        "values": {"by": 2},
        "comment": "fine",
        "digest": "d1",
        "token": "Bearer ops_t0ken",
    }


@pytest.mark.parametrize(
    ("reply", "error", "sentence"),
    [
        (JSONResponse({"outcome": "ignored", "message": "Not taken: no."}), UsageError, "Not taken: no."),
        (JSONResponse({"code": "settled", "message": "Bob was faster."}, 409), UsageError, "Bob was faster."),
        (JSONResponse({"code": "sign_in_needed", "message": "Unknown."}, 401), UsageError, "OPSPILOT_TOKEN: Unknown."),
        (JSONResponse({"code": "unreachable", "message": "No Temporal."}, 503), Unreachable, "No Temporal."),
        (Response("<html>", 200), OpsPilotError, "does not speak as an OpsPilot server does (status 200)"),
        (JSONResponse(["x"], 200), OpsPilotError, "does not speak as an OpsPilot server does (status 200)"),
        (Response(status_code=302, headers={"Location": "/"}), OpsPilotError, "(status 302)"),
    ],
)
async def test_what_the_server_says_is_passed_on(
    url: str, server: Server, reply: Response, error: type[OpsPilotError], sentence: str
) -> None:
    server.reply = reply
    with pytest.raises(error) as refused:
        await answers(settings(url))("talk", ANSWER)
    assert type(refused.value) is error
    assert sentence in str(refused.value)
    assert "t0ken" not in str(refused.value)


async def test_what_is_missing_or_away_is_said() -> None:
    with pytest.raises(UsageError, match="OPSPILOT_WEB__URL"):
        await answers(settings(""))("talk", ANSWER)
    with pytest.raises(UsageError, match="set OPSPILOT_TOKEN"):
        await answers(settings("http://127.0.0.1:1", None))("talk", ANSWER)
    with pytest.raises(Unreachable, match=r"The server http://127\.0\.0\.1:1 does not answer"):
        await answers(settings("http://127.0.0.1:1"))("talk", ANSWER)


@pytest.mark.asyncio(loop_scope="session")
async def test_from_the_command_line_to_the_run_it_is_the_tokens_person_who_approved(
    temporal: Client, tmp_path: Path
) -> None:
    done: list[str] = []

    @tool()
    def change(name: str) -> str:
        """Change something."""
        done.append(name)
        return "changed"

    asking = Policy((Rule("changes", Gate.CONFIRM, tools=("change",)),))
    async with Stand(temporal, tmp_path, [change], policy=asking) as stand:
        token = stand.tokens.add("ann", ("approver",))
        with serving(stand.app) as url:
            remote = answers(settings(url, token))
            pilot = OpsPilot(temporal, stand.desk.journal, SOMEBODY, stand.desk.queue, answers=remote)
            async with stand.desk.worker([Step(calls=[call("change", name="db")]), Step(text="Done.")]):
                asked = await stand.desk.ask()
                await stand.desk.waiting(asked.session)
                said: list[str] = []
                await answer_question(pilot, SOMEBODY, asked.session, Reply(AnswerAction.APPROVE), said.append)
                await stand.desk.until(asked.session, Kind.RUN_STOPPED)
        (settled,) = stand.desk.entries(asked.session, Kind.INTERRUPT_ANSWERED)
    assert (said, done) == (["Approved; the run goes on."], ["db"])
    assert (settled.data["by"], settled.data["method"]) == ("ann", "token")
