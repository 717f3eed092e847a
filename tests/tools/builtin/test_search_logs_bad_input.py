"""Logs and arguments that are not as they should be: each is said, and nothing else is lost."""

import gzip
import os
from pathlib import Path

import pytest

from opspilot.tools.builtin.logs.chunks import MAX_LINE_BYTES
from opspilot.tools.spec import Tool, ToolError
from tests.tools.builtin.calls import BuildTool, CallTool


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with one good log, whose two errors must be found whatever lies beside it."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "good.log").write_text("ERROR one\nfine\nERROR two\n")
    return folder


@pytest.fixture
def tool(build_tool: BuildTool, logs: Path) -> Tool:
    return build_tool("search_logs", path="logs")


def test_a_folder_that_is_not_there_is_named_with_its_setting(build_tool: BuildTool, run_tool: CallTool) -> None:
    with pytest.raises(ToolError, match=r"nowhere does not exist\. It is the setting path of \[tools\.search_logs\]"):
        run_tool(build_tool("search_logs", path="nowhere"))


def test_an_empty_folder_is_said(build_tool: BuildTool, run_tool: CallTool, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ToolError, match="There are no log files in"):
        run_tool(build_tool("search_logs", path="empty"))


def test_a_dangling_link_is_a_problem_and_the_rest_is_searched(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "gone.log").symlink_to("nowhere")
    result = run_tool(tool, {"level": "error"})
    assert result["matched"] == 2
    assert result["problems"] == ["gone.log can't be read: No such file or directory"]


def test_a_log_that_may_not_be_read_is_a_problem_and_the_rest_is_searched(
    tool: Tool, run_tool: CallTool, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File modes don't bind root, as whom tests may run: refusing `open` does."""
    (logs / "secret.log").write_text("ERROR hidden\n")
    really_open = Path.open

    def refuse(path: Path, *arguments: object, **more: object) -> object:
        if path.name == "secret.log":
            raise PermissionError(13, "Permission denied", str(path))
        return really_open(path, *arguments, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", refuse)
    result = run_tool(tool, {"level": "error"})
    assert result["matched"] == 2
    assert result["problems"] == ["secret.log can't be read: Permission denied"]


def test_a_pipe_is_never_waited_for(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    os.mkfifo(logs / "pipe.log")
    result = run_tool(tool, {"level": "error"})
    assert result["matched"] == 2
    assert result["problems"] == ["pipe.log can't be read: it is not a regular file"]


def test_links_are_followed_inside_the_folder_and_nowhere_else(
    build_tool: BuildTool, run_tool: CallTool, logs: Path
) -> None:
    """What is configured may itself be a link, a file as well as a folder."""
    (logs.parent / "secret").write_text("ERROR secret\n")
    (logs / "out.log").symlink_to("../secret")
    (logs / "current.log").symlink_to("good.log")
    (logs.parent / "linked").symlink_to(logs)
    (logs.parent / "one.log").symlink_to("logs/good.log")
    for folder in ("logs", "linked"):
        tool = build_tool("search_logs", path=folder)
        result = run_tool(tool, {"level": "error"})
        assert result["matched"] == 4
        assert result["problems"] == ["out.log can't be read: it is a link that leads out of the folder"]
        assert "out.log" not in tool.description
    assert run_tool(build_tool("search_logs", path="one.log"), {"level": "error"})["matched"] == 2


def test_a_folder_named_like_a_log_is_looked_into(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "web.log").mkdir()
    (logs / "web.log" / "a").write_text("ERROR three\n")
    assert run_tool(tool, {"level": "error"})["matched"] == 3


def test_a_line_of_ten_megabytes_is_cut_and_the_lines_after_it_keep_their_numbers(
    tool: Tool, run_tool: CallTool, logs: Path
) -> None:
    size = 10 * 1024 * 1024
    (logs / "long.log").write_bytes(b"ERROR start " + b"x" * (size - 12) + b"\r\nERROR after\n")
    result = run_tool(tool, {"text": "error"})
    lines = {(line["file"], line["line"]): line["text"] for line in result["lines"]}
    assert lines["long.log", 2] == "ERROR after"
    assert len(lines["long.log", 1]) < 400
    assert result["problems"] == [
        f"long.log line 1 is {size:,} bytes long; only the first {MAX_LINE_BYTES:,} were looked at"
    ]


def test_a_long_line_is_shown_around_what_was_found(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "long.log").write_text("x" * 5_000 + " needle " + "y" * 5_000 + "\n")
    text = run_tool(tool, {"text": "needle"})["lines"][0]["text"]
    assert "needle" in text
    assert text.startswith("…")
    assert text.endswith("…")


def test_invalid_utf_8_is_replaced(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "latin.log").write_bytes(b"ERROR caf\xe9 \xff\xfe\nERROR next\n")
    lines = run_tool(tool, {"file": "latin", "level": "error"})["lines"]
    assert [line["text"] for line in lines] == ["ERROR next", "ERROR caf\ufffd \ufffd\ufffd"]


def test_half_a_surrogate_pair_in_json_does_no_harm(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "half.log").write_text('{"level": "error", "service": "a\\ud800", "msg": "b\\udfff"}\n')
    assert run_tool(tool, {"file": "half", "count_by": "service"})["matched"] == 1


def test_a_damaged_gzip_is_searched_as_far_as_it_goes(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    whole = gzip.compress(
        b"".join(b"ERROR %d %s\n" % (number, os.urandom(30).hex().encode()) for number in range(2000))
    )
    (logs / "old.log.gz").write_bytes(whole[: len(whole) // 2])
    result = run_tool(tool, {"level": "error"})
    assert 2 < result["matched"] < 2002
    assert "old.log.gz can't be read after line" in result["problems"][0]


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("core.log", bytes(range(32)) * 200, "core.log is not text"),
        ("a.log.bz2", b"BZh91AY&SY", "a.log.bz2 is compressed with bzip2; plain and gzip files are searched"),
    ],
)
def test_what_is_no_text_is_a_problem(
    tool: Tool, run_tool: CallTool, logs: Path, name: str, data: bytes, problem: str
) -> None:
    (logs / name).write_bytes(data)
    result = run_tool(tool, {"level": "error"})
    assert (result["matched"], result["problems"]) == (2, [problem])


def test_zero_bytes_that_a_crash_left_do_not_hide_a_log(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "crash.log").write_bytes(b"ERROR before\n" * 20 + b"\x00" * 100 + b"\nERROR after\n")
    assert run_tool(tool, {"file": "crash", "level": "error"})["matched"] == 21


def test_a_pattern_that_is_none_is_refused_with_the_reason(tool: Tool, run_tool: CallTool) -> None:
    with pytest.raises(ToolError, match=r"not a regular expression: .*at position 5"):
        run_tool(tool, {"pattern": "(oops"})


def test_a_pattern_that_would_take_for_ever_is_stopped(tool: Tool, run_tool: CallTool, logs: Path) -> None:
    (logs / "trap.log").write_text("a" * 60 + "!\n")
    with pytest.raises(ToolError, match=r"takes too long on trap\.log:1"):
        run_tool(tool, {"pattern": r"^(a|aa|a?a)+$", "file": "trap"})
