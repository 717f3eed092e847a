"""From settings to the channels by which people are told: the one place that knows both.

Reads the files that settings name for secrets and templates. `worker.py` and the doctor get their channels here.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from opspilot.child_environment import child_environment
from opspilot.core.errors import UsageError
from opspilot.core.ports import Channel
from opspilot.notifying.bodies import Body, Template, chat_body
from opspilot.notifying.command import Command
from opspilot.notifying.message import Wording
from opspilot.notifying.signing import signing_key
from opspilot.notifying.webhook import Webhook
from opspilot.sections.notify import CommandSettings, WebhookSettings
from opspilot.settings import Settings
from opspilot.texts.language import Language, text

__all__ = ["build_channels", "build_command", "build_webhook"]


def build_channels(settings: Settings, environment: Mapping[str, str]) -> tuple[Channel, ...]:
    """All that the settings name. Commands see of the environment what is no secret.

    Raises `UsageError` for an address, secret or template that can't be read or can't be one.
    """
    notify = settings.notify
    return (
        *(build_webhook(webhook, settings) for webhook in notify.webhooks),
        *(build_command(command, settings, environment) for command in notify.commands),
    )


def build_webhook(webhook: WebhookSettings, settings: Settings) -> Webhook:
    """The channel of one webhook."""
    where = f"notify.webhooks {webhook.name}"
    secret_of, url_of = webhook.secret, webhook.url
    url = url_of.get_secret_value() if url_of else _read(webhook.url_file, f"{where}: url_file")
    if not _is_address(url):
        raise UsageError(text("channels.url", where=where))
    key = None
    if secret_of or webhook.secret_file:
        secret = secret_of.get_secret_value() if secret_of else _read(webhook.secret_file, f"{where}: secret_file")
        key = signing_key(secret, where)
    return Webhook(webhook.name, url, _wording(settings), _body(webhook, where), key)


def build_command(command: CommandSettings, settings: Settings, environment: Mapping[str, str]) -> Command:
    """The channel of one command, which runs in the folder of the settings file."""
    seen = child_environment(environment)
    return Command(command.name, command.command, settings.base, seen, _wording(settings))


def _wording(settings: Settings) -> Wording:
    return Wording(settings.notify.link or settings.web.url, Language(settings.notify.language))


def _body(webhook: WebhookSettings, where: str) -> Body:
    if webhook.template is not None:
        return Template(webhook.template, f"{where}: template")
    if webhook.template_file is None:
        return chat_body
    where = f"{where}: template_file"
    try:
        shape = json.loads(_read(webhook.template_file, where))
    except (ValueError, RecursionError):
        raise UsageError(text("channels.template.json", where=where)) from None
    return Template(shape, where)


def _read(path: Path | None, where: str) -> str:
    assert path is not None
    try:
        content = path.read_bytes().decode().strip()
    except (OSError, ValueError):
        raise UsageError(text("settings.key_file.unreadable", where=where, path=path)) from None
    if not content:
        raise UsageError(text("channels.empty", where=where, path=path))
    return content


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0 and url.isprintable()
    except ValueError:
        return False
