"""What a model wrote, as HTML that can neither run in a page nor lead out of it.

Markdown without HTML; links and images are text that says where they lead, since nobody vouches for a model's words.
What comes out is cut down to harmless elements without attributes once more, whatever the parser did. What tools return
is never Markdown: it is shown as it is.
"""

from collections.abc import Sequence
from functools import lru_cache

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

from opspilot.texts.folding import printable

MOST_CHARACTERS = 60_000
"""A longer text is shown as it is: nobody reads it for its headings, and parsing it takes its time."""

ELEMENTS = frozenset(
    {
        "blockquote", "br", "code", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "strong", "table",
        "tbody", "td", "th", "thead", "tr", "ul",
    }
)  # fmt: skip
HIGHEST_HEADING = 3
"""Steps and questions have headings of the second level."""
ATTRIBUTES = {"ol": frozenset({"start"})}


@lru_cache(maxsize=512)
def prose(said: str) -> Markup:
    """Markdown as HTML; of more than `MOST_CHARACTERS` characters as plain lines."""
    said = printable(said).encode("utf-8", "replace").decode()
    if len(said) > MOST_CHARACTERS:
        return Markup("<pre>{}</pre>").format(said)
    # The elements are named in two lists because nh3 is the last word: the parser may be wrong about what it makes.
    html = nh3.clean(_PARSER.render(said), tags=set(ELEMENTS), attributes=dict(ATTRIBUTES), link_rel=None)
    return Markup(html)  # noqa: S704 it has just been cleaned


class _Renderer(RendererHTML):
    """Says where links and images lead, and makes neither."""

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """The text of the link stands for itself."""
        env.setdefault("links", []).append((tokens[idx].attrs.get("href"), idx))
        return ""

    def link_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Behind it, where it leads; unless it says so itself."""
        address, opened = env["links"].pop()
        said = "".join(token.content for token in tokens[opened + 1 : idx])
        return "" if said.strip() in {str(address), str(address).removeprefix("mailto:")} else f" ({escape(address)})"

    def heading_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Below the headings of the page that it stands in, the highest of a text right below them."""
        highest = min(_level(token) for token in tokens if token.type == "heading_open")
        env["above"] = HIGHEST_HEADING - highest
        return f"<h{min(6, _level(tokens[idx]) + env['above'])}>"

    def heading_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """The end of that."""
        return f"</h{min(6, _level(tokens[idx]) + env['above'])}>"

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """What the image shows, and where it would have come from."""
        token = tokens[idx]
        shown = self.renderInlineAsText(token.children or [], options, env)
        return f"{escape(shown)} ({escape(token.attrs.get('src'))})"


def _level(heading: Token) -> int:
    return int(heading.tag[1])


_PARSER = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable(["strikethrough", "table"])
