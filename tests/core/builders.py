"""Short ways to write calls and states down, for tables."""

from dataclasses import replace

from opspilot.core.calls import Effect
from opspilot.core.observations import ErrorCode
from opspilot.core.state import CallState, Stage

KINDS = {"R": (Effect.READ, True), "r": (Effect.READ, False), "W": (Effect.WRITE, False), "w": (Effect.WRITE, True)}
STAGES = {
    "": (Stage.READY, None),
    "?": (Stage.ASKED, None),
    "+": (Stage.AGREED, None),
    ".": (Stage.DONE, None),
    "!": (Stage.DONE, ErrorCode.TOOL_FAILED),
    "x": (Stage.DONE, ErrorCode.REJECTED_BY_HUMAN),
}


def call(kind: str, index: int = 1, *, tool: str = "look", digest: str = "args", result: str = "") -> CallState:
    """`R` a read, `r` a read that runs alone, `W` a write, `w` a write declared concurrent.

    Behind it where the call is: nothing ready, `?` waits for a person, `+` agreed, `.` went well, `!` failed,
    `x` rejected.
    """
    effect, concurrent = KINDS[kind[0]]
    stage, code = STAGES[kind[1:]]
    return CallState(index, tool, tool, digest, effect, concurrent, seconds=20.0, stage=stage, code=code, result=result)


def calls(kinds: str) -> tuple[CallState, ...]:
    """`"R W? R"`: a step's calls, in proposal order."""
    return tuple(call(kind, index) for index, kind in enumerate(kinds.split(), start=1))


def polling(state: CallState) -> CallState:
    """The same call of a tool that is asked again and again on purpose."""
    return replace(state, polling=True)
