"""The sections of an answer: what logs, documents, a catalogue and other tools returned, quoted and cited."""

from collections.abc import Sequence

from opspilot.models.demo.case import Case, meant
from opspilot.models.demo.counts import counted_rows, message_tallies
from opspilot.models.demo.docs import asks_meaning, gives_advice, gives_meaning, ranked
from opspilot.models.demo.findings import Entity, Excerpt, Findings, Tally
from opspilot.models.demo.grounding import Sheet, one_line, short
from opspilot.models.demo.history import Done
from opspilot.models.demo.kinds import Kind
from opspilot.models.demo.lexicon import Idea, listed
from opspilot.models.demo.searches import Need
from opspilot.models.demo.suiting import question_stems
from opspilot.models.demo.words import ideas_in, parts, stems

_QUOTE_CHARACTERS = 300
_PASSAGE_LINES = 9
_PASSAGES = 3
_ROWS = 5
_LINES = 3
_FIELDS = 10


def asked_for(call: Done) -> str:
    """What a call asked for, as `name=value` pairs."""
    shown = [f"{name}={value if isinstance(value, str) else str(value)}" for name, value in call.arguments.items()]
    return ", ".join(shown)


def last_useful(calls: tuple[Done, ...]) -> Done | None:
    """The latest call that returned something."""
    return next((call for call in reversed(calls) if call.useful), None)


# ---------------------------------------------------------------- logs


def tell_logs(need: Need, case: Case, sheet: Sheet, *, led: bool = False) -> None:
    """What the logs hold: totals and ranked values when asked for, else the most frequent messages with lines."""
    calls = case.calls(need)
    call = last_useful(calls)
    if call is None:
        return
    about = asked_for(call)
    sheet.write("logs_heading", own={"tool": call.tool, "about": f": {about}" if about else ""})
    if call is not calls[0] and not calls[0].useful:
        sheet.write("relaxed", own={"about": about})
        for note in calls[0].findings.notes:
            sheet.write("note", text=note)
    question, findings = case.question, call.findings
    if question.extreme is not None and not led:
        sheet.write("not_sorted", own={"words": question.extreme.said})
    grouped = bool(question.dimension) and question.dimension_idea is not Idea.ERRORS
    counted = next((one for one in reversed(calls) if grouped and counted_rows(one, case)), call)
    rows = counted_rows(counted, case) if grouped else []
    for row in rows[:_ROWS]:
        _row(row, sheet)
    if question.counts:
        for name, value in findings.totals.items():
            if value and set(parts(name)) & _TOTAL_NAMES:
                sheet.write("field", name=name, value=value)
    if rows:
        return
    if grouped and sum(one.useful for one in calls) < _EACH:
        sheet.write("no_such_count", own={"group": question.dimension})
    _messages(findings, sheet)


_EACH = 2
"""So many searches at least, one for each value, are as good as a count by it."""

_TOTAL_NAMES = listed("matched matches total hits found count lines many 总数 命中 条数 总计")


def _row(row: Tally, sheet: Sheet) -> None:
    if (
        sheet.write("row", label=short(row.label, _QUOTE_CHARACTERS), count=row.count)
        and row.example
        and row.example.line
    ):
        sheet.add("see", place=row.example.citation)


def _messages(findings: Findings, sheet: Sheet) -> None:
    rows = [row for row in message_tallies(findings.tallies) if not row.label.startswith("(")]
    rows = sorted(rows, key=lambda row: -int(row.count) if row.count.isdigit() else 0)[:_LINES]
    for position, row in enumerate(rows):
        if not sheet.write(
            "also_frequent" if position else "most_frequent", label=short(row.label, _QUOTE_CHARACTERS), count=row.count
        ):
            continue
        first, last = _time_of(row, _FIRST), _time_of(row, _LAST)
        if first and last:
            sheet.add("first_last", first=first, last=last)
        if row.example and row.example.citation:
            sheet.add("see", place=row.example.citation)
    top = stems(rows[0].label) if rows else frozenset()
    fitting = sorted(findings.excerpts, key=lambda excerpt: -len(stems(excerpt.text) & top))
    for excerpt in _distinct(fitting)[: _LINES if not rows else 2]:
        _line(excerpt, sheet)


_FIRST = listed("first earliest oldest begin start")
_LAST = listed("last latest newest end")


def _time_of(row: Tally, words: frozenset[str]) -> str:
    return next(
        (value for name, value in row.fields.items() if value and parts(name)[:1] and parts(name)[0] in words), ""
    )


def _distinct(excerpts: list[Excerpt]) -> list[Excerpt]:
    placed = [excerpt for excerpt in excerpts if excerpt.citation]
    return list({excerpt.citation: excerpt for excerpt in reversed(placed or excerpts)}.values())[::-1]


def _line(excerpt: Excerpt, sheet: Sheet) -> None:
    if excerpt.citation:
        sheet.write("line", place=excerpt.citation, text=short(excerpt.text, _QUOTE_CHARACTERS))
    else:
        sheet.write("unplaced_line", text=short(excerpt.text, _QUOTE_CHARACTERS))


# ---------------------------------------------------------------- documents


def tell_docs(need: Need, case: Case, sheet: Sheet) -> None:
    """What the documents say: whole lines of the best passages."""
    useful = [call for call in case.calls(need) if call.useful]
    if not useful:
        return
    passages = passages_of([excerpt for call in useful for excerpt in call.findings.excerpts], case)
    sheet.write("docs_heading", own={"tool": ", ".join(dict.fromkeys(call.tool for call in useful))})
    for passage in passages:
        heading = short(passage.heading, 80) if passage.heading and sheet.holds(passage.heading) else ""
        shown = (f"（{heading}）" if sheet.chinese else f" ({heading})") if heading else ""
        sheet.gap()
        if passage.citation:
            sheet.write("passage", place=passage.citation, own={"heading": shown})
            sheet.gap()
        sheet.quote(_telling_lines(passage))
    if not passages:
        things = [entity for call in useful for entity in call.findings.entities]
        _entities(things[:_LINES], frozenset(), case, sheet)


def passages_of(excerpts: list[Excerpt], case: Case) -> list[Excerpt]:
    """The best passage, the same document's advice, then what else fits."""
    order = ranked(excerpts, case)
    if not order:
        return []
    best = order[0]
    wanted = gives_meaning if asks_meaning(case.question.text) else gives_advice
    advice = [excerpt for excerpt in order if excerpt.source == best.source and wanted(excerpt)][:1]
    first = [*advice, best] if case.need(Kind.LOGS) else [best, *advice]
    same = [excerpt for excerpt in order if excerpt.source == best.source]
    return list({id(excerpt): excerpt for excerpt in [*first, *same, *order]}.values())[:_PASSAGES]


def _telling_lines(passage: Excerpt) -> list[str]:
    """Whole lines of the passage, from its beginning."""
    lines = [line.rstrip() for line in passage.text.split("\n")]
    kept: list[str] = []
    size = 0
    for line in [line for line in lines if line.strip()][:_PASSAGE_LINES]:
        size += len(line)
        if kept and size > 3 * _QUOTE_CHARACTERS:
            break
        kept.append(short(line, 2 * _QUOTE_CHARACTERS))
    return kept


# ---------------------------------------------------------------- catalogue, other reads, actions


def tell_catalog(need: Need, case: Case, sheet: Sheet) -> None:
    """What the catalogue knows, if it was asked for or is all that was found."""
    useful = [call for call in case.calls(need) if call.useful]
    asked = case.question.ideas & {Idea.OWNER, Idea.DEPENDS}
    # What was looked up for something to do belongs to the answer only when nothing came of that.
    others = any(f.call.useful for f in case.filed if f.need != need.id) or case.calls_of(Kind.ACT)
    if not useful or (need.aside and others):
        return
    sheet.write("catalog_heading", own={"tool": useful[0].tool})
    entities: list[Entity] = []
    for entity in (entity for call in useful for entity in meant(call)):
        if entity not in entities:
            entities.append(entity)
    offers = [name for call in useful for _, name in call.findings.options if sheet.holds(name)]
    if case.question.lists and offers:
        joined = "、" if sheet.chinese else ", "
        sheet.write("unplaced_line", own={"text": joined.join(dict.fromkeys(offers))})
    _entities(entities, asked, case, sheet)
    if not entities:
        for call in useful:
            for excerpt in call.findings.excerpts[:_LINES]:
                _line(excerpt, sheet)


_NAMING = listed("name title id 名称 编号 标题")


def _entities(entities: Sequence[Entity], asked: frozenset[Idea], case: Case, sheet: Sheet) -> None:
    """Things: one with a line for each property, several with a line for each thing."""
    for entity in entities[:_ROWS]:
        names, missing = telling_fields(entity, asked, case)
        shown = [(name, _values(entity.fields[name], sheet)) for name in names]
        properties = [(name, values) for name, values in shown if values]
        if len(entities) == 1:
            for name, values in properties:
                lines = [line for value in entity.fields[name] for line in value.split("\n") if line.strip()]
                if len(lines) <= len(entity.fields[name]):
                    sheet.write("field", own={"name": name, "value": values})
                    continue
                sheet.write("field_of_lines", own={"name": name})
                for line in lines[:_PASSAGE_LINES]:
                    sheet.write("field_line", value=short(line, _QUOTE_CHARACTERS))
        elif properties:
            colon, comma = ("：", "；") if sheet.chinese else (": ", "; ")
            text = comma.join(f"{name}{colon}{values}" for name, values in properties)
            sheet.write("unplaced_line", own={"text": text})
        if entity.placing and properties:
            sheet.add("see", place=":".join(entity.fields[name][0] for name in entity.placing))
        for idea in missing if len(entities) == 1 else ():
            sheet.write("no_field", own={"name": _IDEA_NAMES[idea][sheet.chinese]})


def _values(values: Sequence[str], sheet: Sheet) -> str:
    joined = "、" if sheet.chinese else ", "
    return joined.join(one_line(short(value, _QUOTE_CHARACTERS)) for value in values if sheet.holds(value))


def telling_fields(entity: Entity, asked: frozenset[Idea], case: Case) -> tuple[list[str], list[Idea]]:
    """Names of the fields to show: what it is called, what was asked, and, unless that is all found, the rest."""
    said = question_stems(case.question)
    fields = entity.fields
    naming = [name for name in fields if parts(name)[-1:] and parts(name)[-1] in _NAMING]
    answering = [name for name in fields if ideas_in(name) & asked or stems(name) & said]
    rest = [name for name in fields if name not in entity.placing]
    missing = [idea for idea in sorted(asked) if not any(idea in ideas_in(name) for name in fields)]
    enough = asked and answering and not missing
    return list(dict.fromkeys([*naming[:2], *answering, *(() if enough else rest)]))[:_FIELDS], missing


_IDEA_NAMES = {Idea.OWNER: ("owner", "负责人"), Idea.DEPENDS: ("dependencies", "依赖")}


def tell_other(need: Need, case: Case, sheet: Sheet) -> None:
    """What a tool of no known kind returned."""
    call = last_useful(case.calls(need)) or next((c for c in case.calls(need) if c.ok and c.findings.totals), None)
    if call is not None:
        sheet.write("other_heading", own={"tool": call.tool})
        tell_everything(call, case, sheet)


def tell_everything(call: Done, case: Case, sheet: Sheet) -> None:
    """All that a result holds, within bounds."""
    findings = call.findings
    # Of one thing alone each property has its line anyway.
    told = telling_fields(findings.entities[0], frozenset(), case)[0] if len(findings.entities) == 1 else []
    for name, value in [(name, value) for name, value in findings.totals.items() if value and name not in told][
        :_FIELDS
    ]:
        sheet.write("field", name=name, value=value)
    _entities(findings.entities, frozenset(), case, sheet)
    for row in findings.tallies[:_ROWS]:
        _row(row, sheet)
    for excerpt in findings.excerpts[:_LINES]:
        _line(excerpt, sheet)
    if findings == Findings() and isinstance(call.data, dict):
        for name, value in list(call.data.items())[:_FIELDS]:
            if isinstance(value, str | int | float) and str(value):
                sheet.write("field", own={"name": str(name)}, value=_plain(value))


def _plain(value: str | float) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else short(str(value), _QUOTE_CHARACTERS)
