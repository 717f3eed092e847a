"""Tells people by a command of their own: a list of arguments, no shell, the facts as JSON on standard input.

What the command prints is thrown away unread, since it may hold anything; its exit status says whether it worked.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryFile

from opspilot.core.errors import NotificationError
from opspilot.core.ports import Notification
from opspilot.notifying.bodies import encoded
from opspilot.notifying.message import Wording

__all__ = ["Command"]

SECONDS = 30.0


@dataclass(frozen=True)
class Command:
    """The channel of one command, run in `folder` with this `environment` and no other variables.

    `{python}` as an argument is the interpreter that this runs on.
    """

    name: str
    command: tuple[str, ...] = field(repr=False)
    folder: Path
    environment: Mapping[str, str] = field(repr=False)
    wording: Wording
    seconds: float = SECONDS

    async def send(self, notification: Notification) -> None:
        """Run it, and wait for its end. Out of time, it is killed with all that it started."""
        arguments = [argument.replace("{python}", sys.executable) for argument in self.command]
        with TemporaryFile() as facts:
            facts.write(encoded(self.wording.facts(notification)))
            facts.seek(0)
            try:
                process = await asyncio.create_subprocess_exec(
                    *arguments,
                    cwd=self.folder,
                    env=dict(self.environment),
                    stdin=facts,
                    stdout=DEVNULL,
                    stderr=DEVNULL,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                why = error.strerror if isinstance(error, OSError) and error.strerror else "not a valid command"
                raise self._failed(f"could not be started: {why}") from None
        try:
            async with asyncio.timeout(self.seconds):
                status = await process.wait()
        except TimeoutError:
            raise self._failed(f"took longer than {self.seconds:g} seconds and was ended") from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        if status:
            how = f"was ended by signal {-status}" if status < 0 else f"ended with exit status {status}"
            raise self._failed(f"{how}; what it printed is not kept")

    def _failed(self, what: str) -> NotificationError:
        return NotificationError(f"The command {self.name} {what}.")
