"""Writing the answer: what each need found, quoted and cited, and what was not found. Adds no fact of its own."""

from opspilot.core.observations import SENTENCES, THEY_SAID, ErrorCode
from opspilot.models.demo.arguments import unfilled
from opspilot.models.demo.case import Case, acted_on, identify
from opspilot.models.demo.docs import top_error
from opspilot.models.demo.grounding import Sheet
from opspilot.models.demo.inquiry.asking import tell_data
from opspilot.models.demo.kinds import Kind
from opspilot.models.demo.lead import write_lead
from opspilot.models.demo.searches import Need
from opspilot.models.demo.sections import (
    asked_for,
    last_useful,
    passages_of,
    tell_catalog,
    tell_docs,
    tell_everything,
    tell_logs,
    tell_other,
)
from opspilot.models.demo.toolbox import Role, ToolCard
from opspilot.models.demo.words import parts, stems


def write_answer(case: Case) -> str:
    """The answer to the case's question from the calls made so far, as Markdown in the question's language."""
    sheet = Sheet((filed.call for filed in case.filed), chinese=case.question.chinese)
    if not case.needs and not case.filed:
        return _cannot(case, sheet)
    write_lead(case, sheet)
    led = bool(sheet.text)
    span = case.question.span
    unheard = span is not None and bool(case.filed) and not _span_applied(case)
    if led and span and unheard and any(need.kind is not Kind.DATA for need in case.needs):
        sheet.write("time_ignored", own={"span": span.said})
    for need in _all_needs(case):
        sheet.gap()
        if need.kind is Kind.LOGS:
            tell_logs(need, case, sheet, led=led)
        else:
            _SECTIONS[need.kind](need, case, sheet)
    if not sheet.text:
        sheet.write("nothing_known")
    else:
        _side_by_side(case, sheet)
    _not_found(case, sheet, led=led, unheard=unheard and not led)
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


_VERDICTS = {
    "rejected_by_human": "rejected",
    "approval_expired": "expired",
    "denied_by_policy": "denied",
    "outcome_unknown": "unknown_outcome",
}


def _act(need: Need, case: Case, sheet: Sheet) -> None:
    calls = case.calls(need)
    for call in calls:
        about = asked_for(call)
        sheet.write("act_heading", own={"tool": call.tool, "about": f": {about}" if about else ""})
        if call.ok:
            sheet.write("done")
            tell_everything(call, case, sheet)
        else:
            said = call.message.rpartition(THEY_SAID)[2]
            said = "" if said == SENTENCES[ErrorCode.REJECTED_BY_HUMAN] else said
            verdict = _VERDICTS.get(call.code, "not_run")
            sheet.write(
                f"{verdict}_saying" if verdict == "rejected" and said else verdict, message=said or call.message
            )
    if not calls and need.tools:
        _not_acted(need.tools[0], case, sheet)
    elif need.tools:
        target = acted_on(need.tools[0])
        acted = {str(call.arguments.get(target.name)) for call in calls} if target else set()
        for name in case.question.subjects:
            if target and identify(target, name, case) not in acted and name not in acted:
                sheet.write("not_identified", own={"tool": need.tools[0].name, "name": name})


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
    passages = passages_of([e for call in case.calls_of(Kind.DOCS) for e in call.findings.excerpts], case)
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


def _not_found(case: Case, sheet: Sheet, *, led: bool, unheard: bool) -> None:
    """What failed or came back empty and was not made good by a later call."""
    found = any(filed.call.useful for filed in case.filed)
    lines = Sheet((filed.call for filed in case.filed), chinese=sheet.chinese)
    for need in _all_needs(case):
        calls = case.calls(need)
        if need.kind is Kind.ACT or not calls or last_useful(calls) or (need.aside and found):
            continue
        if need.kind is Kind.DATA and led:
            continue
        for call in calls:
            if not call.ok:
                lines.write("failed", own={"tool": call.tool}, message=call.message)
            elif not (need.kind is Kind.OTHER and call.findings.totals):
                about = asked_for(call)
                lines.write("nothing" if about else "nothing_plain", own={"tool": call.tool, "about": about})
                for note in call.findings.notes:
                    lines.write("note", text=note)
    span = case.question.span
    if span and unheard:
        lines.write("time_ignored", own={"span": span.said})
    if lines.text:
        sheet.gap()
        sheet.write("missing_heading")
        sheet.append(lines)


def _span_applied(case: Case) -> bool:
    timed = {tool.name: [p.name for p in tool.parameters if p.role in {Role.SINCE, Role.SPAN}] for tool in case.tools}
    return any(name in filed.call.arguments for filed in case.filed for name in timed.get(filed.call.tool, ()))


_SECTIONS = {
    Kind.CATALOG: tell_catalog,
    Kind.LOGS: tell_logs,
    Kind.DOCS: tell_docs,
    Kind.OTHER: tell_other,
    Kind.DATA: tell_data,
    Kind.ACT: _act,
    Kind.MORE: tell_other,
}
