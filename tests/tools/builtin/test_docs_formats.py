"""What becomes a passage: tables and code stay whole, pages of HTML and plain text are read as well as Markdown."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.tools.builtin.docs.html import read_html
from opspilot.tools.builtin.docs.passages import PASSAGE_CHARACTERS, read_document
from opspilot.tools.builtin.docs.plain import read_plain
from tests.tools.builtin.calls import BuildTool, CallTool


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


@pytest.fixture
def search(build_tool: BuildTool, run_tool: CallTool, docs: Path) -> Any:
    tool = build_tool("search_docs", path="docs")
    return lambda query, **more: run_tool(tool, {"query": query, **more})["passages"]


def table(rows: int) -> str:
    return "| code | meaning |\n| --- | --- |\n" + "".join(f"| E{row} | zebra number {row} |\n" for row in range(rows))


def test_much_text_under_a_heading_is_parted_between_its_paragraphs() -> None:
    paragraphs = [f"paragraph {number} " + "word " * 100 for number in range(8)]
    text = "# Title\n\n" + "\n\n".join(paragraphs) + "\n"
    passages = read_document(text).passages
    assert len(passages) > 2
    assert max(len(passage.text) for passage in passages) <= PASSAGE_CHARACTERS
    lines = text.split("\n")
    for passage in passages:
        assert lines[passage.text_line - 1] == passage.text.split("\n")[0]
        assert passage.headings == ("Title",)
    assert "\n\n".join(passage.text for passage in passages).split() == text.split()[2:]


def test_a_table_is_shown_whole_with_the_words_before_it(search: Any, docs: Path) -> None:
    (docs / "codes.md").write_text("# Codes\n\n" + "intro " * 100 + "\n\nThe codes are:\n\n" + table(40) + "\nafter\n")
    [passage] = [hit for hit in search("zebra number") if "zebra number 7 " in hit["text"]]
    assert table(40).rstrip() in passage["text"]
    assert "cut" not in passage


def test_a_code_block_is_shown_whole(search: Any, docs: Path) -> None:
    code = "```sh\n" + "".join(f"zebra --step {number} --with-a-long-option\n" for number in range(45)) + "```"
    (docs / "how.md").write_text(f"# How\n\nRun this:\n\n{code}\n\nThen wait.\n")
    assert code in search("zebra step")[0]["text"]


def test_long_lists_are_parted_between_their_items() -> None:
    items = "".join(f"- item {number}: {'word ' * 40}\n" for number in range(30))
    passages = read_document(f"# List\n\n{items}").passages
    assert len(passages) > 3
    assert all(passage.text.startswith("- item") for passage in passages)


PAGE = """\
<!doctype html>
<html><head><title>Disk &amp; space</title><meta name="keywords" content="disk, volume">
<style>.x { color: red }</style></head>
<body><nav>menu zebra</nav>
<h1>Disk <em>full</em></h1>
<p>Before any
step.</p>
<h2 id="fix">What to do</h2>
<p>Delete old &lt;files&gt;:</p>
<pre>rm -r /tmp/x
df -h</pre>
<table><tr><th>code</th><th>meaning</th></tr><tr><td>E1</td><td>full</td></tr></table>
<script>zebra()</script>
</body></html>
"""


def test_a_page_of_html_is_read_under_its_headings_with_the_lines_of_its_source() -> None:
    document = read_html(PAGE)
    assert (document.title, document.tags) == ("Disk & space", ("disk", "volume"))
    assert [(passage.headings, passage.heading_line, passage.text_line) for passage in document.passages] == [
        (("Disk full",), 5, 6),
        (("Disk full", "What to do"), 8, 9),
    ]
    text = document.passages[1].text
    assert "Delete old <files>:" in text
    assert "rm -r /tmp/x\ndf -h" in text
    assert "code | meaning\nE1 | full" in text
    assert "zebra" not in text


def test_html_and_text_files_are_found(search: Any, docs: Path) -> None:
    (docs / "disk.html").write_text(PAGE)
    (docs / "notes.txt").write_text("Queues\n======\n\nThe giraffe queue is drained by hand.\n")
    assert search("disk full what to do")[0]["file"] == "disk.html"
    hit = search("giraffe")[0]
    assert (hit["file"], hit["line"], hit["heading"]) == ("notes.txt", 4, "Queues")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Title\n=====\n\none\n\nSub\n---\ntwo\n", [(("Title",), 4, "one"), (("Title", "Sub"), 8, "two")]),
        ("= Title\n\none\n\n== Sub\ntwo\n", [(("Title",), 3, "one"), (("Title", "Sub"), 6, "two")]),
        ("* Title\none\n** Sub\ntwo\n", [(("Title",), 2, "one"), (("Title", "Sub"), 4, "two")]),
        ("just\nwords\n", [((), 1, "just\nwords")]),
        ("---\nwords\n", [((), 1, "---\nwords")]),
    ],
)
def test_plain_text_is_read_under_its_headings(text: str, expected: list[tuple[tuple[str, ...], int, str]]) -> None:
    passages = read_plain(text).passages
    assert [(passage.headings, passage.text_line, passage.text) for passage in passages] == expected


@given(st.text(alphabet="ab =-~*\n\t", max_size=300))
def test_every_passage_of_plain_text_stands_on_its_line(text: str) -> None:
    lines = text.split("\n")
    for passage in read_plain(text).passages:
        assert lines[passage.text_line - 1].rstrip() == passage.text.split("\n")[0].rstrip()


@given(st.text(alphabet="ab <>/h1pretabl&;\"='\n", max_size=300))
def test_no_page_is_too_strange(text: str) -> None:
    for passage in read_html(text + "<h1>x</h1>end").passages:
        assert passage.text


BLOCK = st.sampled_from(["word " * 60, table(30), "```\n" + "code\n" * 100 + "```", "- a\n- b", "## Sub", "> quoted"])


@given(st.lists(BLOCK, max_size=12))
def test_parting_loses_no_word_and_cuts_no_block(blocks: list[str]) -> None:
    text = "# Title\n\n" + "\n\n".join(blocks) + "\n"
    passages = read_document(text).passages
    said = [word for passage in passages for word in passage.text.split()]
    assert said == [word for block in blocks if not block.startswith("##") for word in block.split()]
    for passage in passages:
        assert passage.text.count("```") % 2 == 0
        assert "| E0 |" in passage.text or "| E1 |" not in passage.text
