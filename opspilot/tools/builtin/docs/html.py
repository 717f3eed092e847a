"""An HTML page as passages, with the lines of its source. Pure: knows nothing of files."""

import re
from html.parser import HTMLParser

from opspilot.tools.builtin.docs.passages import PASSAGE_CHARACTERS, Document, Passage

_SILENT = frozenset({"script", "style", "template", "noscript", "svg", "nav", "footer", "iframe"})
_BLOCK_TEXT = """
address article aside blockquote br dd div dl dt figure hr li main ol p pre section table tbody thead tr ul
"""
_BLOCKS = frozenset(_BLOCK_TEXT.split())
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


def read_html(text: str) -> Document:
    """The page's text under its headings. Rows of tables are lines, code keeps its lines, scripts are left out."""
    reader = _Reader()
    reader.feed(text.replace("\r\n", "\n"))
    reader.close()
    return reader.document()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.keywords: tuple[str, ...] = ()
        self.passages: list[Passage] = []
        self.trail: list[tuple[int, str]] = []
        self.heading_line = 0
        self.heading: list[str] | None = None
        self.in_title = False
        self.silent: list[str] = []
        self.pre = 0
        self.tables = 0
        self.whole = False
        self.parts: list[str] = []
        self.size = 0
        self.line = 0

    def document(self) -> Document:
        """What was read."""
        self._close_passage()
        title = self.title or next((passage.headings[0] for passage in self.passages if passage.headings), "")
        return Document(" ".join(title.split()), self.keywords, tuple(self.passages))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag opens."""
        if tag in _SILENT:
            self.silent.append(tag)
        elif tag == "title":
            self.in_title = True
        elif tag == "meta":
            said = dict(attrs)
            if (said.get("name") or "").lower() == "keywords":
                self.keywords = tuple(word.strip() for word in (said.get("content") or "").split(",") if word.strip())
        elif tag in _HEADINGS:
            self._close_passage()
            self.heading = []
            self.heading_line = self.getpos()[0]
        elif tag in {"td", "th"}:
            self._put(" | " if self.parts and not self.parts[-1].endswith("\n") else "")
        elif tag in _BLOCKS:
            self._break(tag)
            self.pre += tag == "pre"
            self.tables += tag == "table"
            self.whole = self.whole or tag in {"pre", "table"}

    def handle_endtag(self, tag: str) -> None:
        """A tag closes."""
        if tag in _SILENT:
            if tag in self.silent:
                del self.silent[self.silent.index(tag) :]
        elif tag == "title":
            self.in_title = False
        elif tag in _HEADINGS and self.heading is not None:
            title = " ".join("".join(self.heading).split())
            level = int(tag[1])
            self.trail = [(outer, name) for outer, name in self.trail if outer < level] + [(level, title)]
            self.heading = None
        elif tag in _BLOCKS:
            self.pre -= tag == "pre" and self.pre > 0
            self.tables -= tag == "table" and self.tables > 0
            self._break(tag)

    def handle_data(self, data: str) -> None:
        """Text between tags."""
        if self.in_title:
            self.title += data
        elif self.heading is not None:
            self.heading.append(data)
        elif not self.silent:
            self._put(data if self.pre else re.sub(r"\s+", " ", data), data)

    def _put(self, text: str, source: str = "") -> None:
        if not text or (not text.strip() and not self.parts):
            return
        if not self.line and text.strip():
            before = source[: len(source) - len(source.lstrip())]
            self.line = self.getpos()[0] + before.count("\n")
        self.parts.append(text)
        self.size += len(text)

    def _break(self, tag: str) -> None:
        if self.parts and not self.parts[-1].endswith("\n"):
            self.parts.append("\n")
        if self.size > PASSAGE_CHARACTERS and not self.pre and not self.tables and tag != "br":
            self._close_passage()

    def _close_passage(self) -> None:
        text = re.sub(r"[ \t]*\n[ \t]*\n\s*", "\n\n", "".join(self.parts)).strip()
        lines = [line.strip() if not self.whole else line.rstrip() for line in text.split("\n")]
        if text:
            headings = tuple(name for _, name in self.trail)
            line = self.heading_line if headings else 0
            self.passages.append(Passage(headings, line, self.line, "\n".join(lines), self.whole))
        self.parts, self.size, self.line, self.whole = [], 0, 0, bool(self.pre or self.tables)
