"""Writing what was understood: the direct answer with where it stands, and the rows and passages below it.

Owns the order of what is told. Computes nothing, and writes no name, number or text that is not in a result.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from opspilot.models.demo.grounding import Sheet, one_line, short
from opspilot.models.demo.inquiry.aims import Aim, Want
from opspilot.models.demo.inquiry.columns import bare
from opspilot.models.demo.inquiry.moments import moment_of
from opspilot.models.demo.inquiry.outcomes import Outcome
from opspilot.models.demo.inquiry.passages import Passage, cited, tells_of_fault, text_of
from opspilot.models.demo.inquiry.reading import Reading
from opspilot.models.demo.inquiry.rows import IDS, last, quantity
from opspilot.models.demo.inquiry.tables import Record, Table
from opspilot.models.demo.inquiry.understanding import Understanding
from opspilot.models.demo.inquiry.words import Sort

_VALUE = 240
_BESIDE = 6
_SHORT = 70
_ROWS = 5
_NAMED_ROWS = 25
_PASSAGES = 3
_STEPS = 12
_SURE_SCORE = 0.5


def lead(state: Understanding, sheet: Sheet) -> bool:
    """Write the direct answer; False when nothing says anything."""
    best, question = state.best, state.question
    if absent := _absent(state):
        _say_absent(absent, state, sheet)
        return True
    if best is not None and (bare_table := _without(state)) is not None:
        names = ", ".join(f"`{w.text}`" for w in question.names if any(w in hit.words for hit in best.by))
        sheet.write("no_row", own={"tool": f"`{bare_table.tool.name}`", "names": names})
        _fields(replace(best.outcome, columns=()), best, state, sheet) if best.outcome else None
        return True
    spoken = best is not None and best.outcome is not None and best.score > _SURE_SCORE and not _is_guess(best, state)
    if logged := _logged(state):
        if best is not None and spoken and best.named and len(best.records) <= _ROWS:
            _tell(best, state, sheet)
        _quote(logged, sheet, state)
        return bool(sheet.text)
    if question.advice and state.passages:
        computed = question.aims[0] is not Aim.FIELD and best is not None and best.sure
        if best is not None and spoken and (computed or (best.named and len(best.records) <= _ROWS)):
            _tell(best, state, sheet)
        _quote(state.passages, sheet, state)
        return bool(sheet.text)
    if best is not None and spoken and (not state.passages or best.sure):
        _tell(best, state, sheet)
        return bool(sheet.text)
    if state.passages:
        _quote(state.passages, sheet, state)
        return bool(sheet.text)
    if best is not None and best.named and 0 < len(best.records) <= _ROWS:
        sheet.write("closest")
        for record in best.records:
            _row(record, (), best.table, sheet)
        return bool(sheet.text)
    return False


def _say_absent(name: str, state: Understanding, sheet: Sheet) -> None:
    sheet.write("absent", own={"name": one_line(name), "tools": _asked_tools(state)})
    refusal = next((call for call in state.calls if not call.ok and name.lower() in call.message.lower()), None)
    if refusal is not None:
        sheet.write("tool_says", own={"tool": refusal.tool}, message=refusal.message)


def _without(state: Understanding) -> Table | None:
    """The table that what is asked would stand in, if it has no row for the thing that is asked about."""
    best = state.best
    if best is None or best.outcome is None or best.outcome.aim is not Aim.FIELD or best.outcome.columns or not best.by:
        return None
    if state.question.advice:
        return None
    names = [w for w in state.question.names if any(w in hit.words and hit.exact for hit in best.by)]
    if not names or not best.missed:
        return None
    scored = [
        (sum(w.meets(t.nouns | t.described) >= 1.0 for w in best.missed if w.plain), -at, t)
        for at, t in enumerate(state.tables)
        if not t.prose and t.whole and t.tool is not best.table.tool and len(t.records) > 1
    ]
    fit, _, table = max(scored, key=lambda entry: entry[:2], default=(0, 0, None))
    if table is None or not fit:
        return None
    held = {v.lower() for n, values in table.values.items() if ">" not in n for v in values}
    like = {v.lower() for hit in best.by if hit.exact for v in best.table.values.get(hit.column, {})}
    given = any(hit.exact and hit.column in best.table.given for hit in best.by)
    alike = given or bool(held & like)
    return None if any(w.text.lower() in v for w in names for v in held) or not alike else table


def _is_guess(best: Reading, state: Understanding) -> bool:
    """Is it the end of an order that the question doesn't speak of, by rows that it hardly speaks of, either?"""
    outcome = best.outcome
    unnamed = outcome is not None and outcome.aim is Aim.EXTREME and outcome.fit < 1.0
    return unnamed and 2 * len(best.missed) >= len(state.question.content)


def _logged(state: Understanding) -> list[Passage]:
    """Lines of a log of the thing in question that tell what went wrong, when that is asked."""
    question = state.question
    if Want.WHY not in question.wants or question.advice:
        return []
    about = {w.text.lower().lstrip("#") for w in question.words} | {
        r.place.lower() for r in (state.best.records if state.best and state.best.named else ())[:_ROWS]
    }
    return [p for p in state.passages if p.table.lines and p.record.place.lower() in about and tells_of_fault(p)]


def _absent(state: Understanding) -> str:
    """An id that the question names and that stands in no result, when all that could have it was read."""
    unknown = [w for w in state.unknown if w.sort is Sort.ID or ("-" in w.text and w.sort is Sort.NAME)]
    if state.best is not None and state.best.sure and state.best.named:
        return ""
    if not unknown and not state.question.advice:
        names = [name for name in state.question.full_names if not state.holds(name)]
        alone = [w.text for w in state.unknown if w.sort is Sort.NAME]
        return next(iter(names or alone), "")
    return unknown[0].text if unknown else ""


def _asked_tools(state: Understanding) -> str:
    return ", ".join(dict.fromkeys(f"`{call.tool}`" for call in state.calls))


# ---------------------------------------------------------------- rows


def _tell(best: Reading, state: Understanding, sheet: Sheet) -> None:
    outcome = best.outcome
    assert outcome is not None
    derived = outcome.aim in {Aim.COUNT, Aim.SUM, Aim.MEAN, Aim.MOST}
    unsure = outcome.aim is Aim.COUNT and outcome.fit < 1.0 and len(outcome.records) > 1
    partial = outcome.aim is Aim.COMPARE and not outcome.of and not best.table.whole
    if unsure or partial:
        sheet.write("closest")
        _rows(outcome.records[:_ROWS], outcome.columns, best.table, sheet)
        return
    if best.lost and (state.question.yes_no or outcome.aim is Aim.COUNT) and best.table.whole:
        names = ", ".join(f"`{w.text}`" for w in best.lost)
        sheet.write("no_row", own={"tool": f"`{best.table.tool.name}`", "names": names})
        return
    if best.lost and derived:
        sheet.write("closest")
        _rows(outcome.records[:_ROWS], outcome.columns, best.table, sheet)
        return
    if best.lost:
        sheet.write("closest")
    match outcome.aim:
        case Aim.COUNT:
            _count(outcome, best, sheet)
        case Aim.COMPARE:
            _sides(outcome, best, sheet)
        case Aim.MOST | Aim.SUM | Aim.MEAN:
            _computed(outcome, best, sheet)
        case _:
            _fields(outcome, best, state, sheet)
    if not best.table.whole and outcome.aim is not Aim.FIELD:
        sheet.write("rows_missing", own={"tool": best.table.tool.name})


def _fields(outcome: Outcome, best: Reading, state: Understanding, sheet: Sheet) -> None:
    most = max(state.question.many, _ROWS)
    if len(outcome.records) > most:
        places = [r.place for r in outcome.records if r.place and sheet.holds(r.place, place=True)]
        sheet.write(
            "listed",
            own={"by": _filters(best, sheet), "tool": f"`{best.table.tool.name}`"},
        )
        if places:
            joined = "、" if sheet.chinese else ", "
            sheet.add(
                "those", own={"places": joined.join(f"`{one_line(p)}`" for p in dict.fromkeys(places[:_NAMED_ROWS]))}
            )
    for record in outcome.records[:most]:
        _row(record, outcome.columns, best.table, sheet)


def _filters(best: Reading, sheet: Sheet) -> str:
    """The columns that the rows were chosen by, with their values."""
    told = []
    for hit in best.by:
        values = [v for v in sorted(hit.values) if v]
        if values and len(values) <= 2:
            sign = "≠ " if hit.denied else ""
            told.append(f"{bare(hit.column)} {sign}{', '.join(map(_value, values))}")
    if not told:
        return ""
    text = ("；" if sheet.chinese else "; ").join(told[:4])
    return f"（{text}）" if sheet.chinese else f" ({text})"


def _count(outcome: Outcome, best: Reading, sheet: Sheet) -> None:
    own = {"tool": f"`{best.table.tool.name}`", "by": _filters(best, sheet)}
    if outcome.value == "0" and outcome.fit < 1.0:
        sheet.write("closest")
    elif outcome.value == "0":
        sheet.write("none", own=own)
    elif outcome.of:
        sheet.write("kinds", own={**own, "count": outcome.value, "field": bare(outcome.of)})
    elif not best.by and outcome.value == best.table.total:
        sheet.write("total_of", own=own, count=outcome.value)
    else:
        sheet.write("counted" if best.table.whole else "at_least", own={**own, "count": outcome.value})
    _examples(outcome.records, sheet)
    for column, value in outcome.besides:
        sheet.write("summed", own={"field": bare(column), "count": value, "tool": f"`{best.table.tool.name}`"})


def _examples(records: Iterable[Record], sheet: Sheet) -> None:
    places = [r.place for r in records if r.place and sheet.holds(r.place, place=True)]
    if places:
        joined = "、" if sheet.chinese else ", "
        sheet.add("such_as", own={"places": joined.join(f"`{one_line(p)}`" for p in dict.fromkeys(places[:3]))})


def _sides(outcome: Outcome, best: Reading, sheet: Sheet) -> None:
    if outcome.label:
        sheet.write(f"it_{outcome.label}", own={"field": bare(outcome.of)})
    for label, records, value in outcome.sides:
        about = bare(outcome.of) if outcome.of else best.table.tool.name
        sheet.write("side", own={"label": one_line(label), "field": about, "value": value})
        _examples(records, sheet)


def _computed(outcome: Outcome, best: Reading, sheet: Sheet) -> None:
    key = {Aim.MOST: "most_rows", Aim.SUM: "summed", Aim.MEAN: "averaged"}[outcome.aim]
    own = {
        "field": bare(outcome.of),
        "label": one_line(outcome.label),
        "count": outcome.value,
        "tool": f"`{best.table.tool.name}`{_filters(best, sheet)}",
    }
    if outcome.label and outcome.aim is not Aim.MOST:
        key = "summed_for"
    sheet.write(key, own=own)
    if outcome.columns and outcome.aim is Aim.MOST:
        first = outcome.records[0].fields
        joined = "；" if sheet.chinese else "; "
        told = joined.join(f"{bare(n)} {one_line(first[n])}" for n in outcome.columns if n in first)
        sheet.add("beside", own={"text": told})
    _examples(outcome.records, sheet)


def _rows(records: Iterable[Record], columns: tuple[str, ...], table: Table, sheet: Sheet) -> None:
    for record in records:
        _row(record, columns, table, sheet)


def _row(record: Record, columns: tuple[str, ...], table: Table, sheet: Sheet) -> None:
    joined = "；" if sheet.chinese else "; "
    told = [_told(n, record, sheet) for n in columns if record.fields.get(n)]
    others = [
        f"{n} {_value(value)}"
        for n, value in record.fields.items()
        if ">" not in n
        and n not in columns
        and not _is_echo(n, record, table)
        and value != record.place
        and len(value) <= _SHORT
        and sheet.holds(value)
    ]
    place = record.place if record.place and sheet.holds(record.place, place=True) else table.tool.name
    text = joined.join(told) if told else joined.join(others[:_BESIDE])
    if text and place == table.tool.name:
        sheet.write("thing", own={"text": text, "place": place})
    elif text:
        sheet.write("thing", own={"text": text}, place=place)
    elif record.place:
        sheet.write("place", place=place)
    if told and others and sheet.text:
        sheet.add("beside", own={"text": ("，" if sheet.chinese else ", ").join(others[:_BESIDE])})


_ID = re.compile(r"(?=.*[A-Za-z])(?:(?=.*\d)[\w./:-]+|\w+(?:[-_/]\w+)+|[A-Z][a-z]+(?:[A-Z][a-z]+)+)")


def _value(value: str) -> str:
    """A value; what can only be an identifier as code."""
    line = one_line(short(value, _VALUE))
    plain = quantity(value) is not None or moment_of(value) is not None or line != value
    return f"`{line}`" if not plain and _ID.fullmatch(value) else line


def _is_echo(name: str, record: Record, table: Table) -> bool:
    """Is this an argument of the call that another field of the row says as well?"""
    if name not in table.given:
        return False
    value = record.fields[name].lower()
    return any(value in other.lower() for n, other in record.fields.items() if n != name and ">" not in n)


def _told(column: str, record: Record, sheet: Sheet) -> str:
    """A column and what it says; of a joined row also which one that is."""
    text = f"{bare(column)} {_value(record.fields[column])}"
    link = column.rpartition(">")[0]
    value = record.fields.get(link, "")
    if not link or not value or value == record.place or not sheet.holds(value):
        return text
    return f"{text}（`{one_line(value)}`）" if sheet.chinese else f"{text} (`{one_line(value)}`)"


# ---------------------------------------------------------------- passages


def _quote(found: Sequence[Passage], sheet: Sheet, state: Understanding) -> None:
    best = found[0]
    steps = [r for r in best.table.records if r.place == best.record.place] if best.table.lines else []
    if state.question.advice and 1 < len(steps) <= _STEPS:
        whole = [Passage(best.table, record, text_of(record), best.fit) for record in steps]
        found = [*whole, *(p for p in found if p.table is not best.table)]
    most = _PASSAGES if len(steps) <= 1 or len(steps) > _STEPS or not state.question.advice else len(steps) + 1
    for passage in found[:most]:
        place = cited(passage.record, passage.text)
        beside = [
            f"`{one_line(v)}`" if last(n) in IDS else _value(v)
            for n, v in passage.record.fields.items()
            if v not in {passage.text, place, *place.rsplit(":", 1)} and len(v) <= _SHORT and ">" not in n
        ]
        text = short(passage.text, 600)
        if place and place != passage.text and sheet.holds(place, place=True):
            written = sheet.write("found", place=place, text=text)
        elif all(sheet.holds(line) for line in text.split("\n")):
            written = sheet.write("said_by", own={"place": passage.table.tool.name, "text": one_line(text)})
        else:
            written = False
        if beside and written:
            sheet.add("beside", own={"text": ", ".join(beside[:3])})


def detail(state: Understanding, sheet: Sheet) -> None:
    """The rows that the answer rests on, a line each."""
    best = state.best
    if (
        best is None
        or not best.records
        or best.outcome is None
        or (state.question.advice and state.passages and not best.named)
    ):
        return
    sheet.write("other_heading", own={"tool": best.table.tool.name})
    rows = best.outcome.records or best.records
    colon, comma = ("：", "；") if sheet.chinese else (": ", "; ")
    for record in rows[:_ROWS]:
        told = [
            f"{n}{colon}{one_line(short(v, _VALUE))}"
            for n, v in record.fields.items()
            if ">" not in n and sheet.holds(v) and not _is_echo(n, record, best.table)
        ]
        if told:
            sheet.write("unplaced_line", own={"text": comma.join(told[:10])})
