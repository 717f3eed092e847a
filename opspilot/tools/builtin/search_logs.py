"""The tool `search_logs`: finds and counts lines in log files. Owns what models see of it; the search is in `logs`."""

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import regex
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from opspilot.core.messages import Json
from opspilot.core.ports import CallContext
from opspilot.tools.builtin.logs.context import lines_around
from opspilot.tools.builtin.logs.files import LogFile, find_logs
from opspilot.tools.builtin.logs.levels import Level, level_named
from opspilot.tools.builtin.logs.matching import PatternTooSlow, Query
from opspilot.tools.builtin.logs.repetitions import MAX_SIZE, NotCounted, compiled_size
from opspilot.tools.builtin.logs.report import report
from opspilot.tools.builtin.logs.search import search
from opspilot.tools.builtin.logs.services import OtherServices, unknown_service
from opspilot.tools.builtin.logs.tally import Tally
from opspilot.tools.spec import Tool, ToolError, ToolPlace, tool

_NAMES_SHOWN = 20
_MAX_LIMIT = 50
_MAX_CONTEXT = 20
_CENSUS_SECONDS = 5.0
_RELATIVE = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s*(s|sec\w*|m|min\w*|h|hour\w*|hr\w*|d|day\w*|w|week\w*)(?:\s+ago)?")
_UNIT_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


class Config(BaseModel):
    """Settings of `[tools.search_logs]`. `path` is a file, or a folder that is searched with all folders below it.

    Links that lead out of the folder are not followed.
    """

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
        except (KeyError, OSError, ValueError) as error:
            raise ValueError(f"there is no time zone {value!r}; write it like UTC or Europe/Berlin") from error
        return value


def build(name: str, config: Config, place: ToolPlace) -> Tool:
    """The tool for one file or folder of logs. A folder that isn't there is reported when the tool is called."""
    root = place.base / config.path.expanduser()
    zone = UTC if config.timezone == "UTC" else ZoneInfo(config.timezone)

    def search_logs(  # noqa: PLR0913 - each is a parameter that models are shown
        call: CallContext,
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
        sort_by: Annotated[
            str,
            Field(
                max_length=100,
                description="Rank the matching lines by a number in them, the largest first, instead of by time, and "
                "give its minimum, median and maximum. duration (how long something took: the slowest requests), size "
                "(in bytes), any numeric field, a number after a name in the text such as time: 0.25, or a group of "
                "pattern.",
            ),
        ] = "",
        ascending: Annotated[bool, Field(description="With sort_by: the smallest number first.")] = False,
        context: Annotated[
            int,
            Field(ge=0, le=_MAX_CONTEXT, description="How many lines before and after each returned line to show."),
        ] = 0,
        limit: Annotated[
            int,
            Field(ge=0, le=_MAX_LIMIT, description="How many matching lines to return: the latest, or by sort_by."),
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
            sort_by=sort_by.strip(),
            ascending=ascending,
            limit=limit,
        )
        files, problems = _chosen(name, root, config.exclude, file)
        try:
            tally = search(files, query, zone, deadline, call.cancelled)
            others = None if tally.matched or not service else _instead(service, tally, files, zone, deadline)
            if others is not None and others.surely is not None:
                tally = search(files, replace(query, service=others.surely), zone, deadline, call.cancelled)
        except PatternTooSlow as error:
            raise ToolError(
                f"The pattern takes too long on {error.where}. Repetitions inside repetitions, such as (a+)+, are the "
                "usual cause: write a simpler pattern, or use text."
            ) from error
        tally.problems[:0] = problems
        paths = {file.name: file.path for file in files}
        around = (
            lines_around(
                tally.best_first(), context, paths, lambda: time.monotonic() > deadline + 2 or call.cancelled()
            )
            if context
            else {}
        )
        return report(tally, query, zone, others, around)

    search_logs.__doc__ = _description(root, config.exclude)
    return tool(name=name, effect="read", timeout_seconds=config.seconds + 10.0)(search_logs)


def _instead(service: str, tally: Tally, files: list[LogFile], zone: tzinfo, deadline: float) -> OtherServices | None:
    """What there is instead of a service that has no line; None when it is there, but for what else was asked."""
    if not tally.sieved:
        certain = all(coverage.complete for coverage in tally.files)
        others = unknown_service(service, tally.services, files)
        return None if others is None else replace(others, certain=certain)
    alone = Query(service=service, limit=0)
    there = search(files, alone, zone, deadline)
    if there.matched:
        return None
    census = search(files, alone, zone, min(deadline, time.monotonic() + _CENSUS_SECONDS), whole=True)
    others = unknown_service(service, census.services, files)
    if others is None:
        return None
    certain = all(coverage.complete for coverage in there.files)
    counted = 0 if all(coverage.complete for coverage in census.files) else census.scanned
    return replace(others, certain=certain, counted=counted)


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
        size = compiled_size(pattern)
    except NotCounted as error:
        raise ToolError("The pattern can't have the flag x: write it without white space and comments.") from error
    if size > MAX_SIZE:
        raise ToolError(
            f"The pattern repeats too much: its counts, such as {{1000}}, come to {size:.1e} steps, and {MAX_SIZE:,} "
            "are allowed. Make the counts smaller, use + or *, or don't put one repetition inside another."
        )
    try:
        return regex.compile(pattern, regex.MULTILINE)
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
