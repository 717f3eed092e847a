"""`demo`: an offline planner that stands in for a model when no key is set. `model.py` is its outside."""

from opspilot.models.demo.model import DemoModel

__all__ = ["DemoModel"]
