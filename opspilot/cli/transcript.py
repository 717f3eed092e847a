"""A session as Markdown that can be pasted into a ticket: who asked what, what was done, what came of it.

Pure: entries in, text out. What was said stands in quotations and code, so that it can't pass for a heading of ours;
results are shortened, as `show --json` has all of them. The caller redacts.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from opspilot.cli.questions import HAPPENINGS, call_of, happening, terms, what_it_shows
from opspilot.cli.senders import other_sender
from opspilot.core.entries import Entry, Kind
from opspilot.core.limits import Limits
from opspilot.core.messages import Json
from opspilot.journal.queries import SessionRow
from opspilot.texts.endings import asked, ending, failure, figures, is_about_limit, limits_of, told_of_budgets
from opspilot.texts.folding import printable, seconds
from opspilot.texts.language import text

BLOCK_LINES = 24
LINE_CHARACTERS = 300
TITLE_CHARACTERS = 100


def transcript(session: SessionRow, entries: Sequence[Entry]) -> str:
    """The whole document, ending in a line feed."""
    title = _inline(session.title, TITLE_CHARACTERS) or session.id
    facts = {
        "transcript.session": f"`{session.id}`",
        "transcript.owner": _inline(session.owner),
        "transcript.begun": _moment(session.created_at),
    }
    head = [
        f"# {text('transcript.title', title=title)}",
        "\n".join("- " + text("transcript.fact", name=text(key), fact=fact) for key, fact in facts.items()),
    ]
    return "\n\n".join([*head, *_Blocks(entries).all()]) + "\n"


class _Blocks:
    """The document block by block. Each call is told where it was proposed, with all that happened to it later."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._of_call: dict[tuple[str, str], list[Entry]] = {}
        for entry in entries:
            if call := _call_of(entry):
                self._of_call.setdefault((entry.run, call), []).append(entry)
        self._limits = Limits()
        self._started: Entry | None = None
        self._step = ("", 0)
        self._said = ""

    def all(self) -> Iterator[str]:
        for entry in self._entries:
            match entry.kind:
                case Kind.RUN_STARTED:
                    self._limits = limits_of(entry.data)
                    self._started = entry
                    model = _inline(str(entry.data.get("model", "")))
                    yield text("transcript.run", run=entry.run, model=model, moment=_moment(entry.at))
                case Kind.USER_MESSAGE:
                    who = _inline(other_sender(entry, self._started))
                    when = f"{who}, {_moment(entry.at)}" if who else _moment(entry.at)
                    yield f"## {text('transcript.question', moment=when)}"
                    yield _quoted(str(entry.data.get("text", "")))
                case Kind.ASSISTANT_MESSAGE:
                    yield from self._assistant(entry)
                case Kind.TOOL_CALL:
                    yield from self._head(entry)
                    yield from _call(entry, self._of_call.get((entry.run, _call_of(entry)), []))
                case Kind.INTERRUPT_OPENED if is_about_limit(entry.data):
                    yield _asked(entry)
                case kind if kind in HAPPENINGS and not _is_of_call(entry):
                    yield _happened(entry)
                case Kind.BUDGET_WARNED:
                    yield f"- {_moment(entry.at)}: {_inline(told_of_budgets(str(entry.data.get('message', ''))))}"
                case Kind.RUN_STOPPED:
                    yield from self._stopped(entry)
                case _:
                    pass

    def _head(self, entry: Entry) -> Iterator[str]:
        if (entry.run, entry.step) != self._step:
            self._step = (entry.run, entry.step or 0)
            yield f"### {text('step', number=entry.step)}"

    def _assistant(self, entry: Entry) -> Iterator[str]:
        self._said = str(entry.data.get("text") or "").strip()
        if entry.data.get("tool_calls"):
            yield from self._head(entry)
            if self._said:
                yield _quoted(self._said)
        elif self._said:
            yield from _answer(self._said)

    def _stopped(self, entry: Entry) -> Iterator[str]:
        answer = str(entry.data.get("answer") or "").strip()
        if answer and answer != self._said:
            yield from _answer(answer)
        yield f"**{_inline(ending(entry.data, self._limits))}** {' · '.join([*figures(entry.data), _moment(entry.at)])}"


def _call_of(entry: Entry) -> str:
    return entry.call or call_of(str(entry.data.get("interrupt") or ""))


def _is_of_call(entry: Entry) -> bool:
    """Is it told beside a call? A question about a limit, or a budget that nobody could be told of, is not."""
    return "." in _call_of(entry)


def _answer(answer: str) -> Iterator[str]:
    yield f"## {text('transcript.answer')}"
    yield _quoted(answer)


def _call(proposed: Entry, entries: Sequence[Entry]) -> Iterator[str]:
    data = proposed.data
    result = next((entry.data for entry in entries if entry.kind is Kind.TOOL_RESULT), None)
    name, effect = _code(str(data.get("name", ""))), _inline(str(data.get("effect", "")))
    outcome = text("transcript.open") if result is None else _outcome(result)
    yield text("transcript.call", call=proposed.call, name=name, effect=effect, outcome=outcome)
    if data.get("arguments") not in (None, {}, ""):
        yield _fenced(_pretty(data["arguments"]))
    for entry in entries:
        if entry.kind is Kind.INTERRUPT_OPENED:
            yield _asked(entry)
            lines = what_it_shows(entry.data, entry.session)
            yield from [_block([printable(line) for line in lines])] if lines else []
        elif entry.kind in HAPPENINGS:
            yield _happened(entry)
    if result is not None and result.get("ok") and result.get("data") not in (None, ""):
        yield _fenced(_pretty(result["data"]))


def _asked(opened: Entry) -> str:
    said = text("transcript.asked", moment=_moment(opened.at), reason=_inline(asked(opened.data)))
    return f"- {said}" + (f" ({_inline(on)})" if (on := terms(opened.data)) else "")


def _happened(entry: Entry) -> str:
    return f"- {_moment(entry.at)}: {_inline(happening(entry))}"


def _outcome(result: Mapping[str, Json]) -> str:
    duration = result.get("duration_ms")
    took = text("transcript.took", duration=seconds(duration)) if duration else ""
    if result.get("ok"):
        return text("transcript.ok") + took
    return text("transcript.fact", name=_code(str(result.get("errorCode"))) + took, fact=_inline(failure(result)))


def _moment(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _pretty(value: Json) -> str:
    """JSON with two spaces, strings of several lines as they are read."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _inline(value: str, characters: int = 1000) -> str:
    """One line in which nothing is markup."""
    line = " ".join(printable(value).split())
    line = line if len(line) <= characters else f"{line[: characters - 1]}…"
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", line)


def _code(value: str) -> str:
    return f"`{' '.join(printable(value).split()).replace('`', chr(39))}`"


def _quoted(value: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in printable(value).strip().split("\n"))


def _fenced(value: str) -> str:
    """A code block that its content can't end, shortened."""
    lines = printable(value).split("\n")
    kept = [line if len(line) <= LINE_CHARACTERS else f"{line[: LINE_CHARACTERS - 1]}…" for line in lines[:BLOCK_LINES]]
    if len(lines) > BLOCK_LINES:
        kept.append(text("transcript.more", count=len(lines) - BLOCK_LINES))
    return _block(kept)


def _block(lines: Sequence[str]) -> str:
    body = "\n".join(lines)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", body)), default=0))
    return f"{fence}\n{body}\n{fence}"
