"""The direct answer: the one or few lines that come first, each quoted and cited. What was found stands below it.

Owns what of the results answers which sort of question. Writes through a `Sheet`, so that nothing is made up.
"""

import re
from collections.abc import Iterable

from opspilot.models.demo.case import Case, meant
from opspilot.models.demo.counts import counted_rows, message_tallies, witness
from opspilot.models.demo.docs import asks_meaning, gives_advice, gives_meaning
from opspilot.models.demo.findings import Entity, Excerpt
from opspilot.models.demo.glossary import TRANSLATION
from opspilot.models.demo.grounding import Sheet, short
from opspilot.models.demo.history import Done
from opspilot.models.demo.inquiry.asking import lead_data
from opspilot.models.demo.kinds import Kind
from opspilot.models.demo.lexicon import Idea
from opspilot.models.demo.measures import Measure, Superlative, best_of, fitness, is_time
from opspilot.models.demo.records import Record, Rows, rows_of
from opspilot.models.demo.searches import Need
from opspilot.models.demo.sections import asked_for, passages_of, telling_fields
from opspilot.models.demo.suiting import question_stems
from opspilot.models.demo.toolbox import Role
from opspilot.models.demo.words import parts, stem, stems

_SHORT = 160
_VALUE = 60
_BESIDE = 4


def write_lead(case: Case, sheet: Sheet) -> None:
    """Answer in the first lines, as far as the results hold an answer."""
    for need in case.needs:
        if need.kind is Kind.DATA:
            lead_data(need, case, sheet)
            continue
        calls = case.calls(need)
        call = next((call for call in reversed(calls) if call.useful or (call is calls[0] and _counted(call))), None)
        if call is None or (need.kind is Kind.LOGS and _level_dropped(calls[0], call, case)):
            continue
        if need.kind is Kind.LOGS:
            _lead_of_rows(need, call, case, sheet)
        elif need.kind is Kind.CATALOG and not need.aside:
            _lead_of_things(need, case, sheet)
        elif need.kind is Kind.OTHER:
            _lead_of_other(call, case, sheet)
        elif need.kind is Kind.DOCS:
            _lead_of_documents(case, sheet)


def _level_dropped(first: Done, call: Done, case: Case) -> bool:
    """Are these lines of any level, where those of one were asked for and the tool could not tell which they are?"""
    card = next((tool for tool in case.tools if tool.name == call.tool), None)
    level = card.with_role(Role.LEVEL) if card else None
    unknown = "" in first.findings.totals.values()
    return unknown and level is not None and level.name in first.arguments and level.name not in call.arguments


def _counted(call: Done) -> bool:
    return call.ok and bool(call.findings.totals) and not call.findings.notes


# ---------------------------------------------------------------- rows


def _lead_of_rows(need: Need, call: Done, case: Case, sheet: Sheet) -> None:
    question = case.question
    if question.extreme is not None and _ranked(call, question.extreme, case, sheet):
        return
    if question.starts and _first(call, sheet):
        return
    if question.dimension and question.dimension_idea is not Idea.ERRORS and _most(call, need, case, sheet):
        if Idea.COUNT in question.ideas:
            _total(need, call, case, sheet)
        return
    counts = (question.counts or question.compares) and question.dimension_idea is not Idea.ERRORS
    if Idea.MOST in question.ideas and not question.extreme and _highest(call, case, sheet):
        return
    compared = question.compares and bool(need.subject)
    if counts and _total(need, call, case, sheet) and (compared or Idea.ERRORS not in question.ideas):
        return
    _message(call, sheet)


def _ranked(call: Done, order: Superlative, case: Case, sheet: Sheet) -> bool:
    """The rows at the asked end, by a number or a time that they hold."""
    for rows in rows_of(call.data):
        name, ordered = ranked_rows(rows, order)
        if not ordered:
            continue
        said = _sort_key(call, case) or name if parts(name)[-1] in _UNNAMED else name
        for record in ordered[: order.many]:
            sheet.write("ranked", own={"name": said}, value=record.fields[name], place=record.place)
            _beside(record, {name, *_placing(record)}, case, sheet)
        if not _sorted(call, case) and not _whole(rows, call, case):
            sheet.write("ranked_part")
        return True
    return False


_UNNAMED = {"value", "score"}
_HOW_OFTEN = re.compile(r"(?i)\bhow often\b")


def _sort_key(call: Done, case: Case) -> str:
    """What the call was sorted by."""
    card = next((tool for tool in case.tools if tool.name == call.tool), None)
    by = card.with_role(Role.SORT) if card else None
    return str(call.arguments.get(by.name, "")).lstrip("-") if by else ""


def _highest(call: Done, case: Case, sheet: Sheet) -> bool:
    """The most of a number that the rows themselves hold, such as what waits at each place."""
    question = case.question
    if _HOW_OFTEN.search(question.text):
        return False
    if (key := _sort_key(call, case)) and _ranked(call, Superlative("", Measure.ANY, beside=stems(key)), case, sheet):
        return True
    dimension = TRANSLATION.get(question.dimension, question.dimension)
    fields = {stem(word) for rows in rows_of(call.data) for r in rows.records for n in r.fields for word in parts(n)}
    if dimension and stem(dimension) not in fields:
        return False
    order = Superlative("", Measure.ANY, beside=question_stems(question) - {stem(dimension)})
    measuring = [rows for rows in rows_of(call.data) if not message_tallies(call.findings.tallies)]
    return bool(measuring) and _ranked(call, order, case, sheet)


def ranked_rows(rows: Rows, order: Superlative) -> tuple[str, list[Record]]:
    """The field that is ranked by, and the rows that hold it, in the order asked. Of equals the earlier comes first."""
    if order.measure is Measure.TIME:
        names = dict.fromkeys(name for record in rows.records for name in record.fields if is_time(name))
        name = best_of(order, names) or ""
        held = [record for record in rows.records if record.fields.get(name)]
        return name, sorted(held, key=lambda record: record.fields[name], reverse=order.largest)
    numeric = dict.fromkeys(name for record in rows.records for name in record.numbers if not _is_mark(name))
    name = max(numeric, key=lambda candidate: fitness(order, candidate), default="")
    exact = order.measure in {Measure.DURATION, Measure.AMOUNT}
    if name and fitness(order, name) <= 0 and (len(numeric) > 1 or exact):
        name = next((n for n in numeric if parts(n)[-1] in _UNNAMED), "")
    held = [record for record in rows.records if name in record.numbers and record.place]
    return name, sorted(held, key=lambda record: record.numbers[name], reverse=order.largest)


def _is_mark(name: str) -> bool:
    """Is this number one that tells a row from others, rather than measuring it?"""
    return bool(
        set(parts(name)) & {"line", "行号", "行", "row", "pos", "id", "no", "lineno", "port", "pid", "year"}
    ) or name.endswith("id")


def _whole(rows: Rows, call: Done, case: Case) -> bool:
    """Are these all rows that there are? Told by the total, else by a tool that has no limit to reach."""
    if rows.total.isdigit():
        return int(rows.total) <= len(rows.records)
    card = next((tool for tool in case.tools if tool.name == call.tool), None)
    return card is None or not any(parameter.limits for parameter in card.parameters)


def _sorted(call: Done, case: Case) -> bool:
    card = next((tool for tool in case.tools if tool.name == call.tool), None)
    return card is not None and any(
        parameter.role in {"sort", "direction"} and parameter.name in call.arguments for parameter in card.parameters
    )


def _placing(record: Record) -> set[str]:
    """Fields that the place says already."""
    place = record.place
    return {
        name
        for name, value in record.fields.items()
        if value and (value == place or place == f"{value}:{record.fields.get('line')}")
    }


def _beside(record: Record, without: Iterable[str], case: Case, sheet: Sheet) -> None:
    """What else the row says, the asked things first."""
    said, skipped = question_stems(case.question), set(without)
    names = [n for n, v in record.fields.items() if n not in skipped and v and len(v) <= _VALUE and sheet.holds(v)]
    names.sort(key=lambda name: not stems(name) & said)
    text = next((v for n, v in record.fields.items() if len(v) > _VALUE and n not in skipped), "")
    told = [f"{name} {record.fields[name]}" for name in names if parts(name)[-1:] != ("line",)][:_BESIDE]
    if told:
        sheet.add("beside", own={"text": ("，" if sheet.chinese else ", ").join(told)})
    if text:
        sheet.add("saying", text=short(text, _SHORT))


def _first(call: Done, sheet: Sheet) -> bool:
    """The earliest row or the earliest first time of a group of rows."""
    timed = [(record.time, record) for rows in rows_of(call.data) for record in rows.records if record.time]
    timed = [(time, record) for time, record in timed if sheet.holds(time) and record.place]
    if not timed:
        return False
    time, record = min(timed, key=lambda entry: entry[0])
    asked = asked_for(call)
    sheet.write("began", own={"asked": f" ({asked})" if asked else ""}, time=time, place=record.place)
    if record.text:
        sheet.add("saying", text=short(record.text, _SHORT))
    return True


def _most(call: Done, need: Need, case: Case, sheet: Sheet) -> bool:
    counted = next((one for one in reversed(case.calls(need)) if counted_rows(one, case)), call)
    rows = counted_rows(counted, case)
    if rows:
        top = rows[0]
        if not sheet.write("most", label=short(top.label, _SHORT), count=top.count):
            return False
        if place := witness(top, case.calls(need)):
            sheet.add("for_example", place=place)
        return True
    each = [(one, total_of(one)) for one in case.calls(need) if one.ok and _value_of(one, case)]
    known = [(int(total), one) for one, total in each if total.isdigit()]
    if len(known) < 2:
        return False
    for _, one in sorted(known, key=lambda entry: -entry[0]):
        _one_total(_value_of(one, case), one, sheet)
    return True


def _value_of(call: Done, case: Case) -> str:
    """The value by which a call differs from the others like it."""
    card = next((tool for tool in case.tools if tool.name == call.tool), None)
    coded = {parameter.name for parameter in card.coded} if card else set()
    return next((str(value) for name, value in call.arguments.items() if name in coded), "")


def total_of(call: Done) -> str:
    """How many rows there are in all, as the result says; empty when it doesn't."""
    for rows in rows_of(call.data):
        if rows.total:
            return rows.total
    named = [
        v for n, v in call.findings.totals.items() if set(parts(n)) & {"total", "matched", "matches", "count", "hits"}
    ]
    return next(iter(named), "")


def _total(need: Need, call: Done, case: Case, sheet: Sheet) -> bool:
    if not need.subject:
        return _one_total("", call, sheet)
    entity = case.entity(need.subject)
    meant = {need.subject, *(value for values in (entity.fields.values() if entity else ()) for value in values)}
    named = any(str(value) in meant for value in call.arguments.values())
    return named and _one_total(need.subject, call, sheet)


def _one_total(about: str, call: Done, sheet: Sheet) -> bool:
    total, asked = total_of(call), asked_for(call)
    own = {"about": f"{about}: " if about else "", "asked": f" ({asked})" if asked else ""}
    if not total or not sheet.write("total", own=own, count=total):
        return False
    places = (record.place for rows in rows_of(call.data) for record in rows.records)
    if place := next((place for place in places if place and total != "0"), ""):
        sheet.add("for_example", place=place)
    return True


def _message(call: Done, sheet: Sheet) -> None:
    rows = [row for row in message_tallies(call.findings.tallies) if not row.label.startswith("(")]
    if rows:
        top = max(rows, key=lambda row: int(row.count) if row.count.isdigit() else 0)
        if sheet.write("top_message", label=short(top.label, _SHORT), count=top.count) and top.example:
            sheet.add("for_example", place=top.example.citation)
        return
    for excerpt in call.findings.excerpts[:1]:
        _quoted(excerpt, sheet)
    if not call.findings.excerpts:
        for record in [record for rows in rows_of(call.data)[:1] for record in rows.records][:1]:
            if record.text and record.place:
                sheet.write("found", text=short(record.text, _SHORT), place=record.place)


def _quoted(excerpt: Excerpt, sheet: Sheet) -> None:
    text = next((line.strip() for line in excerpt.text.split("\n") if line.strip() and not line.startswith("#")), "")
    if text and excerpt.citation:
        sheet.write("found", text=short(text, _SHORT), place=excerpt.citation)


# ---------------------------------------------------------------- things, documents


def _lead_of_things(need: Need, case: Case, sheet: Sheet) -> None:
    asked = case.question.ideas & {Idea.OWNER, Idea.DEPENDS}
    entities = [entity for call in case.calls(need) if call.useful for entity in meant(call)]
    if case.question.of_relatives and len(entities) > 1:
        entities = [*entities[1:], entities[0]]
    for entity in list(dict.fromkeys(map(_Same, entities)))[:_BESIDE]:
        _thing(entity.entity, asked, case, sheet)


class _Same:
    """An entity that equals those with the same fields."""

    def __init__(self, entity: Entity) -> None:
        self.entity = entity
        self._key = tuple(sorted(entity.fields.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def _thing(entity: Entity, asked: frozenset[Idea], case: Case, sheet: Sheet) -> None:
    names, _ = telling_fields(entity, asked, case)
    record = Record({name: values[0] for name, values in entity.fields.items()})
    place = record.place
    joined = "、" if sheet.chinese else ", "
    told = []
    for name in names:
        values = [value for value in entity.fields[name] if sheet.holds(value) and len(value) <= _SHORT]
        if values and values != [place]:
            told.append(f"{name} {joined.join(values)}")
    if told and place:
        sheet.write("thing", own={"text": ("；" if sheet.chinese else "; ").join(told[: 2 * _BESIDE])}, place=place)


def _lead_of_other(call: Done, case: Case, sheet: Sheet) -> None:
    order = case.question.extreme
    if order is not None and _ranked(call, order, case, sheet):
        return
    if case.question.counts and _one_total("", call, sheet):
        return
    for entity in call.findings.entities[:1]:
        _thing(entity, frozenset(), case, sheet)


def _lead_of_documents(case: Case, sheet: Sheet) -> None:
    found = [excerpt for call in case.calls_of(Kind.DOCS) if call.useful for excerpt in call.findings.excerpts]
    passages = passages_of(found, case)
    wanted = gives_meaning if asks_meaning(case.question.text) else gives_advice
    best = next((p for p in passages if wanted(p) and p.source == passages[0].source), None)
    for passage in [best or passages[0]] if passages else []:
        _documented(passage, sheet)
    if not passages:
        things = [entity for call in case.calls_of(Kind.DOCS) if call.useful for entity in call.findings.entities]
        for entity in things[:1]:
            _thing(entity, frozenset(), case, sheet)


def _documented(passage: Excerpt, sheet: Sheet) -> None:
    """What a document says, in a sentence that names the document and the section."""
    title, _, section = passage.heading.partition(" > ")
    lines = "\n".join(line for line in passage.text.split("\n") if not line.startswith("#"))
    text = next((paragraph.strip() for paragraph in re.split(r"\n\s*\n", lines) if paragraph.strip()), "")
    if not (title and text and passage.citation and sheet.holds(title) and sheet.holds(passage.heading)):
        _quoted(passage, sheet)
        return
    key = "documented_in" if section else "documented"
    sheet.write(key, own={"title": title, "section": section}, place=passage.citation, text=short(text, 2 * _SHORT))
