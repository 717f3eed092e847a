"""Writing what the rows say: the direct answer with where it stands, and below it the rows themselves."""

from collections.abc import Iterable
from dataclasses import replace

from opspilot.models.demo.case import Case
from opspilot.models.demo.grounding import Sheet, one_line, short
from opspilot.models.demo.inquiry.aims import Aim, Sought
from opspilot.models.demo.inquiry.asking import best_reading, sought_of
from opspilot.models.demo.inquiry.measuring import Part
from opspilot.models.demo.inquiry.readings import Reading
from opspilot.models.demo.inquiry.rows import Row
from opspilot.models.demo.searches import Need

_VALUE = 200
_BESIDE = 6
_SHORT = 70
_ROWS = 5
_CLOSEST = 2


def lead_data(need: Need, case: Case, sheet: Sheet) -> bool:
    """Write the direct answer; False when the rows hold none."""
    sought = sought_of(case, need)
    best = best_reading(case, need, sought)
    if best is None or not best.fits:
        return False
    if not best.parts and sought.aims == (Aim.FIELD,) and 0 < len(best.choice.rows) <= _CLOSEST and sought.names:
        for row in best.choice.rows:
            _row(row, (), best, sheet)
    if best.parts and not best.sure:
        sheet.write("closest")
    for part in best.parts:
        if part.aim is Aim.COUNT and part.value == "0" and not best.sure:
            continue
        _tell(part, best, sought, sheet)
    if best.source.more and sought.whole and not best.source.sorted:
        sheet.write("rows_missing", own={"tool": best.source.tool.name})
    return bool(sheet.text)


def _tell(part: Part, best: Reading, sought: Sought, sheet: Sheet) -> None:
    if part.aim is Aim.COUNT:
        _count(part, best, sheet)
    elif part.aim is Aim.COMPARE:
        sheet.write(
            "counted_for",
            own={"label": one_line(part.label), "count": part.value, "tool": f"`{best.source.tool.name}`"},
        )
        _examples(part.rows, replace(best, grid=part.grid or best.grid), sheet)
    elif part.aim in {Aim.MOST, Aim.SUM, Aim.MEAN}:
        _computed(part, best, sheet)
    else:
        for row in part.rows[: max(sought.many, _ROWS if part.aim is Aim.FIELD else 1)]:
            _row(row, part.fields, best, sheet)
        if part.aim is Aim.FIELD and len(part.rows) > max(sought.many, _ROWS):
            sheet.write("rows_more", own={"tool": best.source.tool.name})


def _asked(best: Reading) -> str:
    shown = [f"{name}={value}" for name, value in best.source.arguments.items()]
    return f"`{best.source.tool.name}`" + (f" ({', '.join(shown)})" if shown else "")


def _filters(best: Reading, sheet: Sheet) -> str:
    """The fields that the rows were chosen by, with their values."""
    told = []
    for name in best.choice.by:
        values = dict.fromkeys(row.fields[name] for row in best.choice.rows if row.fields.get(name))
        if 0 < len(values) <= 2:
            told.append(f"{name} {', '.join(values)}")
    return ("；" if sheet.chinese else "; ").join(one_line(text) for text in told[:3])


def _count(part: Part, best: Reading, sheet: Sheet) -> None:
    by = _filters(best, sheet)
    own = {"tool": _asked(best), "by": (f"（{by}）" if sheet.chinese else f" ({by})") if by else ""}
    if not part.rows and part.value == "0":
        sheet.write("none", own=own)
    elif part.quoted:
        sheet.write("total_of", own=own, count=part.value)
    else:
        sheet.write("at_least" if best.source.more else "counted", own={**own, "count": part.value})
    _examples(part.rows, best, sheet)


def _examples(rows: Iterable[Row], best: Reading, sheet: Sheet) -> None:
    places = [place for row in rows if (place := best.grid.place(row)) and sheet.holds(place, place=True)]
    if places:
        joined = "、" if sheet.chinese else ", "
        sheet.add("such_as", own={"places": joined.join(f"`{one_line(p)}`" for p in dict.fromkeys(places[:3]))})


def _computed(part: Part, best: Reading, sheet: Sheet) -> None:
    key = {Aim.MOST: "most_rows", Aim.SUM: "summed", Aim.MEAN: "averaged"}[part.aim]
    field = part.fields[0]
    own = {"field": field, "label": one_line(part.label), "count": part.value, "tool": _asked(best)}
    if part.label and part.aim is not Aim.MOST:
        key = "summed_for"
    sheet.write(key, own=own)
    _examples(part.rows, best, sheet)


def _row(row: Row, fields: tuple[str, ...], best: Reading, sheet: Sheet) -> None:
    place = best.grid.place(row)
    if best.grid.lines or not place or not sheet.holds(place, place=True):
        _line(row, best, sheet)
        return
    joined = "；" if sheet.chinese else "; "
    told = [f"{name} {one_line(short(row.fields[name], _VALUE))}" for name in fields if row.fields.get(name)]
    others = [
        f"{name} {one_line(value)}"
        for name, value in row.fields.items()
        if name not in fields and value != place and len(value) <= _SHORT and sheet.holds(value)
    ]
    if told:
        sheet.write("thing", own={"text": joined.join(told)}, place=place)
        if others:
            sheet.add("beside", own={"text": ("，" if sheet.chinese else ", ").join(others[:_BESIDE])})
    else:
        sheet.write("thing", own={"text": joined.join(others[:_BESIDE])}, place=place)


def _line(row: Row, best: Reading, sheet: Sheet) -> None:
    """A line of text, cited by the thing whose text it is."""
    text = row.fields.get("text") or "; ".join(f"{n} {v}" for n, v in row.fields.items())
    about = next((str(v) for v in best.source.arguments.values() if sheet.holds(str(v))), "")
    about = about or next((str(v) for v in best.source.arguments.values()), best.source.tool.name)
    if all(sheet.holds(value) for value in row.fields.values()):
        sheet.write("said_by", own={"place": one_line(about), "text": one_line(short(text, _VALUE))})


def tell_data(need: Need, case: Case, sheet: Sheet) -> None:
    """The rows that the answer rests on, a line each."""
    sought = sought_of(case, need)
    best = best_reading(case, need, sought)
    if best is None or not (best.choice.rows or best.grid.rows):
        return
    sheet.write("other_heading", own={"tool": best.source.tool.name})
    _rows(best.choice.rows[:_ROWS] if best.fits else best.grid.rows[:_ROWS], sheet)
    for note in dict.fromkeys(n for call in best.source.calls for n in call.findings.notes):
        sheet.write("note", text=note)


def _rows(rows: Iterable[Row], sheet: Sheet) -> None:
    colon, comma = ("：", "；") if sheet.chinese else (": ", "; ")
    for row in rows:
        told = [f"{n}{colon}{one_line(short(v, _VALUE))}" for n, v in row.fields.items() if sheet.holds(v)]
        if told:
            sheet.write("unplaced_line", own={"text": comma.join(told[:10])})
