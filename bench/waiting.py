"""Runs that wait for a person, all answered in one go: how long it takes, and that none is lost and none runs twice.

    python bench/waiting.py [RUNS]

Everything is the product: the local stack in a folder of its own, its worker, the scripted model, the client. So many
runs (2,000 if nothing else is said) are asked for, and each waits for an agreement; then all are approved at once, each
answer twice, as after a double click. Prints how long it took until the last had ended, what the worker's memory was,
and exits with 1 when a run was lost, or its change was made twice or not at all.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from bench.effects import FILE  # noqa: E402 (the checkout must be importable first)
from opspilot import embedded, stack  # noqa: E402
from opspilot.client import OpsPilot  # noqa: E402
from opspilot.core.errors import UsageError  # noqa: E402
from opspilot.core.interrupts import Answer, AnswerAction, Principal  # noqa: E402
from opspilot.journal.queries import InterruptRow  # noqa: E402
from opspilot.journal.store import SqlJournal  # noqa: E402
from opspilot.place import Place  # noqa: E402
from opspilot.temporal import connect  # noqa: E402

RUNS = 2_000
ASKED_AT_ONCE, ANSWERED_AT_ONCE = 8, 50
"""How many requests are in flight: runs begin one after another, and are answered as fast as that is taken."""
STALLED_SECONDS = 120.0
"""Nothing that a run waits for by itself takes longer."""
ME = Principal("bench")

T = TypeVar("T")


@dataclass(frozen=True)
class Times:
    """Seconds: until all were waiting, until all were answered, and until the last had ended."""

    asking: float
    answering: float
    ending: float
    worker_megabytes: float


def configure(folder: Path) -> Path:
    """A model that proposes one change, which no rule of the policy speaks of, and is content."""
    script = [{"calls": [{"name": "change", "arguments": {"name": "it"}}]}, {"text": "Done."}]
    (folder / "script.json").write_text(json.dumps(script))
    config = folder / "opspilot.toml"
    config.write_text(
        '[model]\nprovider = "scripted"\nscript = "script.json"\n[tools.change]\nuse = "bench.effects:build"\n'
    )
    return config


async def all_of(work: Iterable[Awaitable[T]], at_once: int) -> list[T]:
    """Everything, so many at once."""
    room = asyncio.Semaphore(at_once)

    async def one(each: Awaitable[T]) -> T:
        async with room:
            return await each

    return list(await asyncio.gather(*map(one, work)))


async def give(pilot: OpsPilot, question: InterruptRow) -> None:
    """Approve, twice. The second time it may be settled, and its run may have ended."""
    id_ = f"yes-{question.session}"
    answer = Answer(id_, question.interrupt, AnswerAction.APPROVE, ME, digest=question.digest)
    await pilot.answer(question.session, answer)
    try:
        await pilot.answer(question.session, answer)
    except UsageError:
        return


async def run(pilot: OpsPilot, journal: SqlJournal, place: Place, runs: int) -> Times:
    """Ask, wait until all wait, answer, wait until all have ended."""
    began = time.monotonic()
    asking = (pilot.ask(f"Change {number}.", f"waiting-{number}", deadline_seconds=600) for number in range(runs))
    await all_of(asking, ASKED_AT_ONCE)
    await until(lambda: len(journal.open_interrupts()), runs)
    waiting = journal.open_interrupts()
    asked = time.monotonic()
    (worker,) = stack.find(place.worker_mark, 0)
    memory = worker.memory_info().rss / 1e6
    print(f"{runs} runs wait after {asked - began:.1f} s; the worker has {memory:.0f} MB", flush=True)
    await all_of((give(pilot, question) for question in waiting), ANSWERED_AT_ONCE)
    answered = time.monotonic()
    await until(lambda: count_ended(journal), runs)
    return Times(asked - began, answered - asked, time.monotonic() - asked, memory)


async def until(count: Callable[[], int], wanted: int) -> None:
    """Wait until so many are counted, or nothing has changed for too long: what is missing then is lost."""
    known, since = -1, time.monotonic()
    while (counted := await asyncio.to_thread(count)) < wanted and time.monotonic() - since < STALLED_SECONDS:
        if counted != known:
            known, since = counted, time.monotonic()
        await asyncio.sleep(0.2)


def count_ended(journal: SqlJournal) -> int:
    """How many sessions have an answer."""
    return sum(row.stop_reason == "answered" for row in journal.sessions(status="done", limit=10_000))


async def main(runs: int) -> int:
    """Measure and check."""
    with tempfile.TemporaryDirectory(prefix="opspilot-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(os.path.realpath(name))  # noqa: ASYNC240 nothing else runs in this loop
        environment = {
            **os.environ,
            "OPSPILOT_CONFIG": str(configure(folder)),
            "OPSPILOT_STATE_DIR": str(folder),
            "OPSPILOT_WEB__AUTH": "local",
        }
        place = Place(folder, ROOT / "worker.py", "bench", environment, ROOT)
        endpoint = await asyncio.to_thread(embedded.ensure, place)
        journal = SqlJournal(f"sqlite:///{folder / 'journal.sqlite'}")
        try:
            pilot = OpsPilot(await connect(endpoint.address), journal, ME)
            times = await run(pilot, journal, place, runs)
            ended = count_ended(journal)
            effects = Counter((folder / FILE).read_text(encoding="utf-8").split("\n")[:-1])
        finally:
            journal.close()
            await asyncio.to_thread(embedded.shut_down, place)
    twice = sum(count > 1 for count in effects.values())
    print(f"all answered twice within {times.answering:.1f} s; the last one had ended after {times.ending:.1f} s")
    speed = f"{runs / times.ending:.1f} runs a second"
    print(f"{speed}; lost: {runs - ended}; not done: {runs - len(effects)}; done twice: {twice}")
    return 0 if ended == len(effects) == runs and not twice else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)))
