"""Sends a test notification to each channel that the settings name, and says how it was taken."""

import uuid
from collections.abc import AsyncIterator, Mapping

from opspilot.channels import build_command, build_webhook
from opspilot.cli.doctor import Finding
from opspilot.core.contract import Notice
from opspilot.core.errors import NotificationError, UsageError
from opspilot.core.ports import Channel, Notification
from opspilot.settings import Settings
from opspilot.texts.language import text


async def try_channels(settings: Settings, environment: Mapping[str, str]) -> AsyncIterator[Finding]:
    """One finding for each channel. Commands see of the environment what is no secret, as in a worker."""
    notify = settings.notify
    if not notify.webhooks and not notify.commands:
        yield Finding("notify", ok=False, text=text("doctor.notify.none"), fix=text("doctor.notify.none.fix"))
    for webhook in notify.webhooks:
        try:
            channel: Channel = build_webhook(webhook, settings)
        except UsageError as error:
            yield Finding(f"notify {webhook.name}", ok=False, text=str(error), fix=text("doctor.notify.fix"))
        else:
            yield await _tried(channel)
    for command in notify.commands:
        yield await _tried(build_command(command, settings, environment))


async def _tried(channel: Channel) -> Finding:
    name = f"notify {channel.name}"
    try:
        await channel.send(Notification(uuid.uuid4().hex, Notice.TEST, session="", interrupt="", reason=""))
    except NotificationError as error:
        return Finding(name, ok=False, text=str(error), fix=text("doctor.notify.failed.fix"))
    return Finding(name, ok=True, text=text("doctor.notify.sent"))
