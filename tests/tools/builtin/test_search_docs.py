"""The tool `search_docs`: passages, ranking, Chinese, and documents that change or are not as they should be."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from socket import AF_UNIX, socket

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opspilot.tools.builtin.docs.passages import read_document
from opspilot.tools.builtin.docs.words import MAX_QUERY_WORDS, prepare, query_words
from opspilot.tools.builtin.inner_files import open_file
from opspilot.tools.spec import Tool, ToolError
from tests.tools.builtin.calls import BuildTool, CallTool

POOL = """\
---
title: "Database pool: exhausted"
tags: [database, pool]
---
Before any heading.

# Pool exhausted

## Meaning

All connections are in use.

```sh
# not a heading
psql -c 'select 1'
```

## Handling

Raise `pool.max`.
"""
ZH = "---\ntitle: 支付服务：连接池耗尽\n---\n# 支付服务\n\n## 处理建议\n\n重启支付服务，然后检查报错日志。\n"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "zh").mkdir(parents=True)
    (folder / "pool.md").write_text(POOL)
    (folder / "zh" / "payment.md").write_text(ZH, encoding="utf-8")
    (folder / "diskWillFill.md").write_text("# diskWillFill\n\nA volume has little space left.\n")
    return folder


@pytest.fixture
def tool(build_tool: BuildTool, docs: Path) -> Tool:
    return build_tool("search_docs", path="docs")


def test_a_document_becomes_a_passage_for_each_heading_with_text() -> None:
    document = read_document(POOL)
    assert (document.title, document.tags, document.problem) == ("Database pool: exhausted", ("database", "pool"), "")
    assert [(passage.headings, passage.heading_line, passage.text_line) for passage in document.passages] == [
        ((), 0, 5),
        (("Pool exhausted", "Meaning"), 9, 11),
        (("Pool exhausted", "Handling"), 18, 20),
    ]
    assert "# not a heading" in document.passages[1].text


def test_carriage_returns_and_underlined_headings_are_read() -> None:
    document = read_document("Title\r\n=====\r\n\r\none\r\n\r\nSub\r\n---\r\ntwo\r\n")
    assert [(passage.headings, passage.text_line, passage.text) for passage in document.passages] == [
        (("Title",), 4, "one"),
        (("Title", "Sub"), 8, "two"),
    ]


def test_a_passage_is_found_with_its_place(tool: Tool, run_tool: CallTool) -> None:
    result = run_tool(tool, {"query": "connections in use"})
    assert result["documents"] == 3
    assert result["passages"][0] == {
        "file": "pool.md",
        "line": 11,
        "title": "Database pool: exhausted",
        "heading": "Pool exhausted > Meaning",
        "heading_line": 9,
        "tags": ["database", "pool"],
        "text": "All connections are in use.\n\n```sh\n# not a heading\npsql -c 'select 1'\n```",
    }


@pytest.mark.parametrize(
    "query", ["支付", "报错", "重启", "支付服务最近报错", "看看支付服务的处理建议", "payment 连接池"]
)
def test_chinese_is_found_by_words_of_two_characters(tool: Tool, run_tool: CallTool, query: str) -> None:
    assert run_tool(tool, {"query": query})["passages"][0]["file"] == "zh/payment.md"


@pytest.mark.parametrize("query", ["disk fills", "will the disk be filled?", "diskWillFill", "DISKWILLFILL"])
def test_names_in_camel_case_are_found_by_their_parts_and_words_by_their_stems(
    tool: Tool, run_tool: CallTool, query: str
) -> None:
    assert run_tool(tool, {"query": query})["passages"][0]["file"] == "diskWillFill.md"


def test_asking_what_to_do_prefers_the_passage_that_says_it(tool: Tool, run_tool: CallTool) -> None:
    heading = run_tool(tool, {"query": "how to handle an exhausted pool"})["passages"][0]["heading"]
    assert heading == "Pool exhausted > Handling"


def test_words_that_no_document_has_are_said(tool: Tool, run_tool: CallTool) -> None:
    result = run_tool(tool, {"query": "kafka pool"})
    assert result["passages"][0]["file"] == "pool.md"
    assert result["notes"] == ["No document contains: kafka."]


def test_nothing_found_is_said_with_what_there_is(tool: Tool, run_tool: CallTool) -> None:
    result = run_tool(tool, {"query": "kafka"})
    assert (result["passages"], result["notes"][0]) == ([], "No passage was found.")
    assert result["titles"]["pool.md"] == "Database pool: exhausted"


def test_a_long_passage_is_cut_and_says_so(tool: Tool, run_tool: CallTool, docs: Path) -> None:
    (docs / "long.md").write_text("# Zebra\n\n" + "zebra stripes\n" * 500)
    passage = run_tool(tool, {"query": "zebra"})["passages"][0]
    assert len(passage["text"]) <= 1200
    assert passage["text"].endswith("stripes")
    assert passage["cut"] == f"{500 * 14 - 1 - len(passage['text']):,} more characters in the file"


def test_a_path_narrows_the_search(tool: Tool, run_tool: CallTool) -> None:
    assert {hit["file"] for hit in run_tool(tool, {"query": "pool 支付", "path": "ZH"})["passages"]} == {
        "zh/payment.md"
    }


def test_documents_that_change_appear_or_go_are_noticed(tool: Tool, run_tool: CallTool, docs: Path) -> None:
    assert run_tool(tool, {"query": "zebra"})["passages"] == []
    (docs / "new.md").write_text("# Zebra\n\nstripes\n")
    assert run_tool(tool, {"query": "zebra"})["passages"][0]["text"] == "stripes"
    (docs / "new.md").write_text("# Zebra\n\nno longer striped\n")
    assert run_tool(tool, {"query": "zebra"})["passages"][0]["text"] == "no longer striped"
    (docs / "new.md").rename(docs / "renamed.md")
    assert [hit["file"] for hit in run_tool(tool, {"query": "zebra"})["passages"]] == ["renamed.md"]
    (docs / "renamed.md").unlink()
    assert run_tool(tool, {"query": "zebra"})["passages"] == []


def test_many_threads_may_search_while_documents_change(tool: Tool, run_tool: CallTool, docs: Path) -> None:
    def search(number: int) -> int:
        (docs / f"extra-{number}.md").write_text(f"# Extra {number}\n\npool\n")
        return len(run_tool(tool, {"query": "pool", "limit": 20})["passages"])

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(search, range(16)))
    assert min(found) >= 3
    assert run_tool(tool, {"query": "pool", "limit": 20})["documents"] == 19


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"---\ntitle: [oops\n---\n# Zebra\n\nstripes\n", "bad.md: its front matter is not valid YAML"),
        (b"---\n- a\n- b\n---\n# Zebra\n\nstripes\n", "bad.md: its front matter is not a list of named values"),
        (b"---\nwhen: !!timestamp x\n---\n# Zebra\n\nstripes\n", "bad.md: its front matter is not valid YAML"),
        (b"# Zebra\n\nstripes \xff\n", "bad.md: it is not valid UTF-8 and was read as well as it goes"),
    ],
)
def test_a_malformed_document_is_said_and_served_as_well_as_it_goes(
    tool: Tool, run_tool: CallTool, docs: Path, text: bytes, problem: str
) -> None:
    (docs / "bad.md").write_bytes(text)
    result = run_tool(tool, {"query": "zebra stripes"})
    assert result["passages"][0]["text"].startswith("stripes")
    assert result["problems"][0].startswith(problem)
    assert run_tool(tool, {"query": "pool"})["passages"][0]["file"] == "pool.md"


def test_a_document_that_can_not_be_read_is_said(tool: Tool, run_tool: CallTool, docs: Path) -> None:
    (docs / "gone.md").symlink_to("nowhere")
    result = run_tool(tool, {"query": "pool"})
    assert result["problems"] == ["gone.md: can't be read: No such file or directory"]
    assert result["passages"]


def test_a_pipe_or_a_device_is_said_and_never_waited_for(
    tool: Tool, run_tool: CallTool, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(docs / "pipe.md")
    monkeypatch.chdir(docs)
    with socket(AF_UNIX) as listener:
        listener.bind("socket.md")
        result = run_tool(tool, {"query": "pool"})
    assert result["passages"][0]["file"] == "pool.md"
    assert [problem.partition(": ")[0] for problem in result["problems"]] == ["pipe.md", "socket.md"]
    assert result["problems"][0] == "pipe.md: can't be read: it is not a regular file"
    assert result["documents"] == 3


def test_links_are_followed_inside_the_folder_and_nowhere_else(
    build_tool: BuildTool, run_tool: CallTool, docs: Path
) -> None:
    """The folder itself may be a link to where the documents are."""
    (docs.parent / "secret.md").write_text("# Zebra\n\nstripes\n")
    (docs / "out.md").symlink_to("../secret.md")
    (docs / "passwd.txt").symlink_to("/etc/passwd")
    (docs / "device.md").symlink_to("/dev/zero")
    (docs / "outer").symlink_to(docs.parent)
    (docs / "zh" / "again.md").symlink_to("../pool.md")
    (docs.parent / "linked").symlink_to(docs)
    for folder in ("docs", "linked"):
        tool = build_tool("search_docs", path=folder)
        result = run_tool(tool, {"query": "zebra stripes root"})
        assert result["passages"] == []
        reason = "can't be read: it is a link that leads out of the folder"
        assert result["problems"] == [f"{name}: {reason}" for name in ("device.md", "out.md", "passwd.txt")]
        assert "out.md" not in tool.description
        found = run_tool(tool, {"query": "pool exhausted", "limit": 20})
        assert {"pool.md", "zh/again.md"} <= {passage["file"] for passage in found["passages"]}


def test_a_document_that_becomes_a_link_out_of_the_folder_is_forgotten(
    tool: Tool, run_tool: CallTool, docs: Path
) -> None:
    assert run_tool(tool, {"query": "pool"})["passages"]
    (docs / "pool.md").replace(docs.parent / "pool.md")
    (docs / "pool.md").symlink_to("../pool.md")
    assert run_tool(tool, {"query": "exhausted connections"})["passages"] == []


def test_a_file_that_becomes_a_pipe_after_it_was_looked_at_is_not_waited_for(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    regular = (docs / "pool.md").stat()
    os.mkfifo(docs / "pipe.md")
    monkeypatch.setattr(Path, "stat", lambda *_: regular)
    with pytest.raises(OSError, match="it is not a regular file"):
        open_file(docs / "pipe.md", docs)


def test_a_folder_that_is_not_there_is_named_with_its_setting(build_tool: BuildTool, run_tool: CallTool) -> None:
    with pytest.raises(ToolError, match=r"nowhere is not a folder\. It is the setting path of \[tools\.search_docs\]"):
        run_tool(build_tool("search_docs", path="nowhere"), {"query": "x"})


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "a AND",
        "NEAR(",
        "col:x OR",
        "*",
        "-",
        "^x",
        "a\x00b",
        "()",
        "???",
        "的",
        " ",
        "'; DROP TABLE passages",
        "a" * 1000,
    ],
)
def test_no_query_is_a_syntax_error(tool: Tool, run_tool: CallTool, query: str) -> None:
    assert "passages" in run_tool(tool, {"query": query})


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(query=st.text(min_size=1, max_size=60))
def test_any_query_is_answered(tool: Tool, run_tool: CallTool, query: str) -> None:
    assert len(run_tool(tool, {"query": query})["passages"]) <= 5


@given(st.text(max_size=2000))
def test_a_query_has_few_words_and_each_once(question: str) -> None:
    words = query_words(question)
    assert len(words) == len(set(words)) <= MAX_QUERY_WORDS


@given(st.text(alphabet="支付服务报错日志ab ", min_size=1, max_size=30))
def test_every_pair_of_a_query_is_a_word_of_the_text_it_was_taken_from(text: str) -> None:
    indexed = set(prepare(text).lower().split())
    assert {word for word in query_words(text) if not word.isascii()} <= indexed


@given(st.text(max_size=500))
def test_every_passage_stands_on_its_line(text: str) -> None:
    lines = text.replace("\r\n", "\n").split("\n")
    for passage in read_document(text).passages:
        assert lines[passage.text_line - 1].rstrip() == passage.text.split("\n")[0].rstrip()
