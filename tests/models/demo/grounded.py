"""Whether an answer is honest, judged without the planner's own check: by the text of the results alone."""

import json
import re
from collections.abc import Iterable

_BLANKS = re.compile(r"[\s\x85\u2028\u2029]+")


def _scalars(value: object) -> Iterable[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _scalars(item)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    elif isinstance(value, bool):
        yield str(value).lower()
    elif value is not None:
        yield str(value)


def _text(result: str) -> str:
    """The scalars of an observation, one after another; an excerpt of a trimmed result is JSON inside a string."""
    return " ".join(
        _BLANKS.sub(" ", scalar.replace('\\"', '"')) for scalar in _scalars(json.loads(result, parse_float=str))
    )


_COMPUTED = re.compile(r"counted in the rows of|added up from the rows of|by the rows of|, from the rows of|返回的行")


def _without_computed(line: str) -> str:
    """A line that says that it counts or adds up rows may hold one number that no result holds: the one it computes."""
    marked = _COMPUTED.search(line)
    before = line[: marked.start()] if marked else ""
    numbers = re.findall(r"\d+(?:\.\d+)?", before)
    return line.replace(numbers[-1] if ": " in before or "：" in before else numbers[0], "", 1) if numbers else line


def invented(answer: str, results: Iterable[str], known: Iterable[str]) -> list[str]:
    """What an answer quotes and no result holds: numbers, sentences, places. `known`: question, tools, calls."""
    texts = [_text(result) for result in results]
    everything = " ".join((*texts, *known))
    answer = "\n".join(_without_computed(line) for line in answer.split("\n"))
    faults = [number for number in re.findall(r"\d+", answer) if number not in re.findall(r"\d+", everything)]
    flat = _BLANKS.sub(" ", everything)
    quotes = [*re.findall(r"“([^”\n]+)”", answer), *re.findall(r"(?m)^> (.*)$", answer)]
    faults += [quote for quote in quotes if _BLANKS.sub(" ", quote.removesuffix("…")).strip() not in flat]
    places = re.findall(r"`([^`\n]+):(\d+)`", answer)
    faults += [f"{a}:{b}" for a, b in places if not any(a in text and b in text for text in texts)]
    return faults
