"""A tool with arguments of as many kinds as there are, and a call of it: for tests of forms, and for pictures."""

from datetime import date, datetime, timedelta
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, SecretStr

from opspilot.tools.spec import tool


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Disk(BaseModel):
    path: str
    gigabytes: Annotated[int, Field(gt=0, le=2000)] = 10
    tags: list[str] = []


class Http(BaseModel):
    kind: Literal["http"] = "http"
    url: str


class Tcp(BaseModel):
    kind: Literal["tcp"] = "tcp"
    port: Annotated[int, Field(ge=1, lt=65536)]


class Tree(BaseModel):
    name: str
    children: list["Tree"] = []


class Window(BaseModel):
    """When it may happen."""

    day: date
    minutes: Annotated[int, Field(ge=5, multiple_of=5)] = 30
    where: Disk | None = None


@tool()
def rebuild(
    *,
    window: Window,
    disks: list[Disk],
    check: Annotated[Http | Tcp, Field(discriminator="kind")],
    limits: dict[str, int],
    colours: list[Literal["red", "green", "blue"]],
    name: Annotated[str, Field(min_length=2, max_length=20, pattern="^(a+)+$")] = "aa",
    colour: Colour = Colour.RED,
    after: date | None = None,
    at: datetime | None = None,
    pause: timedelta = timedelta(minutes=5),
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5,
    replicas: Annotated[int, Field(gt=0, lt=10)] = 3,
    script: Annotated[str, Field(max_length=4000)] = "",
    hosts: Annotated[list[str], Field(max_length=2)] = Field(default_factory=list),  # noqa: B008 pydantic's way
    fallback: Disk | None = None,
    mode: Literal["fast"] = "fast",
    level: int | str = 1,
    tree: Tree | None = None,
    pair: tuple[int, str] = (1, "x"),
    secret: SecretStr | None = None,
) -> str:
    """Rebuild something."""
    return "done"


SCHEMA = rebuild.input_schema
GIVEN: dict[str, Any] = {
    "window": {"day": "2026-12-01", "minutes": 30, "where": {"path": "/", "gigabytes": 5, "tags": ["x"]}},
    "disks": [{"path": "/data", "gigabytes": 100, "tags": []}],
    "check": {"kind": "tcp", "port": 80},
    "limits": {"cpu": 4},
    "colours": ["red", "blue"],
    "name": "aaa",
    "colour": "blue",
    "after": "2026-12-24",
    "at": None,
    "pause": "PT5M",
    "share": 0.25,
    "replicas": 3,
    "script": "one\ntwo",
    "hosts": ["a", "b"],
    "fallback": None,
    "mode": "fast",
    "level": 1,
    "tree": {"name": "root", "children": [{"name": "leaf", "children": []}]},
    "pair": [1, "x"],
    "secret": None,
}
