"""Secrets don't belong into a settings file, which is shared: where one stands there, it is refused by name."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opspilot.core.errors import UsageError
from opspilot.texts.language import text

SECRETS = ("token", "approvals.key", "web.oidc.client_secret")


def refuse_secrets_in_file(table: Mapping[str, Any], path: Path) -> None:
    """Raises `UsageError` for the first secret in the file, with the variable that it belongs into."""
    for key in SECRETS:
        *sections, name = key.split(".")
        found: Any = table
        for section in sections:
            found = found.get(section) if isinstance(found, Mapping) else None
        if isinstance(found, Mapping) and name in found:
            variable = f"OPSPILOT_{key.replace('.', '__').upper()}"
            raise UsageError(text("settings.secret.plain", file=path, key=key, variable=variable))
