"""From settings to the model that thinks: the one place that knows both."""

from opspilot.core.errors import UsageError
from opspilot.core.ports import Model
from opspilot.models.anthropic import AnthropicModel
from opspilot.models.demo import DemoModel
from opspilot.models.http import Route
from opspilot.models.openai import OpenAIModel
from opspilot.models.responses import ResponsesModel
from opspilot.models.scripted import ScriptedModel
from opspilot.models.wire_model import WireOptions
from opspilot.settings import ModelSettings


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
