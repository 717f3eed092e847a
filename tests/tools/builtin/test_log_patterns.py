"""Patterns of `search_logs`: one that would stop the process while it is compiled is refused before."""

from pathlib import Path

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from opspilot.tools.builtin.logs.repetitions import MAX_SIZE, compiled_size
from opspilot.tools.spec import Tool, ToolError
from tests.tools.builtin.calls import BuildTool, CallTool


@pytest.fixture
def tool(build_tool: BuildTool, tmp_path: Path) -> Tool:
    (tmp_path / "a.log").write_text("2026-11-30 10:00:00 ERROR id 0a1b2c3d-0000-4000-8000-00000000000f (x) 10.0.0.1\n")
    return build_tool("search_logs", path="a.log")


@pytest.mark.parametrize(
    "pattern",
    [
        "((((a{1000}){1000}){1000}){1000})",
        "(a{1000}){3000}",
        "((a{1000}b|c){1000,}){1000,}",
        "([)]{1000}){1000}",
        r"((a{1000}\)){1000}){1000}",
        "((a{1000}[[x])]){1000}){1000}",
        "(?V1)((a{1000}[[x])]){1000}){1000}",
        "((a{1000}(?#[)){1000}){1000}",
        "((a{1000}[]])){1000}){1000}",
        "(a){9999999999}",
        "(?:a{1000}){1000}" + "(a" * 100,
        "(" + "(a{1000})" * 50 + "){100}",
        f"([{'a-' * 100}]){{1000}}",
    ],
)
def test_a_pattern_that_would_be_huge_is_never_compiled(
    tool: Tool, run_tool: CallTool, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regex, "compile", lambda *_: pytest.fail("it was compiled"))
    with pytest.raises(ToolError, match=r"repeats too much: .* Make the counts smaller"):
        run_tool(tool, {"pattern": pattern})


def test_a_pattern_whose_counts_can_be_written_with_comments_inside_is_refused(tool: Tool, run_tool: CallTool) -> None:
    for flags in ("(?x)", "(?ix)", "(?x-i:a)", "a(?x:b)"):
        with pytest.raises(ToolError, match="can't have the flag x"):
            run_tool(tool, {"pattern": flags + "(a{10 00}){10 00}"})


@pytest.mark.parametrize(
    "pattern",
    [
        r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
        r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} (?P<level>[A-Z]{4,8}) .{0,5000}\([^)]*\)",
        r"(?:(?:\d{1,3}\.){3}\d{1,3})",
        r"[[:digit:]]{4}-[[:digit:]]{2}",
        r"(?i)error .{1,2000}?(?P<x>[^]]\))",
    ],
)
def test_patterns_that_people_write_are_searched_for(tool: Tool, run_tool: CallTool, pattern: str) -> None:
    assert run_tool(tool, {"pattern": pattern})["matched"] == 1


ATOMS = st.sampled_from(["a", ".", r"\(", r"\[", "[)]", "[^]a]", "[(]", "(?#c)b", r"\d", "x*"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, st.integers(1, 3)).map(lambda part: f"(?:{part[0]}){{{part[1]}}}"),
        st.tuples(inner, inner).map("({0[0]}|{0[1]})".format),
    ),
    max_leaves=12,
)


@given(PATTERNS)
def test_the_size_is_never_less_than_what_the_pattern_is_when_written_out(pattern: str) -> None:
    """Groups with a count are written out one by one; what is left has no counts, and each atom is a step."""
    whole = pattern
    while (
        counted := regex.search(r"\(\?:((?:[^()\[\]\\]|\\.|\[\^?\]?[^\]]*\]|\(\?#c\))*)\)\{(\d)\}", whole)
    ) is not None:
        whole = whole[: counted.start()] + counted[1] * int(counted[2]) + whole[counted.end() :]
    steps = len(regex.findall(r"\\.|\[\^?\]?[^\]]*\]|[a-z.]", whole.replace("(?#c)", "")))
    assert regex.compile(pattern) is not None
    assert steps <= compiled_size(pattern) < MAX_SIZE
