"""The tool `read_file`: it reads what lies in its folders, and nothing else however it is asked."""

import gzip
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opspilot.tools.spec import Tool, ToolError
from tests.tools.builtin.calls import BuildTool, CallTool


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "en").mkdir(parents=True)
    (folder / "en" / "pool.md").write_text("".join(f"line {number}\r\n" for number in range(1, 31)))
    (folder / ".env").write_text("SECRET=1\n")
    (tmp_path / "secret.txt").write_text("SECRET outside\n")
    return folder


@pytest.fixture
def tool(build_tool: BuildTool, docs: Path) -> Tool:
    return build_tool("read_file", path="docs")


def test_lines_are_read_by_their_numbers(tool: Tool, run_tool: CallTool) -> None:
    assert run_tool(tool, {"path": "en/pool.md", "line": 5, "lines": 3}) == {
        "file": "en/pool.md",
        "from_line": 5,
        "to_line": 7,
        "text": "line 5\nline 6\nline 7",
        "total_lines": 30,
        "next_line": 8,
    }
    assert "next_line" not in run_tool(tool, {"path": "en/pool.md"})


def test_reading_on_adds_up_to_the_file(tool: Tool, run_tool: CallTool, docs: Path) -> None:
    text = "".join(f"{number} {'x' * (number * 7 % 300)}\n" for number in range(500)) + "end without a line feed"
    (docs / "long.txt").write_text(text)
    read: list[str] = []
    line: int | None = 1
    while line is not None:
        page = run_tool(tool, {"path": "long.txt", "line": line, "lines": 400})
        assert len(page["text"]) <= 8_000
        read.append(page["text"])
        line = page.get("next_line")
    assert "\n".join(read) == text
    assert len(read) > 5


def test_a_long_line_is_cut_and_the_next_keeps_its_number(tool: Tool, run_tool: CallTool, docs: Path) -> None:
    (docs / "long.txt").write_text("x" * 300_000 + "\nnext\n")
    page = run_tool(tool, {"path": "long.txt"})
    assert (page["total_lines"], page["text"][-6:]) == (2, "…\nnext")
    assert len(page["text"]) < 2_100


def test_an_empty_file_has_no_lines(tool: Tool, run_tool: CallTool, docs: Path) -> None:
    (docs / "empty.txt").write_text("")
    assert run_tool(tool, {"path": "empty.txt"}) == {
        "file": "empty.txt",
        "from_line": 1,
        "to_line": 0,
        "text": "",
        "total_lines": 0,
    }


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "en/../../secret.txt",
        "en/../en/pool.md",
        "/etc/passwd",
        "~/x",
        "C:\\x",
        "..\\secret.txt",
        "en\\..\\..\\secret.txt",
        ".env",
        "en/.hidden",
        "a\x00b",
        "link.txt",
        "folder-link/secret.txt",
        "to-env.txt",
        "docs/../../secret.txt",
    ],
)
def test_no_path_leads_out_of_the_folder_or_to_what_is_hidden(
    tool: Tool, run_tool: CallTool, docs: Path, tmp_path: Path, path: str
) -> None:
    (docs / "link.txt").symlink_to(tmp_path / "secret.txt")
    (docs / "folder-link").symlink_to(tmp_path)
    (docs / "to-env.txt").symlink_to(docs / ".env")
    with pytest.raises(ToolError) as refused:
        run_tool(tool, {"path": path})
    assert "SECRET" not in str(refused.value)


PARTS = st.sampled_from(
    ["..", ".", "/", "en", "docs", "pool.md", "secret.txt", "link", "\\", "~", "x", ".env", "//", " "]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(parts=st.lists(PARTS, min_size=1, max_size=7), slash=st.sampled_from(["", "/"]))
def test_whatever_is_asked_no_secret_comes_back(
    tool: Tool, run_tool: CallTool, docs: Path, tmp_path: Path, parts: list[str], slash: str
) -> None:
    if not (docs / "link").is_symlink():
        (docs / "link").symlink_to(tmp_path)
    try:
        result = run_tool(tool, {"path": slash.join(parts)})
    except ToolError:
        return
    assert "SECRET" not in result["text"]


def test_a_link_within_the_folder_is_followed(tool: Tool, run_tool: CallTool, docs: Path) -> None:
    (docs / "same.md").symlink_to("en/pool.md")
    assert run_tool(tool, {"path": "same.md"})["total_lines"] == 30


def test_a_link_that_is_put_there_at_the_last_moment_is_not_followed(
    tool: Tool, run_tool: CallTool, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really_open = os.open

    def swap(path: Path, flags: int) -> int:
        Path(path).unlink()
        Path(path).symlink_to(tmp_path / "secret.txt")
        return really_open(path, flags)

    monkeypatch.setattr(os, "open", swap)
    with pytest.raises(ToolError, match="can't be read"):
        run_tool(tool, {"path": "en/pool.md"})


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\x7fELF\x00\x00", "odd.bin is not a text file"),
        (gzip.compress(b"words", mtime=0), "odd.bin is compressed with gzip"),
    ],
)
def test_what_is_no_text_is_refused(tool: Tool, run_tool: CallTool, docs: Path, data: bytes, problem: str) -> None:
    (docs / "odd.bin").write_bytes(data)
    with pytest.raises(ToolError, match=problem):
        run_tool(tool, {"path": "odd.bin"})


def test_a_pipe_is_not_waited_for_and_a_folder_is_listed(tool: Tool, run_tool: CallTool, docs: Path) -> None:
    os.mkfifo(docs / "pipe.log")
    with pytest.raises(ToolError, match="not a regular file"):
        run_tool(tool, {"path": "pipe.log"})
    with pytest.raises(ToolError, match=r"en is a folder\. In it are: pool\.md"):
        run_tool(tool, {"path": "en"})


def test_what_is_not_there_is_answered_with_what_was_perhaps_meant(tool: Tool, run_tool: CallTool) -> None:
    with pytest.raises(ToolError, match=r"no file 'pool\.md'\. Did you mean 'en/pool\.md'\?"):
        run_tool(tool, {"path": "pool.md"})
    with pytest.raises(ToolError, match=r"There are: en/pool\.md\."):
        run_tool(tool, {"path": "zzz"})
    with pytest.raises(ToolError, match="has 30 lines, and none from line 31 on"):
        run_tool(tool, {"path": "en/pool.md", "line": 31})


def test_several_folders_and_their_names(build_tool: BuildTool, run_tool: CallTool, docs: Path, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "web.log").write_text("a\n")
    (tmp_path / "logs" / "both.txt").write_text("of logs\n")
    (docs / "both.txt").write_text("of docs\n")
    tool = build_tool("read_file", path=["docs", "logs"])
    assert run_tool(tool, {"path": "web.log"})["text"] == "a"
    assert run_tool(tool, {"path": "logs/both.txt"})["text"] == "of logs"
    with pytest.raises(ToolError, match=r"say docs/both\.txt or logs/both\.txt"):
        run_tool(tool, {"path": "both.txt"})


def test_a_folder_that_is_not_there_is_named_with_its_setting(build_tool: BuildTool, run_tool: CallTool) -> None:
    with pytest.raises(ToolError, match=r"no folder .*nowhere\. It is the setting path of \[tools\.read_file\]"):
        run_tool(build_tool("read_file", path="nowhere"), {"path": "x"})
