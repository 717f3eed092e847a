"""Which rows of a table a question speaks of: by values that it says, by yes and no, by bounds.

Owns the matching of words with values. Counts nothing and writes nothing.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from opspilot.models.demo.inquiry.aims import Aim, Sought
from opspilot.models.demo.inquiry.rows import Grid, Row, is_moment, last
from opspilot.models.demo.inquiry.slots import says
from opspilot.models.demo.inquiry.terms import Term, word_stems
from opspilot.models.demo.words import parts, stem


@dataclass(frozen=True)
class Choice:
    """The chosen rows. `met`: terms that values account for; `by`: the fields that they stood in."""

    rows: tuple[Row, ...]
    met: frozenset[Term]
    by: tuple[str, ...]


_LONGEST_VALUE = 400
_FEW = 8


def choose(grid: Grid, sought: Sought, without: Iterable[Term] = ()) -> Choice:
    """The rows that fit what the question says. Terms `without` are spoken for already."""
    values = _values(grid)
    skipped = set(without)
    rows: tuple[Row, ...] = grid.rows
    met: set[Term] = set()
    by: list[str] = []
    named_by: set[str] = set()
    terms = sorted(
        (term for term in sought.terms if term not in skipped and not term.joined),
        key=lambda term: (not term.name, -len(term.text)),
    )
    for term in terms:
        if term in met:
            continue
        hits, terms_met = _hits(term, values, sought)
        if not hits and (held := _present(term, grid, sought)):
            kept = tuple(row for row in rows if any(row.fields.get(name) for name in held) != term.denied)
            rows, met = (kept, met | {term}) if kept else (rows, met)
            continue
        if not hits:
            continue
        denied = term.denied and not term.name
        chosen = tuple(row for row in rows if any(row.fields.get(f) in held for f, held in hits.items()) != denied)
        if not chosen and term.name and set(hits) & named_by:
            chosen = tuple(
                row for row in grid.rows if row in rows or any(row.fields.get(f) in h for f, h in hits.items())
            )
        if not chosen and (
            term.name or Aim.COUNT not in sought.aims or not any(row.fields.get(f) for row in rows for f in hits)
        ):
            continue
        rows, met = chosen, met | terms_met
        named_by |= set(hits) if term.name else set()
        by += hits
    for above, number in sought.bounds:
        field = _bounded(grid, sought)
        if field:
            rows = tuple(
                r
                for r in rows
                if field in r.numbers and (r.numbers[field] > number) == above and r.numbers[field] != number
            )
            by.append(field)
    if sought.span and sought.span.since and (timed := _timed(grid, sought)):
        rows = tuple(row for row in rows if _within(row.fields.get(timed, ""), sought.span.since, sought.span.until))
    return Choice(rows, frozenset(met), tuple(dict.fromkeys(by)))


def _values(grid: Grid) -> dict[str, dict[str, None]]:
    """The distinct short values by field, without times."""
    found: dict[str, dict[str, None]] = {}
    for row in grid.rows:
        for name, value in row.fields.items():
            if len(value) <= _LONGEST_VALUE and not is_moment(value):
                found.setdefault(name, {})[value] = None
    return found


def _hits(
    term: Term, values: Mapping[str, Mapping[str, None]], sought: Sought
) -> tuple[dict[str, set[str]], set[Term]]:
    """The fields whose values say the term, with those values, and all terms that they say. The surest way first."""
    for way in (_same, _aliased, _spoken, _flagged, _part, _near, _told):
        hits: dict[str, set[str]] = {}
        terms: set[Term] = {term}
        for name, held in values.items():
            for value in way(term, name, held, sought):
                hits.setdefault(name, set()).add(value)
                if way is _spoken:
                    terms |= _terms_in(value, sought)
        if hits:
            return hits, terms
    return {}, set()


def _same(term: Term, name: str, held: Iterable[str], sought: Sought) -> list[str]:
    """Its very text; a phrase of the question that holds the term counts, too, the longest."""
    asked = sought.text.lower()
    exact = [value for value in held if value.lower() == term.text.lower()]
    if last(name) in {"count", "total"} or (term.text.isdigit() and not exact):
        return []
    phrases = [
        v for v in held if len(v) > len(term.text) and term.text.lower() in v.lower() and _stands_in(v.lower(), asked)
    ]
    return phrases or exact


def _aliased(term: Term, _name: str, held: Iterable[str], sought: Sought) -> list[str]:
    """What another result calls the same thing."""
    also = {value for named, values in sought.aliases if named == term for value in values}
    return [value for value in held if value in also]


def _told(term: Term, _name: str, held: Iterable[str], _: Sought) -> list[str]:
    """A text that speaks of it."""
    listed = list(held)
    if term.text.isdigit():
        return []
    found = [value for value in listed if value.count(" ") > 1 and term.forms & word_stems(value)]
    return found if len(found) < len(listed) else []


def _stands_in(value: str, asked: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", asked, re.ASCII) is not None


def _spoken(term: Term, _name: str, held: Iterable[str], sought: Sought) -> list[str]:
    """Its meaning in a word or a few: `OUT_OF_MEMORY`, `stopped`, `catching up`."""
    found = []
    for value in held:
        words = [stem(word) for word in parts(value)]
        if (
            0 < len(words) <= 4
            and set(words) & term.forms
            and (set(words) <= term.forms if term.denied else says(value, sought))
            and value.lower() not in {"true", "false"}
        ):
            found.append(value)
    return found


def _terms_in(value: str, sought: Sought) -> set[Term]:
    words = {stem(word) for word in parts(value)}
    return {term for term in sought.terms if term.forms & words}


def _present(term: Term, grid: Grid, sought: Sought) -> list[str]:
    """Fields that only some rows have and that are called after a state: `merged_at` of what is merged."""
    asks_which = bool(sought.dimension) or Aim.COUNT in sought.aims or sought.many > 1
    if (
        term.name
        or grid.single
        or not asks_which
        or not (term.text.lower().endswith(("ed", "en")) or not term.text.isascii())
    ):
        return []
    named = [name for name in grid.names if term.forms & word_stems(name)]
    return [name for name in named if 0 < sum(bool(row.fields.get(name)) for row in grid.rows) < len(grid.rows)]


_OFF = frozenset(stem(word) for word in ("off", "disabled", "inactive", "deactivated"))
_ON = frozenset(stem(word) for word in ("on", "enabled", "active", "activated"))
_YES, _NO = {"true", "yes", "1", "on"}, {"false", "no", "0", "off"}


def _flagged(term: Term, name: str, held: Iterable[str], _: Sought) -> list[str]:
    """A field of yes and no that is called like the term."""
    lowered = {value.lower(): value for value in held}
    called = word_stems(name.rpartition(".")[2])
    if not set(lowered) <= {"true", "false", "yes", "no"}:
        return []
    if called & _ON and term.forms & _OFF:
        return [value for low, value in lowered.items() if low in _NO]
    if not term.forms & (called | (_ON if called & _ON else frozenset())):
        return []
    return [value for low, value in lowered.items() if low in _YES]


def _part(term: Term, _name: str, held: Iterable[str], _: Sought) -> list[str]:
    """A name that is a part of the value, such as an application's in its container's."""
    if not term.name or len(term.text) < 3:
        return []
    lowered = term.text.lower()
    return [v for v in held if " " not in v and re.search(rf"(?<![a-z0-9]){re.escape(lowered)}(?![a-z0-9])", v.lower())]


def _near(term: Term, name: str, held: Iterable[str], sought: Sought) -> list[str]:
    """A word of the same kin, where a field has few values: "offline" for `down`."""
    listed = list(held)
    if term.name or len(listed) > _FEW or last(name) in {"name", "id"} or term in sought.dimension:
        return []
    return (
        [v for v in listed if len(parts(v)) == 1 and stem(v) in term.kin and not v.isdigit()] if len(listed) > 1 else []
    )


def _bounded(grid: Grid, sought: Sought) -> str:
    scored = [
        (sum(term.meets(word_stems(name)) for term in sought.terms), -at, name)
        for at, name in enumerate(dict.fromkeys(n for row in grid.rows for n in row.numbers))
    ]
    best = max(scored, default=(0.0, 0, ""))
    return best[2] if best[0] > 0 else ""


def _timed(grid: Grid, sought: Sought) -> str:
    names = [n for n in grid.names if any(is_moment(row.fields.get(n, "")) for row in grid.rows)]
    return max(names, key=lambda n: sum(term.meets(word_stems(n)) for term in sought.terms), default="")


def _within(moment: str, since: str, until: str) -> bool:
    plain = moment.replace(" ", "T")
    return (
        bool(moment)
        and plain >= since.replace(" ", "T")[: len(plain)]
        and (not until or plain <= until.replace(" ", "T")[: len(plain)])
    )
