"""Owns the settings: the only reader of the environment and of `opspilot.toml`. Must not know what is done with them.

The environment (`OPSPILOT_…`, `__` for nesting) goes before the file (`OPSPILOT_CONFIG`, else the one in the current
folder; none is fine). Relative paths start from the file's folder, without a file from the current one. What is no
setting or has a wrong value is refused with a sentence that names the file or variable, the key, and what is allowed.
"""

import hashlib
import json
import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from platformdirs import user_state_path
from pydantic import Field, PrivateAttr, SecretStr, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from opspilot.bounds import MOST_GRACE_SECONDS, MOST_STEPS
from opspilot.core.contract import TASK_QUEUE
from opspilot.core.cost import Price
from opspilot.core.errors import UsageError
from opspilot.core.limits import Limits, OnLimit
from opspilot.model_settings import (
    ModelSettings,
    Seconds,
    Tokens,
    model_named,
    refuse_secrets,
    resolve_model,
    resolve_models,
)
from opspilot.sections.approvals import ApprovalSettings, resolve_approvals
from opspilot.sections.budget import BudgetSettings, refuse_costs_without_prices
from opspilot.sections.notify import NotifySettings, refuse_secrets_of_webhooks, resolve_notify
from opspilot.sections.policy import PolicySettings, refuse_contradictions
from opspilot.sections.secrets_in_file import refuse_secrets_in_file
from opspilot.sections.section import Section, Word
from opspilot.sections.web import WebSettings, resolve_web
from opspilot.settings_errors import Origin
from opspilot.texts.language import text

FILE_NAME = "opspilot.toml"
CONFIG_VARIABLE = "OPSPILOT_CONFIG"
AUTH_VARIABLE = "OPSPILOT_WEB__AUTH"
PREFIX = "OPSPILOT_"

_SQLITE = "sqlite:///"
_JOURNALS = (_SQLITE, "postgresql://", "postgresql+psycopg://")

_NO_FOLDER_CHARACTERS = "?#%\0"
"""The first three mean something in the addresses that SQLite and the local server make of a path."""

Count: TypeAlias = Annotated[int, Field(gt=0, le=MOST_STEPS)]


class PriceSettings(Section):
    """What a million tokens of one model cost, in your currency; `cached` defaults to `input`."""

    input: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    output: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    cached: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None

    def as_price(self) -> Price:
        """The same as the core knows it."""
        return Price(**self.model_dump())


class LimitSettings(Section):
    """What bounds a run: `opspilot.core.limits.Limits`, validated."""

    steps: Count = Limits.steps
    active_seconds: Seconds = Limits.active_seconds
    failures_in_a_row: Count = Limits.failures_in_a_row
    same_result_in_a_row: Count = Limits.same_result_in_a_row
    same_call_in_a_row: Count = Limits.same_call_in_a_row
    tokens: Tokens = Limits.tokens
    rounds: Count = Limits.rounds
    parallel_calls: Count = Limits.parallel_calls
    final_turn_seconds: Seconds = Limits.final_turn_seconds
    first_message_seconds: Seconds = Limits.first_message_seconds
    # A history has room for 51,200 events, and a step can have several dozen.
    continue_as_new_steps: Annotated[int, Field(gt=0, le=200)] = Limits.continue_as_new_steps
    on_limit: Literal["stop", "ask"] = Limits.on_limit.value

    def as_limits(self) -> Limits:
        """The same as the core knows them."""
        return Limits(**self.model_dump() | {"on_limit": OnLimit(self.on_limit)})


class LocalSettings(Section):
    """This machine. `prepare` is a command (a list of arguments) that is run once before the first question.

    `roles` are those of whoever is at the command line; tools and approvals ask for them.
    """

    prepare: tuple[str, ...] = ()
    roles: tuple[Word, ...] = ("operator", "approver")


class TemporalSettings(Section):
    """Where runs are queued. Address, namespace and certificates are set as `temporalio.envconfig` says."""

    task_queue: Annotated[str, Field(min_length=1, max_length=200)] = TASK_QUEUE


class WorkerSettings(Section):
    """One worker process. The grace must be longer than the longest write, else a stop looks like its failure."""

    max_concurrent_activities: Annotated[int, Field(gt=0, le=10_000)] = 50
    max_cached_workflows: Annotated[int, Field(gt=0, le=100_000)] = 500
    graceful_shutdown_seconds: Annotated[Seconds, Field(le=MOST_GRACE_SECONDS)] = 90.0


class Settings(BaseSettings):
    """Everything that can be set. Made by `load_settings` alone; neither `repr` nor `str` shows a secret."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
    )

    model: ModelSettings = ModelSettings()
    models: dict[str, ModelSettings] = Field(default_factory=dict)
    limits: LimitSettings = LimitSettings()
    tools: dict[str, Any] = Field(default_factory=dict, repr=False)
    policy: PolicySettings = PolicySettings()
    budget: BudgetSettings = BudgetSettings()
    prices: dict[str, PriceSettings] = Field(default_factory=dict)
    local: LocalSettings = LocalSettings()
    temporal: TemporalSettings = TemporalSettings()
    worker: WorkerSettings = WorkerSettings()
    web: WebSettings = WebSettings()
    approvals: ApprovalSettings = ApprovalSettings()
    notify: NotifySettings = NotifySettings()
    token: SecretStr | None = None
    state_dir: Path = Field(default_factory=lambda: user_state_path("opspilot"))
    journal: str = Field(default="", repr=False)
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    _base: Path = PrivateAttr(default_factory=Path.cwd)
    _file: Path | None = PrivateAttr(default=None)

    @property
    def base(self) -> Path:
        """The folder that relative paths start from."""
        return self._base

    @property
    def file(self) -> Path | None:
        """The settings file, absolute: what a child process in another folder has to be given as `OPSPILOT_CONFIG`."""
        return self._file

    def make_state_dir(self) -> None:
        """Create the state folder where it is missing. Raises `UsageError` where it can't be one."""
        try:
            self.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            why = text("settings.state.file") if isinstance(error, FileExistsError) else error.strerror
            raise UsageError(text("settings.state.unmade", folder=self.state_dir, why=why)) from None

    def model_named(self, name: str) -> ModelSettings:
        """The model of a name, the default for the empty one. Raises `UsageError` with what there is."""
        return model_named(name, self.model, self.models)

    def digest(self) -> str:
        """32 hexadecimal digits over all settings, secrets included: when it differs, a worker has to restart."""
        plain = self.model_dump() | {"base": self.base}
        whole = json.dumps(plain, sort_keys=True, default=_revealed)
        return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16, person=b"settings").hexdigest()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment goes before what `load_settings` read from the file; there is no other source."""
        del env_settings, dotenv_settings, file_secret_settings
        return (_Environment(settings_cls), init_settings)


class _Environment(EnvSettingsSource):
    """Leaves a list that isn't JSON as text, so that validation refuses it by name."""

    def decode_complex_value(self, field_name: str, field: Any, value: Any) -> Any:
        try:
            return super().decode_complex_value(field_name, field, value)
        except ValueError:
            return value


def _revealed(value: Any) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)


def load_settings(config: Path | None = None) -> Settings:
    """Read `config`, or the file that the environment or the current folder names, under the environment.

    Raises `UsageError` with one sentence for each thing that is wrong.
    """
    path = config.absolute() if config else _find_config()
    origin = Origin(path, os.environ, PREFIX)
    variables = [PREFIX + name.upper() for name in Settings.model_fields]
    if wrong := origin.unknown_variables([*variables, CONFIG_VARIABLE]):
        raise UsageError("\n".join(wrong))
    table = _read(path) if path else {}
    try:
        settings = Settings(**table)
    except ValidationError as error:
        raise UsageError(origin.describe(error, Settings)) from None
    return _resolve(settings, origin)


def _find_config() -> Path | None:
    if named := os.environ.get(CONFIG_VARIABLE):
        path = Path(named).absolute()
        if not path.is_file():
            raise UsageError(text("settings.no_file", variable=CONFIG_VARIABLE, path=path))
        return path
    path = Path.cwd() / FILE_NAME
    return path if path.is_file() else None


def _read(path: Path) -> dict[str, Any]:
    try:
        table = tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise UsageError(text("settings.unreadable", path=path, why=error.strerror)) from None
    except ValueError as error:
        raise UsageError(text("settings.no_toml", path=path, why=error)) from None
    refuse_secrets(table, path)
    refuse_secrets_in_file(table, path)
    refuse_secrets_of_webhooks(table, path)
    return table


def _resolve(settings: Settings, origin: Origin) -> Settings:
    """Make paths absolute, fetch the key, and refuse what only the whole can show to be wrong."""
    base = origin.file.parent if origin.file else Path.cwd()
    state_dir = base / settings.state_dir.expanduser()
    # The local stack goes by the real path, behind links; one with a NUL has none.
    paths = str(state_dir) if "\0" in str(state_dir) else f"{state_dir}{os.path.realpath(state_dir)}"
    if any(character in paths for character in _NO_FOLDER_CHARACTERS):
        raise UsageError(
            text("settings.state.characters", where=origin.where("state_dir"), folder=repr(str(state_dir)))
        )
    for name, tool in settings.tools.items():
        if not isinstance(tool, dict):
            raise UsageError(text("settings.tool_table", where=origin.where("tools", name), name=name))
    refuse_contradictions(settings.policy, origin)
    refuse_costs_without_prices(settings.budget, settings.prices, origin)
    model = resolve_model(settings.model, base, origin)
    resolved = settings.model_copy(
        update={
            "model": model,
            "models": resolve_models(settings.models, model, base, origin),
            "web": resolve_web(settings.web, base, state_dir, origin),
            "approvals": resolve_approvals(settings.approvals, base),
            "notify": resolve_notify(settings.notify, base, origin),
            "state_dir": state_dir,
            "journal": _resolve_journal(settings.journal, base, origin) or f"sqlite:///{state_dir / 'journal.sqlite'}",
        }
    )
    resolved._base, resolved._file = base, origin.file  # noqa: SLF001 (made here, frozen from here on)
    return resolved


def _resolve_journal(url: str, base: Path, origin: Origin) -> str:
    """A SQLite path becomes absolute, so that command line and worker, in different folders, mean the same file."""
    if url and not url.startswith(_JOURNALS):
        raise UsageError(text("settings.journal.url", where=origin.where("journal"), urls=", ".join(_JOURNALS)))
    if not url.startswith(_SQLITE):
        return url
    file = url.removeprefix(_SQLITE)
    if file in ("", ":memory:"):
        raise UsageError(text("settings.journal.memory", where=origin.where("journal")))
    return _SQLITE + str(base / file)
