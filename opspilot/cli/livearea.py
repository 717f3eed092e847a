"""The moving lines at the foot of a terminal: what runs right now, side by side, and text while it is being written.

They are rewritten in place and taken away again, so nothing of them stays on the screen. No line is ever wider than the
window. Knows nothing of runs or entries.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAMES_A_SECOND = 8
GAP = 3
DRAFT_LINES = 8
DRAFT_CHARACTERS = 4000
"""As much of the end of a draft as can be seen; wrapping more would be work for nothing."""


@dataclass(frozen=True)
class Doing:
    """One thing that goes on: what, and since when on the monotonic clock."""

    label: str
    since: float


class _Moving:
    """What is drawn anew a few times a second, by a thread of rich's: replaced whole, never changed."""

    def __init__(self, doing: tuple[Doing, ...], draft: str) -> None:
        self._doing = doing
        self._draft = draft

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # The last column stays free: some terminals wrap a line that fills it.
        width = max(options.max_width - 1, 1)
        if self._draft:
            yield from _tail(self._draft, console, width)
        yield from _rows(self._doing, width)


class LiveArea:
    """Owns those lines of one console."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None

    def show(self, doing: tuple[Doing, ...], draft: str = "") -> None:
        """Show these from now on, in place of what was shown before."""
        moving = _Moving(doing, draft)
        if self._live is None:
            self._live = Live(
                moving,
                console=self._console,
                refresh_per_second=FRAMES_A_SECOND,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
                vertical_overflow="crop",
            )
            self._live.start()
        else:
            self._live.update(moving)

    @property
    def visible(self) -> bool:
        """Is anything shown? While a person is asked something, nothing may be."""
        return self._live is not None

    def clear(self) -> None:
        """Take them away."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def _tail(draft: str, console: Console, width: int) -> Iterator[Text]:
    lines = Text(draft[-DRAFT_CHARACTERS:], style="dim").wrap(console, width)
    for line in lines[-max(1, min(DRAFT_LINES, console.height // 3)) :]:
        line.truncate(width)
        yield line


def _rows(doing: tuple[Doing, ...], width: int) -> Iterator[Text]:
    """As many side by side as there is room for."""
    frame = FRAMES[int(time.monotonic() * FRAMES_A_SECOND) % len(FRAMES)]
    row = Text()
    for each in doing:
        elapsed = _elapsed(int(time.monotonic() - each.since))
        item = Text(f"{frame} {each.label}", style="cyan")
        item.truncate(max(width - len(elapsed) - 1, 1), overflow="ellipsis")
        item.append(f" {elapsed}", style="dim")
        item.truncate(width, overflow="crop")
        if row and row.cell_len + GAP + item.cell_len > width:
            yield row
            row = Text()
        row = row.append(" " * GAP).append_text(item) if row else item
    if row:
        yield row


def _elapsed(whole_seconds: int) -> str:
    minutes, rest = divmod(whole_seconds, 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
