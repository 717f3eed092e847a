"""How many questions the offline planner answers, and that it invents nothing.

    python bench/planner.py [--show WORDS] [--newest] [TOOLSET.py …]

Asks ten questions in English and the same ten in Chinese on each toolset, through the real tool runtime. What is true
is computed by plain code from the data. A question is answered when its direct answer says the fact and a place is
cited that really holds it. Three figures: of the real logs and runbooks together with one set of three toolsets, of a
second set of three, and of older ones. The two sets were written by people who had not read the planner, each before it
met them; `FIRST_CONTACT` says how many it answered then, and on them it was improved only a little since. Exits with 1
when fewer than four of five are answered in any of the three, or anything is invented. `--show` prints the calls and
answers of the questions that hold these words (`failed` alone: of all that were not answered). `--newest` leaves the
older ones out. Files named after it are asked instead of those: each a module with a function `toolset()`, as those in
`bench/unseen`.
"""

import argparse
import asyncio
import importlib.util
import json
import logging
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import structlog

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from bench.unseen import (  # noqa: E402 - found by the line above
    adverts,
    airport,
    cinemas,
    cityhall,
    clinic,
    cluster,
    computing,
    datacentre,
    delivery,
    estate,
    games,
    helpdesk,
    lifts,
    logistics,
    messaging,
    microservices,
    network,
    oncall,
    paintworks,
    parcels,
    payments,
    real,
    releases,
    scanning,
    streaming,
    theatre,
    turbines,
    watching,
    waterworks,
    webshop,
    workflows,
)
from bench.unseen.asking import Toolset, Verdict, judge  # noqa: E402
from opspilot.core.interrupts import Principal  # noqa: E402
from opspilot.core.messages import AssistantMessage, Message, ModelRequest, ToolMessage, UserMessage  # noqa: E402
from opspilot.core.ports import CallContext, Journal  # noqa: E402
from opspilot.models.demo import DemoModel  # noqa: E402
from opspilot.standing_tools import READ_MORE  # noqa: E402
from opspilot.tools.builtin import read_more  # noqa: E402
from opspilot.tools.registry import Registry  # noqa: E402
from opspilot.tools.runtime import ToolRuntime  # noqa: E402
from opspilot.tools.spec import ToolPlace  # noqa: E402

MOST_STEPS = 10
LEAST_ANSWERED = 0.8
_ASKER = Principal("bench")

WRITTEN_BY_OTHERS = ((microservices, datacentre, theatre), (cityhall, webshop, paintworks))
"""Each three by somebody who had not read the planner; it had not met them, either."""

FIRST_CONTACT = (48, 45)
"""Answered of the sixty questions of each of these three when the planner met them, as the planner was then."""

OLDER = (
    streaming, parcels, computing, cluster, oncall, delivery, estate, turbines, messaging, clinic, network, airport,
    releases, watching, helpdesk, scanning, workflows, payments, games, logistics, cinemas, adverts, waterworks, lifts,
)  # fmt: skip
"""Toolsets that the planner's parts were tried on while they were made."""


class Kept:
    """What a journal keeps of results that were too long to show: what `read_more`, which every run has, reads on."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def keep(self, ref: str, text: str) -> None:
        """Keep a whole result."""
        self._texts[ref] = text

    def overflow(self, _session: str, ref: str, offset: int, limit: int) -> tuple[str, int] | None:
        """As `Journal.overflow`."""
        text = self._texts.get(ref)
        return None if text is None else (text[offset : offset + limit], len(text))


@dataclass(frozen=True)
class Talk:
    """One question from asking to answer. `calls` as they read, `results` as the observations' text."""

    answer: str
    calls: tuple[str, ...]
    results: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """A question in one language on one toolset, and what came of it."""

    toolset: str
    language: str
    question: str
    talk: Talk
    verdict: Verdict


async def talk(question: str, runtime: ToolRuntime, kept: Kept) -> Talk:
    """Let the planner think and call tools until it answers."""
    model, specs = DemoModel(), runtime.specs(_ASKER)
    messages: list[Message] = [UserMessage(question)]
    calls: list[str] = []
    results: list[str] = []
    for step in range(1, MOST_STEPS + 1):
        reply = await model.reply(ModelRequest(tuple(messages), specs), lambda _: None)
        messages.append(AssistantMessage(reply.text, reply.calls))
        if not reply.calls:
            return Talk(reply.text, tuple(calls), tuple(results))
        for index, call in enumerate(reply.calls, 1):
            context = CallContext("bench", "bench", f"{step}.{index}", 1, f"{step}.{index}", _ASKER)
            returned = await runtime.run(call.name, json.loads(call.arguments), context)
            if returned.observation is None:
                raise SystemExit(f"{call.name} asked a person in: {question}")
            kept.keep(returned.overflow_ref, returned.overflow)
            text = json.dumps(returned.observation.as_json(), ensure_ascii=False)
            messages.append(ToolMessage(call.id, call.name, text, returned.observation.ok))
            calls.append(f"{call.name} {call.arguments}")
            results.append(text)
    return Talk("", tuple(calls), tuple(results))


async def ask_all(toolsets: Sequence[Toolset]) -> list[Outcome]:
    """Every question of every toolset, in both languages."""
    outcomes = []
    for toolset in toolsets:
        kept = Kept()
        place = ToolPlace(ROOT, ROOT, cast("Journal", kept))
        reader = read_more.build(READ_MORE, read_more.Config(), place)
        runtime = ToolRuntime(Registry([*(tool for tool in toolset.tools if tool.name != READ_MORE), reader]))
        declared = [f"{tool.name} {tool.description}" for tool in toolset.tools]
        for asked in toolset.questions:
            for language, question in (("English", asked.english), ("Chinese", asked.chinese)):
                done = await talk(question, runtime, kept)
                verdict = judge(done.answer, asked, toolset.places, [question, *declared, *done.calls], done.results)
                outcomes.append(Outcome(toolset.name, language, question, done, verdict))
    return outcomes


def table(outcomes: Sequence[Outcome]) -> str:
    """One row for each toolset and language."""
    rows = [f"{'toolset':<20} {'language':<9} {'asked':>6} {'answered':>9} {'invented':>9}"]
    for toolset, language in dict.fromkeys((outcome.toolset, outcome.language) for outcome in outcomes):
        chosen = [o for o in outcomes if (o.toolset, o.language) == (toolset, language)]
        answered, invented = sum(o.verdict.answered for o in chosen), sum(len(o.verdict.invented) for o in chosen)
        rows.append(f"{toolset:<20} {language:<9} {len(chosen):>6} {answered:>9} {invented:>9}")
    return "\n".join(rows)


def shown(outcomes: Sequence[Outcome], words: str) -> str:
    """Questions with what was called, answered and missed."""
    chosen = [
        o for o in outcomes if (words == "failed" and not o.verdict.answered) or words.lower() in o.question.lower()
    ]
    return "\n".join(
        f"==== {o.toolset}: {o.question}\n"
        + "\n".join(f"  -> {call}" for call in o.talk.calls)
        + f"\n{o.talk.answer}\n"
        f"missing: {'; '.join(o.verdict.missing)}\ninvented: {'; '.join(o.verdict.invented)}\n"
        for o in chosen
    )


def main() -> int:
    """Ask, judge and print."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--show", default=None, metavar="WORDS")
    arguments.add_argument("--newest", action="store_true")
    arguments.add_argument("files", nargs="*", type=Path, metavar="TOOLSET.py")
    given = arguments.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="opspilot-bench-") as state:
        asked = (
            {"given": [_loaded(file) for file in given.files]}
            if given.files
            else _ours(Path(state), older=not given.newest)
        )
        outcomes = {name: asyncio.run(ask_all(toolsets)) for name, toolsets in asked.items()}
    if given.show is not None:
        print(shown([outcome for some in outcomes.values() for outcome in some], given.show))
    good = [_summed(name, some) for name, some in outcomes.items()]
    if not given.files:
        each = ", ".join(f"{n} of {20 * len(three)}" for n, three in zip(FIRST_CONTACT, WRITTEN_BY_OTHERS, strict=True))
        print(f"at first contact with those written by others: {each}")
    print(f"in {time.monotonic() - began:.1f} s")
    return 0 if all(good) else 1


def _ours(state: Path, *, older: bool) -> dict[str, list[Toolset]]:
    first, second = ([module.toolset() for module in three] for three in WRITTEN_BY_OTHERS)
    if real.DATA.is_dir():
        first.insert(0, real.toolset(state))
    else:
        print("The real data is not here; its twenty questions are left out.")
    groups = {"real data and three by others": first, "three more by others": second}
    return groups | ({"older": [module.toolset() for module in OLDER]} if older else {})


def _loaded(file: Path) -> Toolset:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{file} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return cast("Toolset", module.toolset())


def _summed(name: str, outcomes: Sequence[Outcome]) -> bool:
    """Print a table and its sum; True when enough are answered and nothing is invented."""
    answered = sum(outcome.verdict.answered for outcome in outcomes)
    invented = sum(len(outcome.verdict.invented) for outcome in outcomes)
    least = round(LEAST_ANSWERED * len(outcomes))
    print(table(outcomes))
    print(f"{name}: answered {answered} of {len(outcomes)} (at least {least}), invented {invented} (must be 0)\n")
    return answered >= least and not invented


if __name__ == "__main__":
    sys.exit(main())
