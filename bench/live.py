"""How long news takes from the journal to people who look on: 200 viewers on 20 live runs.

    python bench/live.py

Starts the web server as a process. Another process writes 20 runs as workers would: entries, and text while it is being
written. 200 viewers follow them as browsers do (server-sent events); a part of them is cut off in the middle and comes
back with the number that it saw last. Prints how long each event took from its commit to each viewer, and exits with 1
when one was lost or repeated, or when the median is 300 ms or more.
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psutil

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from opspilot.access.tokens import Tokens  # noqa: E402
from opspilot.core.entries import Kind, NewEntry  # noqa: E402
from opspilot.core.interrupts import Principal  # noqa: E402
from opspilot.core.messages import Json  # noqa: E402
from opspilot.core.ports import Draft  # noqa: E402
from opspilot.journal.store import SqlJournal  # noqa: E402

MOST_MILLISECONDS = 300
ENTRY_EVERY_SECONDS = 0.5
DRAFT_EVERY_SECONDS = 0.3
CUT_EVERY = 5
"""One viewer in so many is cut off in the middle."""
PATIENCE_SECONDS = 20.0
RUN = "run"
LINE = "2026-03-01T12:00:00Z payment ERROR the pool of connections is exhausted, 42 requests wait. "


# ---------------------------------------------------------------- writing


def write(file: Path, sessions: Sequence[str], seconds: float) -> None:
    """Write all runs for so long; print, for each entry, its session, its number, and when it was committed."""
    journal = SqlJournal(f"sqlite:///{file}")
    begun = time.monotonic()
    told: list[str] = []
    due = [(begun + ENTRY_EVERY_SECONDS * nth / len(sessions), session, 0) for nth, session in enumerate(sessions)]
    drafted = [(begun + DRAFT_EVERY_SECONDS * nth / len(sessions), session) for nth, session in enumerate(sessions)]
    text = dict.fromkeys(sessions, "")
    while (now := time.monotonic()) < begun + seconds:
        (entry_at, session, count), (draft_at, drafting) = min(due), min(drafted)
        if (pause := min(entry_at, draft_at) - now) > 0:
            time.sleep(pause)
        if entry_at <= draft_at:
            due.remove((entry_at, session, count))
            due.append((entry_at + ENTRY_EVERY_SECONDS, session, count + 1))
            text[session] = ""
            (entry,) = journal.append(session, RUN, [result(count)])
            told.append(f"{session} {entry.seq} {time.time():.6f}")
        else:
            drafted.remove((draft_at, drafting))
            drafted.append((draft_at + DRAFT_EVERY_SECONDS, drafting))
            text[drafting] += LINE
            journal.put_draft(drafting, Draft(RUN, 1, 1, text[drafting]))
    journal.close()
    print("\n".join(told))


def result(number: int) -> NewEntry:
    """What a tool found."""
    data: dict[str, Json] = {"ok": True, "round": 1, "duration_ms": 12, "data": {"lines": [LINE] * 8}}
    return NewEntry(f"{RUN}/1.{number}/result", Kind.TOOL_RESULT, datetime.now(UTC), data, 1, f"1.{number}")


# ---------------------------------------------------------------- looking on


@dataclass
class Viewer:
    """Follows one session. `seen` are the numbers of its events and when they came, in order; `drafts` how many."""

    session: str
    seen: list[tuple[int, float]] = field(default_factory=list)
    drafts: int = 0
    cuts: int = 0

    async def look(self, url: str, token: str, *, cut_after_seconds: float | None) -> None:
        """Until cancelled. Once cut off, it comes back as a browser does."""
        if cut_after_seconds is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(cut_after_seconds):
                    await self._stream(url, token)
            self.cuts += 1
        await self._stream(url, token)

    async def _stream(self, url: str, token: str) -> None:
        address = urlsplit(url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        try:
            last = f"Last-Event-ID: {self.seen[-1][0]}\r\n" if self.seen else ""
            writer.write(
                f"GET /api/sessions/{self.session}/events HTTP/1.1\r\nHost: {address.netloc}\r\n"
                f"Authorization: Bearer {token}\r\nAccept: text/event-stream\r\n{last}\r\n".encode()
            )
            status = await reader.readline()
            assert b" 200 " in status, status
            while line := await reader.readline():
                # Each field is on a line of its own, whatever the chunks are.
                if line.startswith(b"id:"):
                    self.seen.append((int(line[3:]), time.time()))
                elif line.startswith(b"event: draft"):
                    self.drafts += 1
        finally:
            writer.close()


# ---------------------------------------------------------------- the whole


@dataclass(frozen=True)
class Measured:
    """What came of it: each event's way to each viewer in milliseconds, and what went wrong."""

    milliseconds: list[float]
    events: int
    drafts: int
    cuts: int
    lost: int
    repeated: int
    busy: float

    @property
    def is_good(self) -> bool:
        """Nothing was lost or repeated, and it was quick."""
        return not (self.lost or self.repeated) and statistics.median(self.milliseconds) < MOST_MILLISECONDS


async def measure(folder: Path, runs: int, viewers: int, seconds: float) -> Measured:
    """Serve, write, look on, and compare."""
    file = folder / "journal.sqlite"
    sessions = [f"run-{number}" for number in range(runs)]
    journal = SqlJournal(f"sqlite:///{file}")
    for session in sessions:
        journal.begin_run(session, RUN, datetime.now(UTC), Principal("ann"))
        journal.append(
            session, RUN, [NewEntry("asked", Kind.USER_MESSAGE, datetime.now(UTC), {"id": "m", "text": "?"})]
        )
    journal.close()
    token = Tokens(folder / "tokens.json").add("ann", ("viewer",))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    url = f"http://127.0.0.1:{port}"
    environment = {
        **os.environ,
        "OPSPILOT_STATE_DIR": str(folder),
        "OPSPILOT_JOURNAL": f"sqlite:///{file}",
        "OPSPILOT_WEB__AUTH": "token",
        "OPSPILOT_WEB__PORT": str(port),
        "OPSPILOT_WEB__TOKENS_FILE": str(folder / "tokens.json"),
        "OPSPILOT_APPROVALS__SIGNATURES": "off",
        "OPSPILOT_LOG_LEVEL": "warning",
        "TEMPORAL_ADDRESS": "127.0.0.1:1",
        "PYTHONPATH": str(ROOT),
    }
    server = subprocess.Popen([sys.executable, "-m", "opspilot.web"], cwd=folder, env=environment)  # noqa: ASYNC220
    try:
        await until_it_serves(url, token)
        looking = [Viewer(sessions[number % runs]) for number in range(viewers)]
        tasks = [
            asyncio.create_task(
                viewer.look(url, token, cut_after_seconds=seconds / 2 if number % CUT_EVERY == 0 else None)
            )
            for number, viewer in enumerate(looking)
        ]
        while not all(viewer.seen for viewer in looking):  # noqa: ASYNC110 they come one after another
            await asyncio.sleep(0.05)
        begun, busy = time.monotonic(), processor_seconds(server.pid)
        writer = await asyncio.create_subprocess_exec(
            sys.executable, __file__, "--write", file, str(seconds), *sessions, stdout=asyncio.subprocess.PIPE
        )
        written, _ = await writer.communicate()
        busy = (processor_seconds(server.pid) - busy) / (time.monotonic() - begun)
        committed = {
            (session, int(seq)): float(at)
            for session, seq, at in (line.split() for line in written.decode().rstrip("\n").split("\n"))
        }
        await until_all_is_seen(looking, committed)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        server.terminate()
        server.wait()
    return compared(looking, committed, busy)


def compared(looking: Sequence[Viewer], committed: dict[tuple[str, int], float], busy: float) -> Measured:
    """What each viewer saw, beside what was written."""
    milliseconds: list[float] = []
    lost = repeated = 0
    for viewer in looking:
        numbers = [seq for seq, _ in viewer.seen]
        expected = {seq for session, seq in committed if session == viewer.session} | {1}
        repeated += len(numbers) - len(set(numbers)) + (numbers != sorted(numbers))
        lost += len(expected - set(numbers))
        milliseconds += [
            max(0.0, (at - committed[viewer.session, seq]) * 1000)
            for seq, at in viewer.seen
            if (viewer.session, seq) in committed
        ]
    drafts, cuts = sum(viewer.drafts for viewer in looking), sum(viewer.cuts for viewer in looking)
    return Measured(milliseconds, len(committed), drafts, cuts, lost, repeated, busy)


async def until_it_serves(url: str, token: str) -> None:
    """Wait for the server."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    async with httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {token}"}) as client:
        while True:
            with suppress(httpx.TransportError):
                if (await client.get("/api/me")).status_code == 200:
                    return
            assert time.monotonic() < deadline, "The web server does not come up."
            await asyncio.sleep(0.05)


async def until_all_is_seen(looking: Sequence[Viewer], committed: dict[tuple[str, int], float]) -> None:
    """Wait for the last events, but not for lost ones."""
    last = {viewer.session: max(seq for session, seq in committed if session == viewer.session) for viewer in looking}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while any(viewer.seen[-1][0] < last[viewer.session] for viewer in looking):
        if time.monotonic() > deadline:
            return
        await asyncio.sleep(0.05)


def processor_seconds(pid: int) -> float:
    """What a process has used so far."""
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


def main() -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--viewers", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--json", action="store_true", help="print what was measured for programs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="opspilot-bench-") as folder:
        measured = asyncio.run(measure(Path(folder), options.runs, options.viewers, options.seconds))
    ranked = sorted(measured.milliseconds)
    median, p95 = statistics.median(ranked), ranked[int(0.95 * (len(ranked) - 1))]
    if options.json:
        print(json.dumps({"median_ms": median, "p95_ms": p95, "lost": measured.lost, "repeated": measured.repeated}))
        return 0 if measured.is_good else 1
    print(
        f"{options.viewers} viewers on {options.runs} runs, {measured.cuts} of them cut off once: {measured.events:,} "
        f"events, {len(ranked):,} deliveries, {measured.drafts:,} drafts"
    )
    print(f"lost {measured.lost}, repeated {measured.repeated}")
    print(f"from commit to viewer: median {median:.0f} ms, 95 % within {p95:.0f} ms, worst {ranked[-1]:.0f} ms")
    print(f"the web server used {100 * measured.busy:.0f} % of a processor")
    print(f"bound: median under {MOST_MILLISECONDS} ms, nothing lost or repeated")
    return 0 if measured.is_good else 1


if __name__ == "__main__":
    if "--write" in sys.argv[1:2]:
        write(Path(sys.argv[2]), sys.argv[4:], float(sys.argv[3]))
    else:
        sys.exit(main())
