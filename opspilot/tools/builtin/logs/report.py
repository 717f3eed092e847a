"""What models see of a search: the tally as one JSON object of a few kilobytes. Pure."""

from datetime import datetime, tzinfo

from opspilot.core.messages import Json
from opspilot.tools.builtin.logs.search import Query
from opspilot.tools.builtin.logs.services import OtherServices
from opspilot.tools.builtin.logs.tally import Evidence, Group, Tally

_TOP_SHAPES = 10
_TOP_SHAPES_BESIDE_COUNTS = 5
_TOP_VALUES = 20
_NAMES_SHOWN = 20


def report(tally: Tally, query: Query, zone: tzinfo, others: OtherServices | None = None) -> dict[str, Json]:
    """The tool's result: what answers most questions comes first. `others` stand in for a service that isn't there."""
    result: dict[str, Json] = {"matched": tally.matched, "scanned": tally.scanned}
    notes = (
        _notes(tally, query, zone)
        if others is None
        else [_service_note(others, query.service), *_notes(tally, query, zone)]
    )
    if notes:
        result["notes"] = notes
    if query.count_by:
        result["counts"] = _counts(tally, query.count_by)
    result["by_level"] = dict(tally.levels.most_common())
    result["shapes"] = _shapes(tally, zone, _TOP_SHAPES_BESIDE_COUNTS if query.count_by else _TOP_SHAPES)
    result["lines"] = [_line(evidence, zone) for evidence in tally.newest_first()]
    if others is not None and others.surely is None:
        result["services"] = [{"service": name, "lines": lines} for name, lines in others.services[:_NAMES_SHOWN]]
        if others.near:
            result["did_you_mean"] = list(others.near)
    searched = [coverage for coverage in tally.files if coverage.lines]
    result["files"] = [
        {"file": coverage.name, "format": coverage.format, "lines": coverage.lines}
        for coverage in searched[:_NAMES_SHOWN]
    ]
    if len(searched) > _NAMES_SHOWN:
        result["more_files"] = len(searched) - _NAMES_SHOWN
    if tally.problems:
        result["problems"] = tally.problems[:_NAMES_SHOWN]
        if len(tally.problems) > _NAMES_SHOWN:
            result["more_problems"] = len(tally.problems) - _NAMES_SHOWN
    return result


def _notes(tally: Tally, query: Query, zone: tzinfo) -> list[str]:
    notes = []
    unfinished = [coverage for coverage in tally.files if not coverage.complete]
    if unfinished:
        whole = len(tally.files) - len(unfinished)
        notes.append(
            f"Time ran out: {whole} of {len(tally.files)} files were searched to the end; of "
            f"{unfinished[0].name} the first {unfinished[0].lines:,} lines. All counts are of that part."
        )
    if tally.repeated_lines:
        notes.append(
            f"{tally.repeated_lines} of these lines say 'message repeated N times' and stand for "
            f"{tally.repeated_events} events; each is counted as one line."
        )
    if tally.yearless_files:
        names = ", ".join(sorted(tally.yearless_files)[:3])
        notes.append(f"The times in {names} have no year; the latest possible one is assumed.")
    if tally.without_level:
        notes.append(
            f"{tally.without_level:,} otherwise fitting lines have no level and were not counted as {query.level}."
        )
    if tally.without_time:
        notes.append(f"{tally.without_time:,} otherwise fitting lines have no time and were left out.")
    if not tally.matched and (query.since is not None or query.until is not None) and tally.newest is not None:
        notes.append(f"The lines searched are from {_iso(tally.oldest, zone)} to {_iso(tally.newest, zone)}.")
    if not tally.matched and query.text:
        notes.append("No line contains the text as it stands: try fewer or other words.")
    return notes


def _counts(tally: Tally, count_by: str) -> dict[str, Json]:
    ranked = sorted(tally.values.items(), key=lambda item: (-item[1].count, item[0]))
    rest = ranked[_TOP_VALUES:]
    counts: dict[str, Json] = {
        "by": count_by,
        "distinct": len(ranked),
        "top": [
            {"value": value, "count": group.count, **_where(group.example)} for value, group in ranked[:_TOP_VALUES]
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


def _shapes(tally: Tally, zone: tzinfo, top: int) -> list[Json]:
    ranked = sorted(tally.shapes.items(), key=lambda item: (-item[1].count, item[0][0]))
    rows: list[Json] = [
        {
            "count": group.count,
            "shape": shape,
            **({"level": level} if level is not None else {}),
            **_times(group, zone),
            **_where(group.example),
        }
        for (shape, level), group in ranked[:top]
    ]
    rest = sum(group.count for _, group in ranked[top:]) + tally.unshaped
    if rest:
        rows.append({"count": rest, "shape": f"({len(ranked) - top:,} other shapes)"})
    return rows


def _times(group: Group, zone: tzinfo) -> dict[str, Json]:
    return {"first": _iso(group.first, zone), "last": _iso(group.last, zone)} if group.first is not None else {}


def _where(evidence: Evidence) -> dict[str, Json]:
    return {"file": evidence.file, "line": evidence.line}


def _line(evidence: Evidence, zone: tzinfo) -> dict[str, Json]:
    row: dict[str, Json] = {"file": evidence.file, "line": evidence.line, "time": _iso(evidence.time, zone)}
    row |= {"level": evidence.level, "service": evidence.service, "text": evidence.text}
    return {key: value for key, value in row.items() if value is not None}


def _service_note(others: OtherServices, wanted: str) -> str:
    if others.surely is not None:
        return f"There is no service {wanted!r}; these are the lines of {others.surely!r}."
    return f"There is no service {wanted!r} in these logs."


def _iso(seconds: float | None, zone: tzinfo) -> str | None:
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, zone).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (OverflowError, OSError, ValueError):
        return None
