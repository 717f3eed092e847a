"""The test kit for people who write tools: `run_tool` makes one call, `Harness` a whole run, as the product does.

The only fake is the model, which plays a script. The one package in opspilot that may import the top-level packages
`workflows` and `activities`, since it composes a worker; no part of the product imports it.
"""

from opspilot.models.scripted import Expectation, ScriptedCall, ScriptedModel, Step
from opspilot.testing.desk import Desk
from opspilot.testing.harness import By, Harness, Reply
from opspilot.testing.script import call
from opspilot.testing.server import skipping_server
from opspilot.testing.trial import run_approved, run_tool

__all__ = [
    "By",
    "Desk",
    "Expectation",
    "Harness",
    "Reply",
    "ScriptedCall",
    "ScriptedModel",
    "Step",
    "call",
    "run_approved",
    "run_tool",
    "skipping_server",
]
