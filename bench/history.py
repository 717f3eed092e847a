"""What a step costs in Temporal's history: runs of 20 and of 80 steps, two calls a step, 10 KB a result.

    python bench/history.py

Everything is the product: the local stack in a folder of its own, its worker, the scripted model, the client. Prints
the history of the whole chain of runs (continue-as-new included) for both, and the growth per step; exits with 1 when a
step costs 4 KiB or more, or when the last 20 steps of the long run differ from its first 20 by more than 5 %.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from temporalio.api.enums.v1 import EventType  # noqa: E402 (the checkout must be importable first)
from temporalio.client import Client  # noqa: E402

from opspilot import embedded  # noqa: E402
from opspilot.client import OpsPilot  # noqa: E402
from opspilot.core.entries import Kind  # noqa: E402
from opspilot.core.interrupts import Principal  # noqa: E402
from opspilot.core.limits import Limits  # noqa: E402
from opspilot.journal.store import SqlJournal  # noqa: E402
from opspilot.place import Place  # noqa: E402
from opspilot.temporal import connect  # noqa: E402

SHORT, LONG, CALLS, SIZE = 20, 80, 2, 10_000
WINDOW = 20
MOST_BYTES = 4 * 1024
MOST_DRIFT = 0.05


@dataclass(frozen=True)
class Chain:
    """The history of one run with all that it continued as: total bytes, and the bytes of each step's events."""

    total_bytes: int
    step_bytes: tuple[int, ...]
    runs: int
    seconds: float


def configure(folder: Path, steps: int) -> Path:
    """A script of so many steps, and the settings that play it."""
    script = [
        {"calls": [{"name": "page", "arguments": {"number": step * CALLS + nth, "size": SIZE}} for nth in range(CALLS)]}
        for step in range(steps - 1)
    ]
    (folder / "script.json").write_text(json.dumps([*script, {"text": "That was all."}]))
    config = folder / "opspilot.toml"
    config.write_text(
        '[model]\nprovider = "scripted"\nscript = "script.json"\n[tools.page]\nuse = "bench.pages:page"\n'
    )
    return config


async def measure(client: Client, pilot: OpsPilot, steps: int) -> Chain:
    """Run so many steps and read the history."""
    began = time.monotonic()
    asked = await pilot.ask("Read it all.", limits=Limits(steps=steps + 1, tokens=10**9))
    run = ""
    async for entry in pilot.follow(asked.session, asked.message_id):
        run = entry.run
        if entry.kind is Kind.RUN_STOPPED and (entry.data["stop_reason"], entry.data["steps"]) != ("answered", steps):
            raise SystemExit(f"The run of {steps} steps did not end as it should: {dict(entry.data)}")
    seconds = time.monotonic() - began
    total, runs, sizes = 0, 0, []
    while run:
        handle = client.get_workflow_handle(asked.session, run_id=run)
        description = await handle.describe()
        total += description.raw_description.workflow_execution_info.history_size_bytes
        runs += 1
        run = ""
        step: int | None = None
        async for event in handle.fetch_history_events():
            scheduled = event.activity_task_scheduled_event_attributes
            if scheduled.activity_type.name == "call_model":
                sizes.append(0)
                step = len(sizes) - 1
            elif scheduled.activity_type.name == "close_run":
                step = None
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
                run = event.workflow_execution_continued_as_new_event_attributes.new_execution_run_id
                step = None
            if step is not None:
                sizes[step] += event.ByteSize()
    return Chain(total, tuple(sizes), runs, seconds)


async def main() -> int:
    """Measure both and compare."""
    chains: dict[int, Chain] = {}
    for steps in (SHORT, LONG):
        with tempfile.TemporaryDirectory(prefix="opspilot-bench-", ignore_cleanup_errors=True) as name:
            folder = Path(os.path.realpath(name))  # noqa: ASYNC240 nothing else runs in this loop
            config = configure(folder, steps)
            environment = {
                **os.environ,
                "OPSPILOT_CONFIG": str(config),
                "OPSPILOT_STATE_DIR": str(folder),
                "OPSPILOT_WEB__AUTH": "local",
            }
            place = Place(folder, ROOT / "worker.py", "bench", environment, ROOT)
            endpoint = await asyncio.to_thread(embedded.ensure, place)
            journal = SqlJournal(f"sqlite:///{folder / 'journal.sqlite'}")
            try:
                client = await connect(endpoint.address)
                chains[steps] = await measure(client, OpsPilot(client, journal, Principal("bench")), steps)
            finally:
                journal.close()
                await asyncio.to_thread(embedded.shut_down, place)
    for steps, chain in chains.items():
        print(
            f"{steps} steps of {CALLS} calls with {SIZE} characters each: {chain.total_bytes} bytes of history "
            f"in {chain.runs} run(s), {chain.seconds:.1f} s, {1000 * chain.seconds / steps:.0f} ms a step"
        )
    per_step = (chains[LONG].total_bytes - chains[SHORT].total_bytes) / (LONG - SHORT)
    with_calls = chains[LONG].step_bytes[:-1]
    first, last = sum(with_calls[:WINDOW]), sum(with_calls[-WINDOW:])
    drift = last / first - 1
    print(f"(H{LONG} - H{SHORT}) / {LONG - SHORT} = {per_step:.0f} bytes a step (must be under {MOST_BYTES})")
    print(f"the last {WINDOW} steps take {drift:+.1%} of the first {WINDOW} (must be within {MOST_DRIFT:.0%})")
    return 0 if per_step < MOST_BYTES and abs(drift) <= MOST_DRIFT else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
