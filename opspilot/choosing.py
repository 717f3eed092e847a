"""From settings to the models that think: the one place that knows both."""

from functools import lru_cache

from opspilot.core.errors import ModelError, ModelFault, UsageError
from opspilot.core.ports import Model
from opspilot.model_settings import ModelSettings
from opspilot.models.anthropic import AnthropicModel
from opspilot.models.demo import DemoModel
from opspilot.models.http import Route
from opspilot.models.openai import OpenAIModel
from opspilot.models.responses import ResponsesModel
from opspilot.models.scripted import ScriptedModel
from opspilot.models.wire_model import WireOptions
from opspilot.settings import Settings

KEPT = 64
"""How many adapters are kept of models without a table: as many names may be asked for as people think of."""


class ChosenModels:
    """The port `Models`. What has a table is built at once, so that a wrong one is found before anybody asks for it.

    Making it raises `UsageError` as `build_model` does, with the table's name.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._configured = {"": build_model(settings.model)}
        for name, model in settings.models.items():
            try:
                self._configured[name] = build_model(model)
            except UsageError as error:
                raise UsageError(f"models.{name}: {error}") from None
        self._others = lru_cache(maxsize=KEPT)(self._other)

    def __call__(self, name: str) -> Model:
        """The model of that name. Raises `ModelError` for one that isn't there, or can't be asked."""
        return self._configured.get(name) or self._others(name)

    def _other(self, name: str) -> Model:
        try:
            return build_model(self._settings.model_named(name))
        except UsageError as error:
            raise ModelError(ModelFault.BAD_REQUEST, str(error), retryable=False) from None


def build_model(settings: ModelSettings) -> Model:
    """The adapter that the settings name. Raises `UsageError` for what only an adapter can see to be wrong."""
    match settings.adapter:
        case "demo":
            return DemoModel()
        case "scripted":
            if settings.script is None:
                raise UsageError("model.provider is scripted, so model.script must name its script.")
            return ScriptedModel.load(settings.script)
        case "anthropic":
            return AnthropicModel(*_connection(settings))
        case "openai":
            return OpenAIModel(*_connection(settings))
        case "openai-responses":
            return ResponsesModel(*_connection(settings))


def _connection(settings: ModelSettings) -> tuple[str, str, str, WireOptions]:
    options = WireOptions(
        read_timeout_seconds=settings.read_timeout_seconds,
        max_output_tokens=settings.max_output_tokens,
        extra_headers={name: value.get_secret_value() for name, value in settings.extra_headers.items()},
        extra_body=settings.extra_body,
        strict_tool_calls=settings.strict_tool_calls,
        route=Route(settings.proxy.get_secret_value() if settings.proxy else None, settings.ca_file),
    )
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    return settings.name, settings.base_url, key, options
