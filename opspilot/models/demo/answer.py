"""Writing the answer: what each need found, quoted and cited, and what was not found. Adds no fact of its own."""

from collections.abc import Sequence

from opspilot.models.demo.arguments import unfilled
from opspilot.models.demo.case import Case, identify, meant
from opspilot.models.demo.docs import gives_advice, ranked, top_error
from opspilot.models.demo.findings import Entity, Excerpt, Findings, Tally
from opspilot.models.demo.grounding import Sheet, one_line, short
from opspilot.models.demo.history import Done
from opspilot.models.demo.lexicon import Idea, listed
from opspilot.models.demo.logs import dimension_tallies, grouped_tallies, message_tallies
from opspilot.models.demo.needs import Kind, Need, question_stems
from opspilot.models.demo.toolbox import Role, ToolCard
from opspilot.models.demo.words import ideas_in, parts, stems

_QUOTE_CHARACTERS = 300
_PASSAGE_LINES = 9
_PASSAGES = 3
_ROWS = 5
_LINES = 3
_FIELDS = 10


def write_answer(case: Case) -> str:
    """The answer to the case's question from the calls made so far, as Markdown in the question's language."""
    sheet = Sheet((filed.call for filed in case.filed), chinese=case.question.chinese)
    if not case.needs and not case.filed:
        return _cannot(case, sheet)
    for need in _all_needs(case):
        sheet.gap()
        _SECTIONS[need.kind](need, case, sheet)
    if not sheet.text:
        sheet.write("nothing_known")
    else:
        _side_by_side(case, sheet)
    _not_found(case, sheet)
    return sheet.text


def _all_needs(case: Case) -> tuple[Need, ...]:
    """The question's needs, and one more for calls that no need of it has proposed."""
    ids = {need.id for need in case.needs}
    more = dict.fromkeys(filed.need for filed in case.filed if filed.need not in ids)
    found = []
    for name in more:
        kind, _, number = name.partition(".")
        if kind in set(Kind) and number.isdigit():
            found.append(Need(Kind(kind), (), number=int(number)))
    return (*case.needs, *found)


def _cannot(case: Case, sheet: Sheet) -> str:
    if not case.question.text.strip():
        sheet.write("no_question")
    elif not case.tools:
        sheet.write("no_tools_at_all")
    else:
        sheet.write("no_tool")
    if case.tools:
        sheet.gap()
        sheet.write("what_i_am")
        for tool in case.tools:
            sheet.write("tool", own={"tool": tool.name, "description": tool.first_sentence})
    return sheet.text


def _about(call: Done) -> str:
    """What a call asked for, as `name=value` pairs."""
    shown = [f"{name}={value if isinstance(value, str) else str(value)}" for name, value in call.arguments.items()]
    return ", ".join(shown)


def _last_useful(calls: tuple[Done, ...]) -> Done | None:
    return next((call for call in reversed(calls) if call.useful), None)


# ---------------------------------------------------------------- logs


def _logs(need: Need, case: Case, sheet: Sheet) -> None:
    calls = case.calls(need)
    call = _last_useful(calls)
    if call is None:
        return
    about = _about(call)
    sheet.write("logs_heading", own={"tool": call.tool, "about": f": {about}" if about else ""})
    if call is not calls[0] and not calls[0].useful:
        sheet.write("relaxed", own={"about": about})
    question, findings = case.question, call.findings
    if extreme := next((word.text for word in question.words if Idea.EXTREME in word.ideas), ""):
        sheet.write("not_sorted", own={"words": extreme})
    if question.counts:
        for name, value in findings.totals.items():
            if set(parts(name)) & _TOTAL_NAMES:
                sheet.write("field", name=name, value=value)
    if question.dimension and question.dimension_idea is not Idea.ERRORS:
        rows = _counted_rows(call, case)
        if rows:
            sheet.write("counted_by", own={"group": question.dimension})
            for row in rows[:_ROWS]:
                _row(row, sheet)
            return
        sheet.write("no_such_count", own={"group": question.dimension})
    _messages(findings, sheet)


_TOTAL_NAMES = listed("matched matches total hits found count lines 总数 命中 条数 总计")


def _counted_rows(call: Done, case: Case) -> list[Tally]:
    """The rows that count what "which … most" asks for, the highest first as far as they are numbers."""
    question, findings = case.question, call.findings
    rows = dimension_tallies(findings.tallies, question.dimension, question.dimension_idea)
    if not rows and _grouped(call, case):
        rows = grouped_tallies(findings.tallies)
    return sorted(rows, key=lambda row: -int(row.count) if row.count.isdigit() else 0)


def _grouped(call: Done, case: Case) -> bool:
    card = next((tool for tool in case.tools if tool.name == call.tool), None)
    group = card.with_role(Role.GROUP) if card else None
    return bool(call.arguments.get(group.name)) if group else card is None


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


def _docs(need: Need, case: Case, sheet: Sheet) -> None:
    useful = [call for call in case.calls(need) if call.useful]
    if not useful:
        return
    passages = _passages([excerpt for call in useful for excerpt in call.findings.excerpts], case)
    sheet.write("docs_heading", own={"tool": ", ".join(dict.fromkeys(call.tool for call in useful))})
    for passage in passages:
        heading = short(passage.heading, 80) if passage.heading and sheet.holds(passage.heading) else ""
        shown = (f"（{heading}）" if sheet.chinese else f" ({heading})") if heading else ""
        if passage.citation:
            sheet.write("passage", place=passage.citation, own={"heading": shown})
        sheet.quote(_telling_lines(passage))
    if not passages:
        things = [entity for call in useful for entity in call.findings.entities]
        _entities(things[:_LINES], frozenset(), case, sheet)


def _passages(excerpts: list[Excerpt], case: Case) -> list[Excerpt]:
    """The best passage, the same document's advice, then what else fits."""
    order = ranked(excerpts, case)
    if not order:
        return []
    best = order[0]
    advice = [excerpt for excerpt in order if excerpt.source == best.source and gives_advice(excerpt)][:1]
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


def _catalog(need: Need, case: Case, sheet: Sheet) -> None:
    useful = [call for call in case.calls(need) if call.useful]
    asked = case.question.ideas & {Idea.OWNER, Idea.DEPENDS}
    if not useful or (need.aside and any(f.call.useful for f in case.filed if f.need != need.id)):
        return
    sheet.write("catalog_heading", own={"tool": useful[0].tool})
    entities = [entity for call in useful for entity in meant(call)]
    _entities(entities, asked, case, sheet)
    if not entities:
        for call in useful:
            for excerpt in call.findings.excerpts[:_LINES]:
                _line(excerpt, sheet)


_NAMING = listed("name title id 名称 编号 标题")


def _entities(entities: Sequence[Entity], asked: frozenset[Idea], case: Case, sheet: Sheet) -> None:
    """Things: one with a line for each property, several with a line for each thing."""
    for entity in entities[:_ROWS]:
        names, missing = _telling_fields(entity, asked, case)
        shown = [(name, _values(entity.fields[name], sheet)) for name in names]
        properties = [(name, values) for name, values in shown if values]
        if len(entities) == 1:
            for name, values in properties:
                sheet.write("field", own={"name": name, "value": values})
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


def _telling_fields(entity: Entity, asked: frozenset[Idea], case: Case) -> tuple[list[str], list[Idea]]:
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


def _other(need: Need, case: Case, sheet: Sheet) -> None:
    call = _last_useful(case.calls(need)) or next((c for c in case.calls(need) if c.ok and c.findings.totals), None)
    if call is not None:
        sheet.write("other_heading", own={"tool": call.tool})
        _everything(call, case, sheet)


def _everything(call: Done, case: Case, sheet: Sheet) -> None:
    findings = call.findings
    for name, value in list(findings.totals.items())[:_FIELDS]:
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


_VERDICTS = {
    "rejected_by_human": "rejected",
    "approval_expired": "expired",
    "denied_by_policy": "denied",
    "outcome_unknown": "unknown_outcome",
}


def _act(need: Need, case: Case, sheet: Sheet) -> None:
    calls = case.calls(need)
    for call in calls:
        about = _about(call)
        sheet.write("act_heading", own={"tool": call.tool, "about": f": {about}" if about else ""})
        if call.ok:
            sheet.write("done")
            _everything(call, case, sheet)
        else:
            sheet.write(_VERDICTS.get(call.code, "not_run"), message=call.message)
    if not calls and need.tools:
        _not_acted(need.tools[0], case, sheet)


def _not_acted(tool: ToolCard, case: Case, sheet: Sheet) -> None:
    known = {p.name for p in tool.parameters if case.named and identify(p, case.named, case)}
    missing = [parameter.name for parameter in unfilled(tool, case.wish()) if parameter.name not in known]
    sheet.write("act_heading", own={"tool": tool.name, "about": ""})
    if missing or not case.subject:
        names = missing or [parameter.name for parameter in tool.parameters if parameter.required]
        sheet.write("not_filled", own={"tool": tool.name, "names": ", ".join(names)})
    else:
        sheet.write("not_identified", own={"tool": tool.name, "name": case.subject})


# ---------------------------------------------------------------- across needs


def _side_by_side(case: Case, sheet: Sheet) -> None:
    """What the most frequent message and the documents have in common, when both were asked for."""
    if case.need(Kind.LOGS) is None or case.need(Kind.DOCS) is None:
        return
    error = top_error(case)
    passages = _passages([e for call in case.calls_of(Kind.DOCS) for e in call.findings.excerpts], case)
    sheet.gap()
    sheet.write("together_heading")
    if not error or not passages:
        sheet.write("cannot_compare")
        return
    told = stems(" ".join(f"{passage.heading} {passage.text}" for passage in passages))
    shared = [word for word in dict.fromkeys(parts(error)) if stems(word) & told and word in error.lower()]
    if shared:
        sheet.write("shared", own={"words": ("、" if sheet.chinese else ", ").join(shared)})
    else:
        sheet.write("nothing_shared")


def _not_found(case: Case, sheet: Sheet) -> None:
    """What failed or came back empty and was not made good by a later call."""
    found = any(filed.call.useful for filed in case.filed)
    lines = Sheet((filed.call for filed in case.filed), chinese=sheet.chinese)
    for need in _all_needs(case):
        calls = case.calls(need)
        if need.kind is Kind.ACT or not calls or _last_useful(calls) or (need.aside and found):
            continue
        for call in calls:
            if not call.ok:
                lines.write("failed", own={"tool": call.tool}, message=call.message)
            elif not (need.kind is Kind.OTHER and call.findings.totals):
                about = _about(call)
                lines.write("nothing" if about else "nothing_plain", own={"tool": call.tool, "about": about})
    span = case.question.span
    if span and case.filed and not _span_applied(case):
        lines.write("time_ignored", own={"span": span.said})
    if lines.text:
        sheet.gap()
        sheet.write("missing_heading")
        sheet.append(lines)


def _span_applied(case: Case) -> bool:
    timed = {tool.name: [p.name for p in tool.parameters if p.role in {Role.SINCE, Role.SPAN}] for tool in case.tools}
    return any(name in filed.call.arguments for filed in case.filed for name in timed.get(filed.call.tool, ()))


_SECTIONS = {
    Kind.CATALOG: _catalog,
    Kind.LOGS: _logs,
    Kind.DOCS: _docs,
    Kind.OTHER: _other,
    Kind.ACT: _act,
    Kind.MORE: _other,
}
