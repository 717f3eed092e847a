"""`docs/states.md` shows how the phases of a run follow one another. It is drawn from the tables of transitions.

`python -m tests.core.test_diagram` draws it anew.
"""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings

from opspilot.core.events import Event
from opspilot.core.limits import Limits
from opspilot.core.loop import apply
from opspilot.core.state import Phase, RunState
from tests.core import test_events, test_settling
from tests.core.builders import LIMITS
from tests.core.simulation import Simulation
from tests.core.test_properties import bounds, tapes

PAGE = Path(__file__).parents[2] / "docs" / "states.md"

TEXT = """\
# The phases of a run

Drawn by `python -m tests.core.test_diagram` from the tables in `tests/core/test_events.py` and
`tests/core/test_settling.py`, which say in a sentence each when an event has which effect. An event that is not on an
arrow leaves the phase as it is.

| phase | what the run does in it |
|---|---|
| opening | waits for a first message, then makes itself the session's current run |
| thinking | lets the model think, or say its last words at a limit |
| settling | runs the calls of a step, asks people, and has their answers judged, until each call has its observation |
| closing | writes how it ended |
| ended | nothing; a message that came late makes it go on |

```mermaid
stateDiagram-v2
    [*] --> opening
{edges}
    ended --> [*]
```
"""

Edge = tuple[Phase, Phase, str]


def table_edges() -> set[Edge]:
    """The changes of phase in the tables."""
    edges: set[Edge] = set()
    for row in (*test_events.ROWS, *test_settling.ROWS):
        state, events = row.values[:2]
        assert isinstance(state, RunState)
        assert isinstance(events, list)
        for event in events:
            before, state = state, apply(state, event, LIMITS)
            edges |= changed(before, event, state)
    return edges


def changed(before: RunState, event: Event, after: RunState) -> set[Edge]:
    return {(before.phase, after.phase, type(event).__name__)} if before.phase is not after.phase else set()


def drawn() -> str:
    phases = list(Phase)
    edges = sorted(table_edges(), key=lambda edge: (phases.index(edge[0]), phases.index(edge[1]), edge[2]))
    pairs = dict.fromkeys((before, after) for before, after, _ in edges)
    lines = [
        f"    {before} --> {after}: {', '.join(name for *pair, name in edges if tuple(pair) == (before, after))}"
        for before, after in pairs
    ]
    return TEXT.format(edges="\n".join(lines))


def test_the_diagram_is_what_the_tables_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == drawn(), "python -m tests.core.test_diagram draws it anew"


@settings(max_examples=200)
@given(tape=tapes, limits=bounds)
def test_in_any_world_phases_follow_one_another_as_the_diagram_says(tape: bytes, limits: Limits) -> None:
    known = {(before, after) for before, after, _ in table_edges()}
    phases = [Phase.OPENING]

    def follow(state: RunState) -> RunState:
        phases.append(state.phase)
        return state

    Simulation(tape, limits, checkpoint=follow).run()
    steps = {(before, after) for before, after in pairwise(phases) if before is not after}
    assert steps <= known


@pytest.mark.parametrize("phase", list(Phase))
def test_each_phase_is_explained(phase: Phase) -> None:
    assert f"| {phase} | " in TEXT


if __name__ == "__main__":
    PAGE.write_text(drawn(), encoding="utf-8")
