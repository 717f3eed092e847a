"""Plain text, reStructuredText, AsciiDoc and Org files as passages. Pure: knows nothing of files."""

import re

from opspilot.tools.builtin.docs.passages import PASSAGE_CHARACTERS, Document, Passage

_UNDERLINE = re.compile(r"([=\-~^\"'*+#])\1{2,}\s*$")
_MARKED = re.compile(r"(?P<marks>={1,6}|\*{1,6})\s+(?P<title>\S.{0,120})$")


def read_plain(text: str) -> Document:
    """Paragraphs under their headings: underlined ones, and lines that begin with `==` or `**` and a space."""
    lines = text.replace("\r\n", "\n").split("\n")
    passages: list[Passage] = []
    trail: list[tuple[int, str]] = []
    underlines: list[str] = []
    heading_line = 0
    piece: list[str] = []
    piece_line = 0

    def close() -> None:
        body = "\n".join(piece).rstrip()
        if body:
            passages.append(Passage(tuple(name for _, name in trail), heading_line, piece_line, body))
        piece.clear()

    skip = False
    for number, line in enumerate(lines, start=1):
        if skip:
            skip = False
            continue
        following = lines[number] if number < len(lines) else ""
        found = _heading(line, following, underlines)
        if found is not None:
            close()
            level, title, skip = found
            trail = [(outer, name) for outer, name in trail if outer < level] + [(level, title)]
            heading_line = number
        elif line.strip() or piece:
            if not line.strip() and sum(len(part) + 1 for part in piece) > PASSAGE_CHARACTERS // 2:
                close()
                continue
            if not piece:
                piece_line = number
            piece.append(line)
    close()
    title = next((passage.headings[0] for passage in passages if passage.headings), "")
    return Document(title, (), tuple(passages))


def _heading(line: str, following: str, underlines: list[str]) -> tuple[int, str, bool] | None:
    """(level, title, is it underlined). Levels of underlines are by the order in which each kind is first used."""
    title = line.strip()
    if not title or len(title) > 120:
        return None
    under = _UNDERLINE.match(following)
    if under is not None and line[:1].strip() and _UNDERLINE.match(title) is None:
        if len(following.rstrip()) * 2 < len(title):
            return None
        if under[1] not in underlines:
            underlines.append(under[1])
        return underlines.index(under[1]) + 1, title, True
    marked = _MARKED.match(line)
    return (len(marked["marks"]), marked["title"].strip(), False) if marked is not None else None
