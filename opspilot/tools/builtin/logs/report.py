"""What models see of a search: the tally as one JSON object of a few kilobytes. Pure."""

from collections.abc import Mapping
from datetime import datetime, tzinfo

from opspilot.core.messages import Json
from opspilot.tools.builtin.logs.context import Around
from opspilot.tools.builtin.logs.evidence import Evidence, Group
from opspilot.tools.builtin.logs.matching import Query
from opspilot.tools.builtin.logs.services import OtherServices
from opspilot.tools.builtin.logs.tally import Coverage, Tally

_TOP_SHAPES = 10
_TOP_SHAPES_BESIDE_COUNTS = 5
_TOP_VALUES = 20
_NAMES_SHOWN = 20


def report(
    tally: Tally,
    query: Query,
    zone: tzinfo,
    others: OtherServices | None = None,
    around: Mapping[tuple[str, int], Around] | None = None,
) -> dict[str, Json]:
    """The tool's result: what answers most questions comes first. `others` stand in for a service that isn't there."""
    untold = query.level is not None and not tally.matched and 0 < tally.scanned == tally.without_level
    result: dict[str, Json] = {"matched": None if untold else tally.matched, "scanned": tally.scanned}
    notes = _notes(tally, query, zone)
    if others is not None:
        notes.insert(0, _service_note(others, query.service))
    if notes:
        result["notes"] = notes
    if query.sort_by:
        result["numbers"] = _numbers(tally, query.sort_by)
    if query.count_by:
        result["counts"] = _counts(tally, query.count_by)
    lines: list[Json] = [_line(evidence, zone, around or {}) for evidence in tally.best_first()]
    if query.sort_by:
        result["lines"] = lines
    result["by_level"] = dict(tally.levels.most_common())
    brief = bool(query.count_by or query.sort_by)
    result["shapes"] = _shapes(tally, zone, _TOP_SHAPES_BESIDE_COUNTS if brief else _TOP_SHAPES)
    result["lines"] = lines
    if others is not None and others.surely is None:
        result["services"] = [{"service": name, "lines": lines} for name, lines in others.services[:_NAMES_SHOWN]]
        if others.near:
            result["did_you_mean"] = list(others.near)
    searched = [coverage for coverage in tally.files if coverage.lines]
    result["files"] = [_file(coverage) for coverage in searched[:_NAMES_SHOWN]]
    if len(searched) > _NAMES_SHOWN:
        result["more_files"] = len(searched) - _NAMES_SHOWN
    if tally.problems:
        result["problems"] = tally.problems[:_NAMES_SHOWN]
        if len(tally.problems) > _NAMES_SHOWN:
            result["more_problems"] = len(tally.problems) - _NAMES_SHOWN
    return result


def _file(coverage: Coverage) -> dict[str, Json]:
    row: dict[str, Json] = {"file": coverage.name, "format": coverage.format, "lines": coverage.lines}
    if coverage.family not in ("", coverage.name):
        row["rotated_from"] = coverage.family
    return row


def _notes(tally: Tally, query: Query, zone: tzinfo) -> list[str]:
    notes = []
    unfinished = [coverage for coverage in tally.files if not coverage.complete]
    if unfinished:
        whole = len(tally.files) - len(unfinished)
        part = unfinished[0]
        where = f"{part.lines:,} lines from line {part.first_line:,} on" if part.first_line > 1 else ""
        notes.append(
            f"Time ran out: {whole} of {len(tally.files)} files were searched to the end; of "
            f"{part.name} {where or f'the first {part.lines:,} lines'}. All counts are of that part."
        )
    notes += [note for coverage in tally.files if (note := _range_note(coverage))]
    if tally.several_lines:
        notes.append(
            f"{tally.several_lines:,} of the matches have several lines, such as stack traces; each is counted once, "
            "at the line that it begins with."
        )
    if tally.repeated_lines:
        notes.append(
            f"{tally.repeated_lines} of these lines say 'message repeated N times' and stand for "
            f"{tally.repeated_events} events; each is counted as one line."
        )
    if tally.yearless_files:
        names = ", ".join(sorted(tally.yearless_files)[:3])
        notes.append(f"The times in {names} have no year; the latest possible one is assumed.")
    if query.level is not None and tally.matched and any(file.status_levels for file in tally.files):
        notes.append("Levels of access logs are those of the status: 5xx is error, 4xx warning.")
    if tally.without_level and tally.without_level == tally.scanned:
        names = ", ".join(coverage.name for coverage in tally.files[:_NAMES_SHOWN] if coverage.lines)
        notes.append(
            f"Levels are not recognised in {names}: how many lines are {query.level} can't be told. Search by text."
        )
    elif tally.without_level:
        notes.append(
            f"{tally.without_level:,} otherwise fitting lines have no level and were not counted as {query.level}."
        )
    if tally.without_time:
        notes.append(f"{tally.without_time:,} otherwise fitting lines have no time and were left out.")
    if not tally.matched and query.has_range and tally.newest is not None and not tally.sieved:
        notes.append(f"The lines searched are from {_iso(tally.oldest, zone)} to {_iso(tally.newest, zone)}.")
    if not tally.matched and query.text:
        notes.append("No line contains the text as it stands: try fewer or other words.")
    return notes


def _range_note(coverage: Coverage) -> str:
    if coverage.disordered:
        return f"{coverage.name} is not in order by time, so that all of it had to be read for the time range."
    if not coverage.sought or not coverage.complete:
        return ""
    first = f"from line {coverage.first_line:,} on " if coverage.first_line else ""
    return (
        f"Of {coverage.name} only the {coverage.lines:,} lines {first}that the time range lies in were read: the file "
        f"is in order by time at all {coverage.places:,} places that were looked at."
    )


def _numbers(tally: Tally, sort_by: str) -> dict[str, Json]:
    numbers = tally.numbers
    result: dict[str, Json] = {"by": sort_by, "count": numbers.count}
    if numbers.count:
        median, high = numbers.percentiles(50, 95)
        result |= {
            "max": _round(numbers.largest),
            "p95": _round(high),
            "median": _round(median),
            "mean": _round(numbers.total / numbers.count),
            "min": _round(numbers.smallest),
        }
        units = [unit for unit in numbers.units if unit]
        if len(numbers.units) == 1 and units:
            result["unit"] = units[0]
        elif units:
            said = ", ".join(f"{count:,} in {unit or 'no unit'}" for unit, count in numbers.units.items())
            result["note"] = f"Not all of these have the same unit ({said}): times were made seconds, sizes bytes."
        if numbers.sampled:
            result["estimated"] = "median and p95 are of a random sample of a million"
    if tally.numberless:
        result["without"] = tally.numberless
    if tally.numberless and not numbers.count:
        names = [name for name, _ in tally.field_names.most_common(_NAMES_SHOWN)]
        result["note"] = f"No matching line has a number {sort_by!r}. " + (
            f"Numbers in them: {', '.join(names)}." if names else "Use a group of pattern that captures one."
        )
    return result


def _round(number: float) -> Json:
    """Without the noise of binary fractions; whole numbers as such."""
    exact = float(f"{number:.9g}")
    return int(exact) if exact.is_integer() and abs(exact) < 1e15 else exact


def _counts(tally: Tally, count_by: str) -> dict[str, Json]:
    ranked = sorted(tally.values.items(), key=lambda item: (-item[1].count, item[0]))
    rest = ranked[_TOP_VALUES:]
    counts: dict[str, Json] = {
        "by": count_by,
        "distinct": len(ranked),
        "top": [
            {"value": value, "count": group.count, **_group_numbers(group), **_where(group)}
            for value, group in ranked[:_TOP_VALUES]
        ],
    }
    if rest or tally.untracked_values:
        counts["others"] = {
            "values": len(rest),
            "count": sum(group.count for _, group in rest) + tally.untracked_values,
        }
    if tally.valueless:
        counts["without"] = tally.valueless
    if tally.valueless and not ranked:
        fields = [field for field, _ in tally.field_names.most_common(_NAMES_SHOWN)]
        counts["note"] = f"No matching line has {count_by!r}. " + (
            f"Their fields: {', '.join(fields)}." if fields else "Use a group of pattern instead."
        )
    return counts


def _group_numbers(group: Group) -> dict[str, Json]:
    if not group.numbers:
        return {}
    return {"max": _round(group.largest), "mean": _round(group.total / group.numbers)}


def _shapes(tally: Tally, zone: tzinfo, top: int) -> list[Json]:
    ranked = sorted(tally.shapes.ranked(), key=lambda row: (-row[2].count, row[0]))
    rows: list[Json] = [
        {
            "count": group.count,
            "shape": shape,
            **({"level": level} if level is not None else {}),
            **_times(group, zone),
            **_where(group),
            **({"example": group.example} if group.example != shape else {}),
        }
        for shape, level, group in ranked[:top]
    ]
    rest = sum(group.count for _, _, group in ranked[top:]) + tally.unshaped
    if rest:
        more = "at least " if tally.unshaped else ""
        rows.append({"count": rest, "shape": f"({more}{len(ranked) - top:,} other shapes)"})
    return rows


def _times(group: Group, zone: tzinfo) -> dict[str, Json]:
    return {"first": _iso(group.first, zone), "last": _iso(group.last, zone)} if group.first is not None else {}


def _where(found: Evidence | Group) -> dict[str, Json]:
    """The number of the line; where that isn't known, the byte at which it begins."""
    return {"file": found.file, **({"line": found.line} if found.line else {"byte": found.offset})}


def _line(evidence: Evidence, zone: tzinfo, around: Mapping[tuple[str, int], Around]) -> dict[str, Json]:
    row: dict[str, Json] = {"value": _round(evidence.value) if evidence.value is not None else None}
    row |= {**_where(evidence), "lines": evidence.lines if evidence.lines > 1 else None}
    row |= {"time": _iso(evidence.time, zone), "level": evidence.level, "service": evidence.service}
    row["text"] = evidence.text
    before, after = around.get((evidence.file, evidence.offset), (None, None))
    row |= {"before": before, "after": after}
    return {key: value for key, value in row.items() if value is not None}


def _service_note(others: OtherServices, wanted: str) -> str:
    if others.surely is not None:
        return f"There is no service {wanted!r}; these are the lines of {others.surely!r}."
    where = "these logs" if others.certain else "the part that was looked at"
    counted = f" Services were counted in {others.counted:,} lines." if others.counted else ""
    return f"There is no service {wanted!r} in {where}.{counted}"


def _iso(seconds: float | None, zone: tzinfo) -> str | None:
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, zone).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (OverflowError, OSError, ValueError):
        return None
