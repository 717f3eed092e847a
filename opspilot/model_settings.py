"""Which models there are and how each is reached: its table, made whole. Must not know what is done with them.

Owns the providers' homes, the rule which key goes to which server, and that no secret stands in a file. Reads no
environment: `Origin` holds the one that settings are read from.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from opspilot.bounds import MOST_SECONDS, MOST_TOKENS
from opspilot.core.errors import UsageError
from opspilot.settings_errors import Origin
from opspilot.texts.language import text

DEFAULT_OPENAI_MODEL = "gpt-5-mini"
DEFAULT_ANTHROPIC_MODEL = "claude-sonnet-4-6"
"""Asked when there is a key and nothing else; with a `base_url` the name has to be said."""

DEMO = "demo"
MOST_NAME_CHARACTERS = 200

_TABLE_NAME = re.compile(r"[a-z0-9]+([_.-][a-z0-9]+)*")
"""Lower case, since variables name them in upper case; no double underscore, which separates there."""


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
_OF_SERVER = ("api_key", "proxy", "ca_file")
"""What it takes to be let in by a server, whichever of its models is asked."""

Tokens: TypeAlias = Annotated[int, Field(gt=0, le=MOST_TOKENS)]
Seconds: TypeAlias = Annotated[float, Field(gt=0, le=MOST_SECONDS, allow_inf_nan=False)]
Adapter: TypeAlias = Literal["anthropic", "demo", "openai", "openai-responses", "scripted"]
Provider: TypeAlias = Literal["anthropic", "auto", "demo", "openai", "openai-responses", "scripted"]


class ModelSettings(BaseModel):
    """Which model thinks, and how it is reached.

    `auto` is `openai` when there is a key or a `base_url` for it, else `anthropic` when there is a key for that, else
    the offline `demo`. The key comes from `OPSPILOT_MODEL__API_KEY`, else from `api_key_file`, else from
    `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`, as the provider is; never from opspilot.toml. `base_url` may also come from
    `OPENAI_BASE_URL` or `ANTHROPIC_BASE_URL`: a key must not go to another server than its own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

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

    @property
    def has_server(self) -> bool:
        """Is it asked over one of the wire formats? Then the same server may have other models, too."""
        return self.adapter in _HOMES


def model_named(name: str, default: ModelSettings, models: Mapping[str, ModelSettings]) -> ModelSettings:
    """The model of a name; the empty one is the default's.

    A name is that of a table, or `demo`, or, where the default has a server, what that server calls one of its models.
    Raises `UsageError` with what there is.
    """
    if not name:
        return default
    if name in models:
        return models[name]
    if name == DEMO:
        return ModelSettings(provider="demo")
    if default.has_server and len(name) <= MOST_NAME_CHARACTERS and name.isprintable():
        return default.model_copy(update={"name": name})
    raise UsageError(text("settings.no_model", name=repr(name[:100]), names=", ".join([*models, DEMO])))


def refuse_secrets(table: Mapping[str, Any], path: Path) -> None:
    """What lets somebody in belongs into the environment, or into a file that only its owner can read."""
    _refuse_secrets_of(table.get("model"), "model", path)
    models = table.get("models")
    for name, model in models.items() if isinstance(models, dict) else ():
        _refuse_secrets_of(model, f"models.{name}", path)


def _refuse_secrets_of(model: Any, place: str, path: Path) -> None:
    model = model if isinstance(model, dict) else {}
    variable = f"OPSPILOT_{place.replace('.', '__').upper()}__"
    if "api_key" in model:
        key = "settings.secret.key" if place == "model" else "settings.secret.key_of_one"
        raise UsageError(text(key, file=path, key=f"{place}.api_key", variable=f"{variable}API_KEY"))
    headers = model.get("extra_headers")
    for name in headers if isinstance(headers, dict) else ():
        if name.lower() in _SECRET_HEADERS:
            header = f"{place}.extra_headers.{name}"
            raise UsageError(text("settings.secret.header", file=path, key=header, variable=f"{variable}EXTRA_HEADERS"))
    proxy = model.get("proxy")
    if isinstance(proxy, str) and "@" in proxy:
        raise UsageError(text("settings.secret.proxy", file=path, key=f"{place}.proxy", variable=f"{variable}PROXY"))


def resolve_models(
    models: Mapping[str, ModelSettings], default: ModelSettings, base: Path, origin: Origin
) -> dict[str, ModelSettings]:
    """Each table beside the default, which is resolved already, made whole by `resolve_model`."""
    for name in models:
        if _TABLE_NAME.fullmatch(name) is None or len(name) > MOST_NAME_CHARACTERS:
            raise UsageError(text("settings.model_name", where=origin.where("models", name)))
    return {name: resolve_model(model, base, origin, ("models", name), default) for name, model in models.items()}


def resolve_model(
    model: ModelSettings,
    base: Path,
    origin: Origin,
    place: tuple[str, ...] = ("model",),
    default: ModelSettings | None = None,
) -> ModelSettings:
    """Make paths absolute, fetch the key, and refuse what only the whole can show to be wrong.

    `default` is the model that this one stands beside: without a provider and a `base_url` it is at that one's server.
    At the same server the same key is good; at any other than the provider's own, only a key that is this table's.
    """
    provider, base_url = _provider(model, origin.environment), model.base_url
    if default is not None and model.provider == "auto" and not base_url:
        provider = default.adapter if default.has_server else "openai" if provider == "auto" else provider
        base_url = default.base_url if default.has_server else ""
    update: dict[str, Any] = {
        "script": model.script and base / model.script.expanduser(),
        "ca_file": model.ca_file and base / model.ca_file.expanduser(),
        "provider": provider,
    }
    home = _HOMES.get("openai" if provider == "auto" else provider)
    if home:
        usual = origin.environment.get(home.url_variable, "")
        base_url = base_url or usual
        update |= {"base_url": base_url, "api_key": model.api_key or _read_key(model.api_key_file, base, origin, place)}
        if default and _HOMES.get(default.adapter) is home and default.base_url == (base_url or home.url):
            update |= {key: update.get(key) or getattr(model, key) or getattr(default, key) for key in _OF_SERVER}
            update["extra_headers"] = {**default.extra_headers, **model.extra_headers}
        if update["api_key"] is None and (default is None or base_url in ("", usual, home.url)):
            key = origin.environment.get(home.key_variable, "")
            update["api_key"] = SecretStr(key) if key else None
    model = model.model_copy(update=update)
    if model.adapter == "scripted" and not (model.script and model.script.is_file()):
        raise UsageError(text("settings.script", where=origin.where(*place, "script"), place=".".join(place)))
    if home is None or not model.has_server:
        return model
    if model.base_url and model.base_url != home.url:
        _check_server(model, origin, place)
        return model
    if model.api_key is None:
        raise UsageError(
            text(
                "settings.needs_key",
                where=origin.where(*place, "provider"),
                place=".".join(place),
                provider=model.adapter,
                variable=home.key_variable,
                own=f"OPSPILOT_{'__'.join(place).upper()}__API_KEY",
            )
        )
    return model.model_copy(update={"name": model.name or home.model, "base_url": home.url})


def _provider(model: ModelSettings, environment: Mapping[str, str]) -> Provider:
    """`auto` settled where only Anthropic's key is there."""
    variables = (_OPENAI.key_variable, _OPENAI.url_variable)
    openai = model.api_key or model.api_key_file or model.base_url or any(map(environment.get, variables))
    if model.provider == "auto" and not openai and environment.get(_HOMES["anthropic"].key_variable):
        return "anthropic"
    return model.provider


def _check_server(model: ModelSettings, origin: Origin, place: tuple[str, ...]) -> None:
    if not model.base_url.startswith(("http://", "https://")):
        raise UsageError(text("settings.base_url", where=origin.where(*place, "base_url")))
    if not model.name:
        raise UsageError(text("settings.name", where=origin.where(*place, "name"), place=".".join(place)))


def _read_key(file: Path | None, base: Path, origin: Origin, place: tuple[str, ...]) -> SecretStr | None:
    if file is None:
        return None
    path = base / file.expanduser()
    where = origin.where(*place, "api_key_file")
    try:
        key = path.read_bytes().decode().strip()
    except (OSError, ValueError):
        raise UsageError(text("settings.key_file.unreadable", where=where, path=path)) from None
    if not key:
        raise UsageError(text("settings.key_file.empty", where=where, path=path))
    return SecretStr(key)
