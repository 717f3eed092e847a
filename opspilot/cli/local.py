"""From settings to the local stack of one state folder: whether one is to be used, and what it takes to bring it up."""

from collections.abc import Callable, Mapping
from pathlib import Path

from temporalio.envconfig import ClientConfig

from opspilot import embedded, stack, stack_web
from opspilot.embedded import code_digest
from opspilot.place import Deadlines, Endpoint, Place
from opspilot.settings import AUTH_VARIABLE, CONFIG_VARIABLE, Settings
from opspilot.tools.finding import own_sources


def place(settings: Settings, root: Path, environment: Mapping[str, str]) -> Place:
    """The stack of these settings. `root` holds worker.py and `opspilot`; `environment` is handed on whole, unread."""
    return Place(
        state=settings.state_dir.resolve(),
        worker=root / "worker.py",
        digest=code_digest(root, settings.digest(), own_sources(settings.tools, settings.base)),
        environment={**environment, **_told(settings)},
        folder=settings.base,
        task_queue=settings.temporal.task_queue,
        deadlines=Deadlines(drain=settings.worker.graceful_shutdown_seconds + 10),
        web=root,
        # A port that nobody chose is any that is free: there may be other stacks on this machine.
        web_port=settings.web.port if "port" in settings.web.model_fields_set else 0,
    )


def _told(settings: Settings) -> dict[str, str]:
    """What the stack's processes can't know by themselves: which file is theirs, and that they are local."""
    told = {CONFIG_VARIABLE: str(settings.file)} if settings.file else {}
    return told if settings.web.auth else told | {AUTH_VARIABLE: "local"}


def remembered(settings: Settings) -> Endpoint | None:
    """The stack as it was last seen, if it is to be used: it was started, and no other Temporal is named."""
    if ClientConfig.load_client_connect_config() or not embedded.wanted(settings.state_dir):
        return None
    there = stack.load(settings.state_dir / "stack.json")
    return Endpoint(f"127.0.0.1:{there.port}", f"http://127.0.0.1:{there.ui_port}", stack_web.address_of(there))


def endpoint(
    settings: Settings, where: Callable[[], Place], say: Callable[[str], None], *, wished: bool, asking: bool
) -> Endpoint | None:
    """The stack, brought up, when it is wished or remembered; None: what `temporalio.envconfig` names is to be used.

    Who only looks on (`asking` False) runs no preparation and is content with a worker that runs other code.
    """
    if not wished and remembered(settings) is None:
        return None
    settings.make_state_dir()
    prepare = settings.local.prepare if asking else ()
    return embedded.ensure(where(), say, prepare=prepare, any_worker=not asking)
