"""Short words for scripts."""

from opspilot.core.messages import Json
from opspilot.models.scripted import ScriptedCall


def call(name: str, /, **arguments: Json) -> ScriptedCall:
    """A tool call for a script: `Step(calls=[call("look", topic="disk")])`."""
    return ScriptedCall(name=name, arguments=arguments)
