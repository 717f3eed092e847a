"""The tool `search_logs`: finds and counts lines in log files. Owns what models see of it; the search is in `logs`."""

import difflib
import re
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import regex
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from opspilot.core.messages import Json
from opspilot.core.ports import CallContext
from opspilot.tools.builtin.logs.files import LogFile, find_logs
from opspilot.tools.builtin.logs.levels import Level, level_named
from opspilot.tools.builtin.logs.search import PatternTooSlow, Query, normal_service, search
from opspilot.tools.builtin.logs.tally import Evidence, Group, Tally
from opspilot.tools.spec import Tool, ToolError, ToolPlace, tool

_TOP_SHAPES = 10
_TOP_SHAPES_BESIDE_COUNTS = 5
_TOP_VALUES = 20
_NAMES_SHOWN = 20
_MAX_LIMIT = 50
_RELATIVE = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s*(s|sec\w*|m|min\w*|h|hour\w*|hr\w*|d|day\w*|w|week\w*)(?:\s+ago)?")
_UNIT_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


class Config(BaseModel):
    """Settings of `[tools.search_logs]`. `path` is a file, or a folder that is searched with all folders below it."""

    model_config = ConfigDict(extra="forbid")

    path: Path
    exclude: tuple[str, ...] = ("LICENSE*", "README*", "*.md")
    """Names of files that are no logs, with `*` and `?`."""
    timezone: str = "UTC"
    """Time zone of times in the logs that don't say theirs, and of times in results, such as `Europe/Berlin`."""
    seconds: float = Field(default=20.0, gt=0, le=600)
    """A search stops after this time and says what it has covered."""

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (OSError, ValueError) as error:
            raise ValueError(f"there is no time zone {value!r}; write it like UTC or Europe/Berlin") from error
        return value


def build(name: str, config: Config, place: ToolPlace) -> Tool:
    """The tool for one file or folder of logs. A folder that isn't there is reported when the tool is called."""
    root = place.base / config.path
    zone = UTC if config.timezone == "UTC" else ZoneInfo(config.timezone)

    def search_logs(  # noqa: PLR0913 - each is a parameter that models are shown
        context: CallContext,
        *,
        service: Annotated[
            str, Field(description="Only lines of this service or program (its name in any case).")
        ] = "",
        level: Annotated[
            Level | None,
            BeforeValidator(_any_spelling),
            Field(description="Only lines of this level or worse: error finds error and critical. Leave out for all."),
        ] = None,
        text: Annotated[
            str,
            Field(max_length=500, description="Only lines that contain this text as it stands here, in any case."),
        ] = "",
        pattern: Annotated[
            str,
            Field(max_length=1000, description="Only lines that this regular expression (Python syntax) is found in."),
        ] = "",
        since: Annotated[
            str, Field(description="Only lines from this time on: ISO 8601, or how long ago, such as 30m, 2h or 1d.")
        ] = "",
        until: Annotated[str, Field(description="Only lines up to this time: ISO 8601, or how long ago.")] = "",
        file: Annotated[str, Field(description="Only files whose path contains this (in any case).")] = "",
        count_by: Annotated[
            str,
            Field(
                max_length=100,
                description="Count the matching lines by this and list the most frequent first. One of: host (the "
                "remote host or IP address that a line's text speaks of), level, service, shape, file, minute, hour, "
                "day; any field of the lines, such as user, status or request; or a group of pattern, by its name or "
                "number.",
            ),
        ] = "",
        limit: Annotated[
            int, Field(ge=0, le=_MAX_LIMIT, description="How many of the latest matching lines to return.")
        ] = 10,
    ) -> dict[str, Json]:
        deadline = time.monotonic() + config.seconds
        now = datetime.now(zone)
        query = Query(
            text=text,
            pattern=_compiled(pattern),
            level=level,
            service=service,
            since=_moment(since, "since", now),
            until=_moment(until, "until", now),
            count_by=count_by.strip(),
            limit=limit,
        )
        files, problems = _chosen(name, root, config.exclude, file)
        try:
            tally = search(files, query, zone, deadline, context.cancelled)
        except PatternTooSlow as error:
            raise ToolError(
                f"The pattern takes too long on {error.where}. Repetitions inside repetitions, such as (a+)+, are the "
                "usual cause: write a simpler pattern, or use text."
            ) from error
        tally.problems[:0] = problems
        return _result(tally, query, zone)

    search_logs.__doc__ = _description(root, config.exclude)
    return tool(name=name, effect="read", timeout_seconds=config.seconds + 10.0)(search_logs)


def _any_spelling(value: object) -> object:
    """`ERROR`, `warn` and `fatal` are levels too, and an empty one is none."""
    if not isinstance(value, str):
        return value
    return level_named(value) or value or None


def _description(root: Path, exclude: Sequence[str]) -> str:
    text = (
        "Search log files: find lines and count them. Use it for what happened in a service, its recent errors, when "
        "something began, and for questions such as which hosts, users or messages are most frequent (count_by).\n"
        "Returns how many lines match (counts are of lines, over everything that matches, not only the lines shown), "
        "the counts asked for with count_by, counts by level, the most frequent message shapes (numbers, addresses "
        "and ids masked) with an example, and the latest matching lines with file and line number."
    )
    try:
        names = [file.name for file in find_logs(root, exclude)[0]] if root.exists() else []
    except OSError:
        names = []
    if names:
        more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
        text += f"\nFiles: {', '.join(sorted(names)[:_NAMES_SHOWN])}{more}."
    return text


def _chosen(name: str, root: Path, exclude: Sequence[str], wanted: str) -> tuple[list[LogFile], list[str]]:
    if not root.exists():
        raise ToolError(f"There are no logs: {root} does not exist. It is the setting path of [tools.{name}].")
    files, problems = find_logs(root, exclude)
    chosen = [file for file in files if wanted.strip().casefold() in file.name.casefold()]
    if not chosen and files:
        names = ", ".join(file.name for file in files[:_NAMES_SHOWN])
        raise ToolError(f"No log file's path contains {wanted!r}. There are: {names}.")
    if not files:
        because = f" ({'; '.join(problems[:3])})" if problems else ""
        raise ToolError(f"There are no log files in {root}, the setting path of [tools.{name}]{because}.")
    return chosen, problems


def _compiled(pattern: str) -> "regex.Pattern[str] | None":
    if not pattern:
        return None
    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise ToolError(f"The pattern is not a regular expression: {error}.") from error
    except RecursionError as error:
        raise ToolError("The pattern is nested too deeply.") from error


def _moment(value: str, parameter: str, now: datetime) -> float | None:
    text = value.strip()
    if not text:
        return None
    relative = _RELATIVE.fullmatch(re.sub(r"^(?:-|(?:the )?(?:last|past) )", "", text.lower()))
    if relative is not None:
        return now.timestamp() - float(relative[1]) * _UNIT_SECONDS[relative[2][0]]
    days_back = {"now": None, "today": 0, "yesterday": 1}
    if text.lower() in days_back:
        back = days_back[text.lower()]
        if back is None:
            return now.timestamp()
        return (now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=back)).timestamp()
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=now.tzinfo)).timestamp()
    except (ValueError, OverflowError) as error:
        raise ToolError(
            f"{parameter} can't be {value[:100]!r}: write an ISO 8601 time such as 2026-11-30T12:00:00Z, or how long "
            "ago, such as 30m, 2h or 1d."
        ) from error


# ---------------------------------------------------------------- the result


def _result(tally: Tally, query: Query, zone: tzinfo) -> dict[str, Json]:
    result: dict[str, Json] = {"matched": tally.matched, "scanned": tally.scanned}
    notes = _notes(tally, query, zone)
    if notes:
        result["notes"] = notes
    if query.count_by:
        result["counts"] = _counts(tally, query.count_by)
    result["by_level"] = dict(tally.levels.most_common())
    result["shapes"] = _shapes(tally, zone, _TOP_SHAPES_BESIDE_COUNTS if query.count_by else _TOP_SHAPES)
    result["lines"] = [_line(evidence, zone) for evidence in tally.newest_first()]
    if (
        tally.matched == 0
        and query.service
        and normal_service(query.service) not in map(normal_service, tally.services)
    ):
        result |= _other_services(tally, query.service)
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


def _other_services(tally: Tally, wanted: str) -> Mapping[str, Json]:
    names = {normal_service(name): name for name in tally.services}
    near = difflib.get_close_matches(normal_service(wanted), names, n=3, cutoff=0.6)
    near += [name for name in names if normal_service(wanted) in name or name in normal_service(wanted)]
    found: dict[str, Json] = {
        "note": f"No line is of a service named {wanted!r}.",
        "services": [{"service": name, "lines": count} for name, count in tally.services.most_common(_NAMES_SHOWN)],
    }
    if near:
        found["did_you_mean"] = [names[name] for name in dict.fromkeys(near)][:3]
    return found


def _iso(seconds: float | None, zone: tzinfo) -> str | None:
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, zone).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (OverflowError, OSError, ValueError):
        return None
