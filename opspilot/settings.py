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
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from platformdirs import user_state_path
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SecretStr, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from opspilot.bounds import MOST_GRACE_SECONDS, MOST_SECONDS, MOST_STEPS, MOST_TOKENS
from opspilot.core.contract import TASK_QUEUE
from opspilot.core.cost import Price
from opspilot.core.errors import UsageError
from opspilot.core.limits import Limits
from opspilot.settings_errors import Origin

FILE_NAME = "opspilot.toml"
CONFIG_VARIABLE = "OPSPILOT_CONFIG"
PREFIX = "OPSPILOT_"

DEFAULT_OPENAI_MODEL = "gpt-5-mini"
DEFAULT_ANTHROPIC_MODEL = "claude-sonnet-4-6"
"""Asked when there is a key and nothing else; with a `base_url` the name has to be said."""


class _Home(NamedTuple):
    """Where a wire format is at home, and the variables that everybody sets for it."""

    url: str
    model: str
    key_variable: str
    url_variable: str


_OPENAI = _Home("https://api.openai.com/v1", DEFAULT_OPENAI_MODEL, "OPENAI_API_KEY", "OPENAI_BASE_URL")
_HOMES = {
    "openai": _OPENAI,
    "openai-responses": _OPENAI,
    "anthropic": _Home("https://api.anthropic.com", DEFAULT_ANTHROPIC_MODEL, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
}
_SECRET_HEADERS = {"authorization", "proxy-authorization", "x-api-key", "api-key", "cookie"}
_BY_ENVIRONMENT = "must not stand in a file that is shared. Set {variable} in the environment"

_SQLITE = "sqlite:///"
_JOURNALS = (_SQLITE, "postgresql://", "postgresql+psycopg://")

_NO_FOLDER_CHARACTERS = "?#%\0"
"""The first three mean something in the addresses that SQLite and the local server make of a path."""

Count: TypeAlias = Annotated[int, Field(gt=0, le=MOST_STEPS)]
Tokens: TypeAlias = Annotated[int, Field(gt=0, le=MOST_TOKENS)]
Seconds: TypeAlias = Annotated[float, Field(gt=0, le=MOST_SECONDS, allow_inf_nan=False)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Adapter: TypeAlias = Literal["anthropic", "demo", "openai", "openai-responses", "scripted"]
Provider: TypeAlias = Literal["anthropic", "auto", "demo", "openai", "openai-responses", "scripted"]


class ModelSettings(_Section):
    """Which model thinks, and how it is reached.

    `auto` is `openai` when there is a key or a `base_url` for it, else `anthropic` when there is a key for that, else
    the offline `demo`. The key comes from `OPSPILOT_MODEL__API_KEY`, else from `api_key_file`, else from
    `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`, as the provider is; never from opspilot.toml. `base_url` may also come from
    `OPENAI_BASE_URL` or `ANTHROPIC_BASE_URL`: a key must not go to another server than its own.
    """

    provider: Provider = "auto"
    name: str = ""
    base_url: str = ""
    api_key: SecretStr | None = None
    api_key_file: Path | None = None
    max_output_tokens: Tokens | None = None
    read_timeout_seconds: Seconds = 120.0
    strict_tool_calls: bool = False
    extra_headers: dict[str, SecretStr] = Field(default_factory=dict)
    extra_body: dict[str, Any] = Field(default_factory=dict)
    proxy: SecretStr | None = None
    ca_file: Path | None = None
    script: Path | None = None

    @property
    def adapter(self) -> Adapter:
        """The provider that is really used."""
        if self.provider != "auto":
            return self.provider
        return "openai" if self.api_key or self.base_url else "demo"


class PriceSettings(_Section):
    """What a million tokens of one model cost, in your currency; `cached` defaults to `input`."""

    input: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    output: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    cached: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None

    def as_price(self) -> Price:
        """The same as the core knows it."""
        return Price(**self.model_dump())


class LimitSettings(_Section):
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

    def as_limits(self) -> Limits:
        """The same as the core knows them."""
        return Limits(**self.model_dump())


class LocalSettings(_Section):
    """The local stack. `prepare` is a command (a list of arguments) that is run once before the first question."""

    prepare: tuple[str, ...] = ()


class TemporalSettings(_Section):
    """Where runs are queued. Address, namespace and certificates are set as `temporalio.envconfig` says."""

    task_queue: Annotated[str, Field(min_length=1, max_length=200)] = TASK_QUEUE


class WorkerSettings(_Section):
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
    limits: LimitSettings = LimitSettings()
    tools: dict[str, Any] = Field(default_factory=dict, repr=False)
    prices: dict[str, PriceSettings] = Field(default_factory=dict)
    local: LocalSettings = LocalSettings()
    temporal: TemporalSettings = TemporalSettings()
    worker: WorkerSettings = WorkerSettings()
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
            self.state_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = "a file stands in the way" if isinstance(error, FileExistsError) else error.strerror
            raise UsageError(
                f"The state folder {self.state_dir} can't be made: {why}. Name another one with state_dir "
                "(OPSPILOT_STATE_DIR)."
            ) from None

    def digest(self) -> str:
        """32 hexadecimal digits over all settings, secrets included: when it differs, a worker has to restart."""
        plain = self.model_dump() | {"base": self.base}
        text = json.dumps(plain, sort_keys=True, default=_revealed)
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, person=b"settings").hexdigest()

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
            raise UsageError(f"Environment variable {CONFIG_VARIABLE} names {path}, and there is no such file.")
        return path
    path = Path.cwd() / FILE_NAME
    return path if path.is_file() else None


def _read(path: Path) -> dict[str, Any]:
    try:
        table = tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}.") from None
    except ValueError as error:
        raise UsageError(f"{path} is not valid TOML: {error}.") from None
    _refuse_secrets(table.get("model"), path)
    return table


def _refuse_secrets(model: Any, path: Path) -> None:
    """What lets somebody in belongs into the environment, or into a file that only its owner can read."""
    model = model if isinstance(model, dict) else {}
    if "api_key" in model:
        variables = "OPSPILOT_MODEL__API_KEY, or OPENAI_API_KEY or ANTHROPIC_API_KEY,"
        raise UsageError(
            f"{path}: model.api_key {_BY_ENVIRONMENT.format(variable=variables)}, or name a file that only you can "
            "read with model.api_key_file."
        )
    headers = model.get("extra_headers")
    for name in headers if isinstance(headers, dict) else ():
        if name.lower() in _SECRET_HEADERS:
            variable = "OPSPILOT_MODEL__EXTRA_HEADERS (a JSON object)"
            raise UsageError(f"{path}: model.extra_headers.{name} {_BY_ENVIRONMENT.format(variable=variable)}.")
    proxy = model.get("proxy")
    if isinstance(proxy, str) and "@" in proxy:
        raise UsageError(
            f"{path}: model.proxy with a password {_BY_ENVIRONMENT.format(variable='OPSPILOT_MODEL__PROXY')}."
        )


def _resolve(settings: Settings, origin: Origin) -> Settings:
    """Make paths absolute, fetch the key, and refuse what only the whole can show to be wrong."""
    base = origin.file.parent if origin.file else Path.cwd()
    state_dir = base / settings.state_dir.expanduser()
    # The local stack goes by the real path, behind links; one with a NUL has none.
    paths = str(state_dir) if "\0" in str(state_dir) else f"{state_dir}{os.path.realpath(state_dir)}"
    if any(character in paths for character in _NO_FOLDER_CHARACTERS):
        raise UsageError(
            f"{origin.where('state_dir')} must be a folder without ?, # and % in its whole path ({str(state_dir)!r}), "
            "as databases misread them."
        )
    for name, tool in settings.tools.items():
        if not isinstance(tool, dict):
            raise UsageError(f"{origin.where('tools', name)} must be a table: [tools.{name}], with its keys below it.")
    resolved = settings.model_copy(
        update={
            "model": _resolve_model(settings.model, base, origin),
            "state_dir": state_dir,
            "journal": _resolve_journal(settings.journal, base, origin) or f"sqlite:///{state_dir / 'journal.sqlite'}",
        }
    )
    resolved._base, resolved._file = base, origin.file  # noqa: SLF001 (made here, frozen from here on)
    return resolved


def _resolve_model(model: ModelSettings, base: Path, origin: Origin) -> ModelSettings:
    update: dict[str, Any] = {
        "script": model.script and base / model.script.expanduser(),
        "ca_file": model.ca_file and base / model.ca_file.expanduser(),
        "provider": _provider(model),
    }
    home = _HOMES.get("openai" if update["provider"] == "auto" else update["provider"])
    if home:
        update["api_key"] = model.api_key or _read_key(model.api_key_file, base, origin, home.key_variable)
        update["base_url"] = model.base_url or os.environ.get(home.url_variable, "")
    model = model.model_copy(update=update)
    if model.adapter == "scripted" and not (model.script and model.script.is_file()):
        raise UsageError(
            f"{origin.where('model', 'script')} must name the file to play, as model.provider is scripted."
        )
    if home is None or model.adapter not in _HOMES:
        return model
    if model.base_url:
        _check_server(model, origin)
        return model
    if model.api_key is None:
        raise UsageError(
            f"{origin.where('model', 'provider')} is {model.adapter}, which needs a key: set {home.key_variable} or "
            "OPSPILOT_MODEL__API_KEY, or model.api_key_file. A server that wants no key is named with model.base_url."
        )
    return model.model_copy(update={"name": model.name or home.model, "base_url": home.url})


def _provider(model: ModelSettings) -> Provider:
    """`auto` settled where only Anthropic's key is there."""
    variables = (_OPENAI.key_variable, _OPENAI.url_variable)
    openai = model.api_key or model.api_key_file or model.base_url or any(map(os.environ.get, variables))
    if model.provider == "auto" and not openai and os.environ.get(_HOMES["anthropic"].key_variable):
        return "anthropic"
    return model.provider


def _check_server(model: ModelSettings, origin: Origin) -> None:
    if not model.base_url.startswith(("http://", "https://")):
        raise UsageError(f"{origin.where('model', 'base_url')} must begin with http:// or https://.")
    if not model.name:
        raise UsageError(f"{origin.where('model', 'name')} must say which of the models at model.base_url to ask.")


def _read_key(file: Path | None, base: Path, origin: Origin, variable: str) -> SecretStr | None:
    if file is None:
        key = os.environ.get(variable, "")
        return SecretStr(key) if key else None
    path = base / file.expanduser()
    where = origin.where("model", "api_key_file")
    try:
        key = path.read_bytes().decode().strip()
    except (OSError, ValueError):
        raise UsageError(f"{where} names {path}, which can't be read as text.") from None
    if not key:
        raise UsageError(f"{where} names {path}, which is empty.")
    return SecretStr(key)


def _resolve_journal(url: str, base: Path, origin: Origin) -> str:
    """A SQLite path becomes absolute, so that command line and worker, in different folders, mean the same file."""
    if url and not url.startswith(_JOURNALS):
        raise UsageError(f"{origin.where('journal')} must be a database URL: one of {', '.join(_JOURNALS)}…")
    if not url.startswith(_SQLITE):
        return url
    file = url.removeprefix(_SQLITE)
    if file in ("", ":memory:"):
        raise UsageError(f"{origin.where('journal')} must name a file: worker and command line can't share memory.")
    return _SQLITE + str(base / file)
