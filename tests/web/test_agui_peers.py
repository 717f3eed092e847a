"""AG-UI with peers that nobody here wrote: the client of the protocol's authors, and a validator of its rules."""

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from temporalio.client import Client

from opspilot.core.calls import Gate
from opspilot.core.entries import Kind
from opspilot.core.errors import ModelError, ModelFault
from opspilot.core.messages import ModelReply, ModelRequest
from opspilot.core.policy import Policy, Rule
from opspilot.core.ports import Model
from opspilot.testing import Step, call
from opspilot.tools.spec import tool
from tests.e2e.peers import FETCH, PEERS
from tests.web.browsing import Front

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]

CLIENT = PEERS / "node_modules" / "@ag-ui" / "client" / "dist" / "index.mjs"
LONG = "It has to be changed, since the pool of connections is exhausted. " * 8
CHANGE = [
    Step(text=LONG, calls=[call("look", topic="db"), call("change", name="db")]),
    Step(text="**Changed**: 完成了。"),
]


@tool(effect="read")
def look(topic: str) -> str:
    """Say what is known."""
    return f"{topic} is slow\u2028\nand <b>bold</b>"


@tool()
def change(name: str, by: int = 1) -> str:
    """Change something."""
    return f"changed {name} by {by}"


@pytest_asyncio.fixture(loop_scope="session")
async def front(temporal: Client, tmp_path: Path) -> AsyncIterator[Front]:
    policy = Policy((Rule("changes", Gate.CONFIRM, tools=("change",)), Rule("rest", Gate.RUN)))
    async with Front(temporal, tmp_path, [look, change], policy=policy) as front:
        yield front


async def output(*command: str | Path) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    said, complained = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode is not None
    return process.returncode, said.decode(), complained.decode()


class Chat:
    """The authors' client, talking in a thread of its own."""

    def __init__(self, front: Front) -> None:
        self.front = front
        self.thread = f"talk-{uuid4().hex[:8]}"

    async def __call__(self, name: str, question: str, *payloads: Any, **state: Any) -> list[dict[str, Any]]:
        """What it has after asking, and after each answer to all that was pending (None: abandoned)."""
        node = shutil.which("node")
        if node is None or not CLIENT.is_file():
            pytest.skip(f"there is no AG-UI client here: {FETCH}, and needs node and npm")
        token = self.front.tokens.add(name, ("operator", "approver"))
        given = json.dumps({"question": question, "payloads": payloads, "state": state})
        script = Path(__file__).with_name("agui_client.mjs")
        status, said, complained = await output(
            node, script, CLIENT, f"{self.front.url}/agui", token, self.thread, given
        )
        assert (status, complained) == (0, "")
        runs = [json.loads(line) for line in said.rstrip("\n").split("\n")]
        assert [run["failed"] for run in runs] == [None] * len(runs)
        return runs


@pytest.fixture
def chat(front: Front) -> Chat:
    return Chat(front)


def texts(run: dict[str, Any], role: str = "assistant") -> list[str]:
    return [message["content"] for message in run["messages"] if message["role"] == role and message.get("content")]


async def test_the_authors_client_asks_is_asked_and_agrees(front: Front, chat: Chat) -> None:
    async with front.desk.worker(CHANGE):
        asked, agreed = await chat("sue", "Change it.", {"approved": True}, theme="dark")
    assert texts(asked) == [LONG]
    assert texts(asked, "user") == ["Change it."]
    (interrupt,) = asked["pendingInterrupts"]
    assert (interrupt["reason"], asked["outcomes"]) == ("tool_call", ["interrupt"])
    calls = asked["messages"][1]["toolCalls"]
    assert [each["function"]["name"] for each in calls] == ["look", "change"]
    assert json.loads(calls[1]["function"]["arguments"]) == {"name": "db"}
    assert calls[1]["id"] == interrupt["toolCallId"]
    assert asked["state"]["opspilot"]["status"] == "waiting"

    assert agreed["pendingInterrupts"] == []
    assert texts(agreed) == [LONG, "**Changed**: 完成了。"]
    results = {
        message["toolCallId"]: json.loads(message["content"])
        for message in agreed["messages"]
        if message["role"] == "tool"
    }
    assert [results[each["id"]]["ok"] for each in calls] == [True, True]
    assert results[calls[0]["id"]]["data"] == "db is slow\u2028\nand <b>bold</b>"
    assert results[calls[1]["id"]]["data"] == "changed db by 1"
    assert agreed["outcomes"] == ["success"]
    assert agreed["state"]["theme"] == "dark"
    assert agreed["state"]["opspilot"] == {
        "session": chat.thread,
        "run": interrupt["id"].split("/")[0],
        "status": "done",
        "step": 2,
        "waiting": 0,
        "stopReason": "answered",
    }
    (answered,) = front.desk.entries(chat.thread, Kind.INTERRUPT_ANSWERED)
    assert (answered.data["by"], answered.data["method"], answered.data["action"]) == ("sue", "token", "approve")


@pytest.mark.parametrize(
    ("payload", "result"),
    [
        ({"approved": True, "editedArgs": {"name": "db", "by": 3}}, "changed db by 3"),
        ({"approved": False, "comment": "Not now."}, "They said: Not now."),
        (None, "A person rejected this call"),
    ],
)
async def test_the_authors_client_edits_denies_and_abandons(
    front: Front, chat: Chat, payload: dict[str, Any] | None, result: str
) -> None:
    async with front.desk.worker(CHANGE):
        asked, answered = await chat("sue", "Change it.", payload)
    changed = asked["messages"][1]["toolCalls"][1]["id"]
    (told,) = (message for message in answered["messages"] if message.get("toolCallId") == changed)
    assert result in told["content"]
    assert answered["outcomes"] == ["success"]


class Slow(Model):
    """Writes piece by piece; the first attempt breaks off, and the second one says something else."""

    name = "slow"

    def __init__(self) -> None:
        self.attempts = 0

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        self.attempts += 1
        pieces = ["The gateway ", "is", " …"] if self.attempts == 1 else ["The ", "database ", "is slow."]
        for piece in pieces:
            on_text(piece)
            await asyncio.sleep(0.4)
        if self.attempts == 1:
            raise ModelError(ModelFault.NETWORK, "It broke off.", retryable=True, text="".join(pieces))
        return ModelReply("".join(pieces))


async def test_text_arrives_while_it_is_written_and_what_broke_off_is_taken_back(front: Front, chat: Chat) -> None:
    async with front.desk.worker(Slow()):
        (run,) = await chat("ann", "Why?")
    assert texts(run) == ["The database is slow."]
    assert run["types"].count("TEXT_MESSAGE_START") == 2
    assert run["types"].count("TEXT_MESSAGE_CONTENT") >= 4
    assert run["types"].count("MESSAGES_SNAPSHOT") == 2


async def test_the_validator_finds_no_fault_in_a_run(front: Front, tmp_path: Path) -> None:
    token = front.tokens.add("val", ("operator",))
    validator = Path(sys.executable).with_name("ag-ui-validate")
    report = tmp_path / "report.json"
    options = ["--header", f"Authorization: Bearer {token}", "--json-file", str(report), "--max-warnings", "0"]
    async with front.desk.worker(CHANGE):
        status, said, _ = await output(validator, f"{front.url}/agui", *options)
    assert status == 0, said
    found = json.loads(report.read_text(encoding="utf-8"))
    assert [each for each in found["diagnostics"] if each["severity"] != "info"] == []
    assert found["eventCount"] > 10, found
