"""The section `[notify]`: who is told, outside of OpsPilot, that a run waits for people.

The address of a chat's webhook is a secret: it stands in a file of its own or in the environment, and so does the
secret that a webhook is signed with. Both files are read by who tells people, when a worker starts.
"""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

from opspilot.core.errors import UsageError
from opspilot.sections.section import Section, Word
from opspilot.settings_errors import Origin
from opspilot.texts.language import text

VARIABLE = "OPSPILOT_NOTIFY__WEBHOOKS"

Argument: TypeAlias = Annotated[str, Field(min_length=1, max_length=2000)]

_LINK = re.compile(r"https?://[\w.\-\[\]:]+(/[\w.~/-]*)?", re.ASCII)
_TOKEN = re.compile(r"[\w:.~-]{16,}", re.ASCII)
_CASES = (re.compile("[a-z]"), re.compile("[A-Z]"))


class WebhookSettings(Section):
    """One `[[notify.webhooks]]`: where JSON is sent to. Of each pair, such as `url` and `url_file`, one may be set.

    `template` is the JSON itself, as a table; `template_file` a file with it.
    """

    name: Word
    url: SecretStr | None = None
    url_file: Path | None = None
    secret: SecretStr | None = None
    secret_file: Path | None = None
    template: dict[str, Any] | None = None
    template_file: Path | None = None


class CommandSettings(Section):
    """One `[[notify.commands]]`: a list of arguments that is run, with JSON on its standard input."""

    name: Word
    command: Annotated[tuple[Argument, ...], Field(min_length=1)]


class NotifySettings(Section):
    """`link` is the web UI's address, which people are led to; without it that is `web.url`."""

    link: str = ""
    language: Literal["en", "zh"] = "en"
    webhooks: tuple[WebhookSettings, ...] = ()
    commands: tuple[CommandSettings, ...] = ()


def resolve_notify(notify: NotifySettings, base: Path, origin: Origin) -> NotifySettings:
    """Make paths absolute, and refuse what only the whole can show to be wrong."""
    if notify.link and not _LINK.fullmatch(notify.link):
        raise UsageError(text("settings.notify.link", where=origin.where("notify", "link")))
    names = [*(webhook.name for webhook in notify.webhooks), *(command.name for command in notify.commands)]
    for name, uses in Counter(names).items():
        if uses > 1:
            raise UsageError(text("settings.notify.unique", where=origin.where("notify"), name=name))
    webhooks = tuple(
        _resolve_webhook(webhook, base, origin, ("notify", "webhooks", f"#{position}"))
        for position, webhook in enumerate(notify.webhooks, start=1)
    )
    return notify.model_copy(update={"link": notify.link.rstrip("/"), "webhooks": webhooks})


def _resolve_webhook(webhook: WebhookSettings, base: Path, origin: Origin, place: tuple[str, ...]) -> WebhookSettings:
    for key in ("url", "secret", "template"):
        file = f"{key}_file"
        if getattr(webhook, key) is not None and getattr(webhook, file) is not None:
            raise UsageError(text("settings.notify.one_of", where=origin.where(*place), one=key, other=file))
    if webhook.url is None and webhook.url_file is None:
        raise UsageError(text("settings.notify.url", where=origin.where(*place)))
    files = ("url_file", "secret_file", "template_file")
    paths = {file: path and base / path.expanduser() for file in files for path in [getattr(webhook, file)]}
    return webhook.model_copy(update=paths)


def refuse_secrets_of_webhooks(table: Mapping[str, Any], path: Path) -> None:
    """Raises `UsageError` for the first webhook in the file that holds a secret, and says where it belongs."""
    notify = table.get("notify")
    webhooks = notify.get("webhooks") if isinstance(notify, Mapping) else None
    for position, webhook in enumerate(webhooks if isinstance(webhooks, list) else (), start=1):
        if not isinstance(webhook, Mapping):
            continue
        url = webhook.get("url")
        for key, secret in (("secret", "secret" in webhook), ("url", isinstance(url, str) and _has_secret(url))):
            if secret:
                where = f"notify.webhooks#{position}.{key}"
                raise UsageError(
                    text("settings.notify.secret", file=path, key=where, beside=f"{key}_file", variable=VARIABLE)
                )


def _has_secret(url: str) -> bool:
    """Whoever knows it may post: a password, a query, or a part of the path that nobody made up to be read."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.query or "@" in parts.netloc) or any(map(_looks_random, parts.path.split("/")))


def _looks_random(part: str) -> bool:
    if not _TOKEN.fullmatch(part):
        return False
    return any(map(str.isdigit, part)) or all(case.search(part) for case in _CASES)
