"""The tools that ship with OpsPilot, over given folders, for the harness."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from opspilot.core.interrupts import Interrupt, Principal
from opspilot.core.messages import Json, ToolSpec
from opspilot.core.ports import CallContext
from opspilot.tools.builtin import restart_service, search_docs, search_logs, search_resource
from opspilot.tools.spec import Tool, ToolError, ToolPlace
from tests.models.demo.harness import Refused

ROOT = Path(__file__).parents[3]
SHOP = ROOT / "examples" / "shop"
REAL_DATA = ROOT.parent / "shared" / "real-data"

_CONTEXT = CallContext("session", "run", "1.1", 1, "key", Principal("tester"))


@dataclass(frozen=True)
class Shipped:
    """A shipped tool, shown and validated as the runtime does it. An interrupt's reason stands for its result."""

    tool: Tool

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def description(self) -> str:
        return self.tool.description

    @property
    def spec(self) -> ToolSpec:
        return self.tool.spec

    def call(self, arguments: Mapping[str, Json]) -> Json:
        bound = self.tool.bind(arguments)
        if self.tool.context_parameter:
            bound[self.tool.context_parameter] = _CONTEXT
        try:
            result = self.tool.function(**bound)
        except ToolError as error:
            raise Refused(error.message, error.code.value) from error
        return {"asked_a_person": result.reason} if isinstance(result, Interrupt) else result


def readers(docs: Path, logs: Path, state: Path) -> list[Shipped]:
    place = ToolPlace(docs, state, None)
    return [
        Shipped(search_docs.build("search_docs", search_docs.Config(path=docs), place)),
        Shipped(search_logs.build("search_logs", search_logs.Config(path=logs), place)),
    ]


def shop(state: Path) -> list[Shipped]:
    place = ToolPlace(SHOP, state, None)
    restart = restart_service.Config(command=("true",), environments=("staging", "production"))
    return [
        Shipped(search_resource.build("search_resource", search_resource.Config(path=SHOP / "catalog"), place)),
        *readers(SHOP / "runbooks", SHOP / "logs", state),
        Shipped(restart_service.build("restart_service", restart, place)),
    ]
