"""A relay in front of a server whose connections a test can cut, as networks do."""

import asyncio
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit


class Relay:
    """`async with Relay(url) as relay:` leads from `relay.url` to `url`."""

    def __init__(self, url: str) -> None:
        self._to = urlsplit(url)
        self._writers: set[asyncio.StreamWriter] = set()
        self._is_cut = False
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.url = ""

    async def __aenter__(self) -> Self:
        """Listen."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        """End every connection."""
        self.cut()
        assert self._server is not None
        self._server.close()
        await asyncio.gather(*self._tasks)

    def cut(self) -> None:
        """Break all connections, in the middle of whatever they carry, and take no new ones."""
        self._is_cut = True
        for writer in self._writers:
            writer.transport.abort()

    def mend(self) -> None:
        """Take connections again."""
        self._is_cut = False

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        if self._is_cut:
            writer.transport.abort()
            return
        from_server, to_server = await asyncio.open_connection(self._to.hostname, self._to.port)
        self._writers |= {writer, to_server}
        await asyncio.gather(_carry(reader, to_server), _carry(from_server, writer))
        self._writers -= {writer, to_server}


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()
