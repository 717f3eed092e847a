"""Which values of a table a question speaks of: named outright, meant by its words, denied, or bounded.

Each piece of evidence would choose rows. Which of them hold together is decided in `reading`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from opspilot.models.demo.inquiry.asked import Question
from opspilot.models.demo.inquiry.meanings import KIN
from opspilot.models.demo.inquiry.rows import last, quantity
from opspilot.models.demo.inquiry.tables import Table, is_named
from opspilot.models.demo.inquiry.words import Sort, Word, stems_of
from opspilot.models.demo.words import CJK, parts, singular, stem

_HOP = 0.3
_FEW = 14
_LONGEST_NAME = 80
_YES, _NO = {"true", "yes"}, {"false", "no"}


@dataclass(frozen=True)
class Hit:
    """Rows whose `column` holds one of `values` (or with `denied`, none of them), since the question says `words`.

    `exact`: the value stands in the question. `score`: how sure, about 1 for a guess and 3 for a name.
    """

    column: str
    values: frozenset[str]
    words: frozenset[Word]
    score: float
    denied: bool = False
    exact: bool = False

    def keeps(self, fields: Mapping[str, str]) -> bool:
        """Does a row with these fields fit?"""
        value = fields.get(self.column, "")
        return (value in self.values or any(v in self.values for v in value.split(", "))) != self.denied


def hits(table: Table, question: Question) -> list[Hit]:
    """All evidence in a table, in no order."""
    ways = (_exact, _meant, _flags, _empty, _none)
    found = [hit for way in ways for hit in way(table, question)]
    found = [*found, *_partly(table, question, found)]
    return [hit for hit in found if not any(word in question.included for word in hit.words)]


def distance(column: str) -> float:
    """What a column costs for each table that had to be joined to reach it."""
    return _HOP * column.count(">")


def _exact(table: Table, question: Question) -> Iterator[Hit]:
    """Values that stand in the question word for word."""
    asked = question.text.lower()
    for column, values in table.values.items():
        if column in table.times:
            continue
        for value in _singles(values) if ">" not in column else values:
            lowered = value.lower()
            if lowered not in asked and ("_" in lowered or "-" in lowered):
                lowered = re.sub(r"[_-]+", " ", lowered)
            if len(value) < 2 and not (value.isalnum() and value.isupper()):
                continue
            if len(value) > _LONGEST_NAME or lowered not in asked or lowered in _YES | _NO:
                continue
            for begin, end in _places(lowered, asked):
                words = frozenset(w for w in question.content if begin <= w.at and w.end <= end)
                if not words or _is_number(value, column, words, question, table):
                    continue
                if len(value) < 3 and question.text[begin:end] != value:
                    continue
                named = any(not w.plain for w in words) or len(words) > 1 or " " in value or bool(CJK.search(value))
                denied = min(words, key=lambda w: w.at).denied
                score = (3.0 if named else 2.2) - distance(column) + 0.3 * (len(words) - 1)
                score += 0.5 * _beside(column, min(words, key=lambda w: w.at), question, table)
                score += 0.25 * (column == table.naming) + 0.6 * (column in table.given)
                score += 0.9 * (
                    ", " in next(iter(_holding(value, values)), "") and _is_verb_of(column, question, table)
                )
                yield Hit(column, frozenset({value}), words, score, denied, exact=True)


def _holding(value: str, values: Mapping[str, None]) -> list[str]:
    """The lists that hold a value."""
    return [] if value in values else [each for each in values if value in each.split(", ")]


def _is_verb_of(column: str, question: Question, table: Table) -> bool:
    """Are rows asked for by what they do with the value: "which services depend on it"?"""
    rows = [*question.which, *question.counted]
    asks_rows = any(w.meets(table.nouns) >= 0.6 for w in rows)
    return asks_rows and any(w.forms & table.labels[column] for w in question.content if w not in rows)


def _singles(values: Mapping[str, None]) -> dict[str, None]:
    found = dict(values)
    for value in values:
        if ", " in value:
            found |= dict.fromkeys(value.split(", "))
    return found


def _places(value: str, asked: str) -> list[tuple[int, int]]:
    edge = r"(?<![A-Za-z0-9_-])" if value[:1].isascii() else ""
    after = r"(?![A-Za-z0-9_]|-[A-Za-z0-9])" if value[-1:].isascii() else ""
    plural = "s?" if value[-1:].isalpha() and value[-1:].isascii() else ""
    return [(m.start(), m.end()) for m in re.finditer(f"{edge}{re.escape(value)}{plural}{after}", asked)]


def _is_number(value: str, column: str, words: frozenset[Word], question: Question, table: Table) -> bool:
    """Is this a plain number that the question doesn't say of this column?"""
    if not re.fullmatch(r"[\d.,]+", value):
        return False
    word = next(iter(words))
    return not (_beside(column, word, question, table) and not is_bound(word, question))


def is_bound(word: Word, question: Question) -> bool:
    """Is this number one end of a range, such as "more than 5"?"""
    return word.text.isdigit() and any(number == float(word.text) for _, number in question.bounds)


def _beside(column: str, word: Word, question: Question, table: Table) -> bool:
    """Does the column's noun stand next to the word?"""
    label = table.labels[column]
    about = label if not is_named(column) else label | table.nouns
    at = question.words.index(word) if word in question.words else 0
    near = [w for w in question.words[max(0, at - 1) : at + 2] if w is not word]
    return any(w.forms & about for w in near)


def _meant(table: Table, question: Question) -> Iterator[Hit]:
    """Values whose words the question says in other forms; of those for one word in a column the fullest."""
    found = list(_all_meant(table, question))
    sizes: dict[tuple[str, frozenset[Word]], int] = {}
    for hit in found:
        key = (hit.column, hit.words)
        sizes[key] = max(sizes.get(key, 0), _size(hit))
    yield from (hit for hit in found if _size(hit) == sizes[hit.column, hit.words])


def _size(hit: Hit) -> int:
    return max(len(parts(value)) for value in hit.values)


def _all_meant(table: Table, question: Question) -> Iterator[Hit]:
    """Values whose words the question says in other forms: `in_repair`, `NotReady`, `prod` for "production"."""
    said = {form: word for word in question.content for form in word.forms}
    heard = {stem(word) for word in re.findall(r"[a-z]+", question.text.lower())}
    for column, values in table.values.items():
        if column in table.times or column in table.numeric:
            continue
        few = len(values) <= _FEW and len(values) < max(3, len(table.records))
        for value in values:
            if len(value) > _LONGEST_NAME or value.lower() in _YES | _NO:
                continue
            words = [w for w in parts(value) if w not in _SMALL]
            if not words or len(words) > 5:
                continue
            met = [said.get(stem(w)) or said.get(w) for w in words]
            if few and len(words) == 1 and met == [None]:
                met = [_alike(words[0], column, question, table)]
            loose = [w for m, w in zip(met, words, strict=True) if m is None]
            if any(stem(word) not in heard for word in loose):
                continue
            found = frozenset(word for word in met if word is not None)
            if not found or not (few or len(words) > 1 or any(not w.plain for w in found)):
                continue
            if all(w.forms & table.nouns for w in found):
                continue
            if len(words) == 1 and any(_is_other(w, value, column, question, table) for w in found):
                continue
            sure = sum(bool(w.forms & {stem(p) for p in words} | w.forms & set(words)) for w in found) / len(found)
            score = (1.3 + 0.7 * sure) - distance(column) + 0.25 * (len(found) - 1)
            negative = bool(set(words) & {"not", "no", "un", "non"})
            denied = any(w.denied for w in found) and not negative and len(found) == 1
            yield Hit(column, frozenset({value}), found, score, denied)


_SMALL = frozenset({"in", "of", "to", "at", "the", "on", "for", "a", "and", "back", "over"})


def _is_other(word: Word, value: str, column: str, question: Question, table: Table) -> bool:
    """Does the word tell when ("opened in May"), or name another column ("approvers"), rather than say this state?"""
    lowered = word.text.lower()
    if lowered == value.lower():
        return False
    tells_when = question.span is not None and lowered in {f"{value.lower()}ed", f"{value.lower()}d"}
    person = lowered.rstrip("s").endswith(("er", "or")) or word.text.endswith(("人", "者", "员"))
    named = any(word.forms & table.labels[n] for n in table.columns if n != column and n not in table.times)
    return tells_when or (person and named and not word.forms & table.labels[column])


_KINDS = stems_of("kind type species model product make brand category class variety family 种类 类型 型号 品种")


def _bound_words(question: Question) -> set[Word]:
    """What stands beside the number of a bound: "60 minutes late"."""
    found: set[Word] = set()
    for at, word in enumerate(question.words):
        if is_bound(word, question):
            found |= set(question.words[at + 1 : at + 3])
    return found


_STATES = stems_of(
    "status state phase condition result outcome type kind category class severity level priority urgency "
    "environment env "
    "health lifecycle tier plan mode stage role power 状态 类型 级别 优先级 结果 环境"
)


_STATE_WORDS = stems_of(
    "running active online up down offline stopped unavailable failed failing failure error broken unhealthy open "
    "closed "
    "pending queued waiting blocked stuck jammed late delayed finished completed shut returned borrowed lent "
    "merged outage"
)


def _alike(part: str, column: str, question: Question, table: Table) -> Word | None:
    """A word of the same kin, for states and kinds of things; or one that this is short for."""
    own, stated = stem(part), bool(table.labels[column] & _STATES)
    for word in question.content:
        if word in question.which or word in question.counted or word.meets(table.nouns) >= 0.6:
            continue
        if any(word.forms & label for label in table.labels.values()):
            continue
        if stated and own in _STATE_WORDS and word.plain and any(own in KIN.get(form, ()) for form in word.forms):
            return word
        long = word.text.lower()
        if len(part) >= 3 and part != long and word.plain and long.startswith(part) and len(long) - len(part) > 2:
            return word
    return None


def _flags(table: Table, question: Question) -> Iterator[Hit]:
    """Yes-or-no columns that are called like a word of the question."""
    for column, values in table.values.items():
        lowered = {value.lower() for value in values}
        if not lowered or not lowered <= _YES | _NO:
            continue
        label = stems_of(column.rpartition(">")[2].rpartition(".")[2])
        met = frozenset(w for w in question.content if w.forms & label)
        met = met or frozenset(w for w in question.content if w.plain and w.meets(label) >= 0.6)
        if not met:
            continue
        denied = any(_turned(w, label) for w in met)
        wanted = frozenset(v for v in values if v.lower() in (_NO if denied else _YES))
        yield Hit(column, wanted, met, 1.7 + 0.2 * len(met) - distance(column))


def _turned(word: Word, label: frozenset[str]) -> bool:
    """Does the word say the opposite of the column: "not ready", "unencrypted", "NotReady"?"""
    if word.doubted:
        return True
    lowered = word.text.lower()
    return any(
        lowered.startswith(way) and stem(lowered.removeprefix(way)) in label
        for way in ("not", "un", "non", "in", "not-")
    )


def _empty(table: Table, question: Question) -> Iterator[Hit]:
    """Columns that some rows lack, where the question speaks of lacking it, or of what has happened."""
    for column in table.columns:
        held = sum(bool(record.fields.get(column)) for record in table.records)
        if ">" in column or not 0 < held < len(table.records):
            continue
        label = stems_of(column.rpartition(".")[2])
        for word in question.content:
            happened = column in table.times and (word.text.lower().endswith(("ed", "en")) or not word.text.isascii())
            lacking = _lacking(word, label)
            if lacking or (happened and word.forms & label and word.plain and not question.wants):
                yield Hit(column, frozenset({""}), frozenset({word}), 1.5, denied=not lacking)


def _none(table: Table, question: Question) -> Iterator[Hit]:
    """Counts that are zero, where the question speaks of what has never happened."""
    for column in table.numeric:
        label = stems_of(column.rpartition(">")[2])
        zeros = frozenset(v for v in table.values[column] if quantity(v) == 0)
        met = frozenset(w for w in question.content if w.doubted and w.plain and w.forms & label)
        if zeros and met and ">" not in column:
            yield Hit(column, zeros, met, 1.6)


def _lacking(word: Word, label: frozenset[str]) -> bool:
    lowered = word.text.lower()
    if word.doubted and word.forms & label:
        return True
    return lowered.startswith("un") and stem(lowered.removeprefix("un")) in label and len(lowered) > 5


def _partly(table: Table, question: Question, found: list[Hit]) -> Iterator[Hit]:
    """What a value has as one of its parts: a name, a plain word, or the first numbers of a version."""
    met = {word for hit in found if hit.score > 1.9 for word in hit.words}
    yield from _names_within(table, question, met)
    yield from _words_within(table, question, met)
    yield from _versions(table, question)


def _names_within(table: Table, question: Question, met: set[Word]) -> Iterator[Hit]:
    """Names that a value has as one of its parts, where no value is that name."""
    for word in question.names:
        if word in met or len(word.text) < 3:
            continue
        lowered = word.text.lower()
        for column, values in table.values.items():
            if column in table.times or column in table.numeric:
                continue
            fitting = frozenset(
                v
                for v in values
                if len(v) <= _LONGEST_NAME and re.search(rf"(?<![a-z0-9]){re.escape(lowered)}(?![a-z0-9])", v.lower())
            )
            version = re.fullmatch(r"[\d.]+", lowered) is not None
            if fitting and len(fitting) < max(2, len(values)) and not version:
                yield Hit(
                    column, fitting, frozenset({word}), 1.6 - distance(column) + 0.2 * is_named(column), exact=False
                )


def _words_within(table: Table, question: Question, met: set[Word]) -> Iterator[Hit]:
    """Plain words that few names or kinds have in them."""
    for word in question.content:
        if not word.plain or len(word.text) < 4 or not word.text.isascii() or word in met or _is_spoken(word, table):
            continue
        for column, values in table.values.items():
            told = word.text.lower()
            own = frozenset(
                v for v in values if len(parts(v)) in range(2, 5) and {told, singular(told)} & set(parts(v))
            )
            kinds = column == table.naming or is_named(column) or bool(table.labels[column] & _KINDS)
            if own and len(own) <= max(1, len(values) // 2) and kinds and word not in _bound_words(question):
                yield Hit(column, own, frozenset({word}), 1.3 - distance(column))


def _versions(table: Table, question: Question) -> Iterator[Hit]:
    """Versions that begin with a number of the question."""
    for word in question.content:
        if word.sort is not Sort.NUMBER or is_bound(word, question):
            continue
        for column, values in table.values.items():
            versions = frozenset(v for v in values if re.fullmatch(rf"v?{re.escape(word.text)}(?:\.\d+)+", v))
            if (
                versions
                and column in table.numeric | set(table.columns)
                and last(column) in {"version", "release", "版本"}
            ):
                yield Hit(column, versions, frozenset({word}), 2.0 - distance(column))


def _is_spoken(word: Word, table: Table) -> bool:
    """Does the table itself speak of such things in general?"""
    return word.meets(table.nouns) >= 0.6 or any(word.forms & label for label in table.labels.values())
