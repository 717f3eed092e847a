"""A proposed call: its name inside a run, its arguments, and the verdict on it."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from opspilot.core.messages import Json, ProtocolCall
from opspilot.core.observations import ErrorCode
from opspilot.core.terms import Terms

MAX_DEPTH = 100
"""Arguments nested deeper are refused: what one stack can still parse, a deeper one can't encode any more."""


class Effect(StrEnum):
    """What a tool does to the world. Undeclared means write."""

    READ = "read"
    WRITE = "write"


class Gate(StrEnum):
    """The verdict on a proposed call."""

    RUN = "run"
    CONFIRM = "confirm"
    DENY = "deny"
    INVALID = "invalid"


@dataclass(frozen=True)
class Verdict:
    """What was decided about a call before anything ran, made once and recorded.

    `rule` names what decided. With `deny` and `invalid`, `code` and `message` become the call's observation; with
    `confirm`, `message` is what the person is asked, `terms` say which person, and `arguments` are those that the tool
    would see, with its defaults: what a person agrees to must not change with the tool's next version.
    """

    gate: Gate
    effect: Effect = Effect.WRITE
    rule: str = ""
    concurrent: bool = False
    polling: bool = False
    idempotent: bool = False
    timeout_seconds: float = 30.0
    code: ErrorCode | None = None
    message: str = ""
    terms: Terms = Terms()
    arguments: Mapping[str, Json] | None = None


@dataclass(frozen=True)
class ExecutableCall:
    """A protocol call made ready to run: parsed `input`, or the reason why there is none."""

    id: str
    name: str
    raw_arguments: str
    input: dict[str, Json] | None
    parse_error: str = ""


def decode_call(call: ProtocolCall) -> ExecutableCall:
    """Parse one call's arguments. A fault stays with this call; its siblings are not touched.

    Empty arguments mean `{}`: several servers send nothing for a tool without parameters.
    """
    text = call.arguments.strip()
    if not text:
        return ExecutableCall(call.id, call.name, call.arguments, {})
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        return ExecutableCall(call.id, call.name, call.arguments, None, f"The arguments are not valid JSON: {error}")
    if _is_too_deep(value):
        return ExecutableCall(
            call.id, call.name, call.arguments, None, f"The arguments are nested deeper than {MAX_DEPTH} levels."
        )
    if not isinstance(value, dict):
        kind = type(value).__name__
        return ExecutableCall(
            call.id, call.name, call.arguments, None, f"The arguments must be a JSON object, not {kind}."
        )
    return ExecutableCall(call.id, call.name, call.arguments, value)


def is_json(value: Json) -> bool:
    """Whether JSON carries it from one process to another: no infinity, no half characters, no bottomless nesting."""
    try:
        canonical_json(value).encode()
    except (TypeError, ValueError, RecursionError):
        return False
    return not _is_too_deep(value)


def _is_too_deep(value: Json) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent if isinstance(parent, list) else ())
        ]
        if not level:
            return False
    return True


def _refuse_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def canonical_json(value: Json) -> str:
    """The same text for the same value, whatever the order of its keys."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def digest(value: Json) -> str:
    """16 bytes of BLAKE2b over the canonical JSON of a value, as 32 hexadecimal digits."""
    return hashlib.blake2b(canonical_json(value).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


INTERRUPT = re.compile(r"(limit|[1-9][0-9]{0,8}\.[1-9][0-9]{0,8})#(0|[1-9][0-9]{0,8})")
"""A question's name as we write it: what asks, and its round. Under another spelling (`1.1#01`) it would be another."""


def call_name(step: int, index: int) -> str:
    """`"3.1"`: the first call of step 3. Both count from 1."""
    return f"{step}.{index}"


def round_name(call: str, round_: int) -> str:
    """`"3.1#2"`: the second round of call 3.1; also the id of the question that this round asked.

    Round 0 is what comes before a call may run: `"3.1#0"` is the question of a verdict that holds it.
    """
    return f"{call}#{round_}"


def limit_interrupt(nth: int) -> str:
    """`"limit#1"`: the question whether a run may go on beyond a limit, the first that it asked."""
    return round_name("limit", nth)


def idempotency_key(run: str, call: str, round_: int) -> str:
    """The key that a write hands to whatever it changes, the same for each attempt of one round."""
    return f"{run}/{round_name(call, round_)}"
