"""How many questions the offline planner answers on toolsets that it has never seen, and that it invents nothing.

    python bench/planner.py [--show WORDS]

Asks ten questions in English and the same ten in Chinese on three made toolsets and on real logs and runbooks, through
the real tool runtime. What is true is computed by plain code from the data. A question is answered when its direct
answer says the fact and a place is cited that really holds it. Exits with 1 when fewer than 64 of 80 are answered or
anything is invented. `--show` prints the calls and answers of the questions that hold these words (`failed` alone: of
all that were not answered).
"""

import argparse
import asyncio
import json
import logging
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from bench.unseen import computing, parcels, real, streaming  # noqa: E402 - found by the line above
from bench.unseen.asking import Toolset, Verdict, judge  # noqa: E402
from opspilot.core.interrupts import Principal  # noqa: E402
from opspilot.core.messages import AssistantMessage, Message, ModelRequest, ToolMessage, UserMessage  # noqa: E402
from opspilot.core.ports import CallContext  # noqa: E402
from opspilot.models.demo import DemoModel  # noqa: E402
from opspilot.tools.registry import Registry  # noqa: E402
from opspilot.tools.runtime import ToolRuntime  # noqa: E402

MOST_STEPS = 10
LEAST_ANSWERED = 0.8
_ASKER = Principal("bench")


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


async def talk(question: str, runtime: ToolRuntime) -> Talk:
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
            text = json.dumps(returned.observation.as_json(), ensure_ascii=False)
            messages.append(ToolMessage(call.id, call.name, text, returned.observation.ok))
            calls.append(f"{call.name} {call.arguments}")
            results.append(text)
    return Talk("", tuple(calls), tuple(results))


async def ask_all(toolsets: Sequence[Toolset]) -> list[Outcome]:
    """Every question of every toolset, in both languages."""
    outcomes = []
    for toolset in toolsets:
        runtime = ToolRuntime(Registry(toolset.tools))
        declared = [f"{tool.name} {tool.description}" for tool in toolset.tools]
        for asked in toolset.questions:
            for language, question in (("English", asked.english), ("Chinese", asked.chinese)):
                done = await talk(question, runtime)
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
    words = arguments.parse_args().show
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    began = time.monotonic()
    toolsets = [streaming.toolset(), parcels.toolset(), computing.toolset()]
    with tempfile.TemporaryDirectory(prefix="opspilot-bench-") as state:
        if real.DATA.is_dir():
            toolsets.append(real.toolset(Path(state)))
        else:
            print("The real data is not here; its twenty questions are left out.")
        outcomes = asyncio.run(ask_all(toolsets))
    if words is not None:
        print(shown(outcomes, words))
    answered = sum(outcome.verdict.answered for outcome in outcomes)
    invented = sum(len(outcome.verdict.invented) for outcome in outcomes)
    least = round(LEAST_ANSWERED * len(outcomes))
    print(table(outcomes))
    print(f"answered {answered} of {len(outcomes)} (at least {least}), invented {invented} (must be 0)")
    print(f"in {time.monotonic() - began:.1f} s")
    return 0 if answered >= least and not invented else 1


if __name__ == "__main__":
    sys.exit(main())
