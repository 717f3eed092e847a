"""The key that answers are signed with: whether there has to be one, where it is, and making it in local mode.

Workers and the web server get it from here when they start; the command line never does outside local mode.
"""

from opspilot.access.key_file import load_key, load_or_make_key
from opspilot.core.errors import UsageError
from opspilot.core.signatures import KEY_BYTES
from opspilot.settings import Settings
from opspilot.texts.language import text

FILE_NAME = "approval.key"


def approval_key(settings: Settings, *, local: bool) -> bytes | None:
    """The key; None where people are who they say, which is in local mode and where signatures are off.

    Raises `UsageError` when there has to be one and isn't.
    """
    approvals = settings.approvals
    if approvals.signatures == "off" or (approvals.signatures == "auto" and local):
        return None
    if approvals.key is not None:
        key = approvals.key.get_secret_value().strip().encode("utf-8", "surrogateescape")
        if len(key) < KEY_BYTES:
            raise UsageError(text("access.key.short", where="OPSPILOT_APPROVALS__KEY", least=KEY_BYTES))
        return key
    if approvals.key_file is not None:
        return (load_or_make_key if local else load_key)(approvals.key_file)
    if local:
        return load_or_make_key(settings.state_dir / FILE_NAME)
    raise UsageError(text("access.key.missing"))
