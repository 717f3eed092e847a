"""How a receiver knows that a webhook is ours: signed as the Standard Webhooks specification 1.0 says (`v1`).

Pure. `webhook-signature` is the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`; there are libraries that
verify it (standard-webhooks/standard-webhooks, spec/standard-webhooks.md).
"""

import binascii
import hashlib
import hmac
from base64 import b64decode, b64encode

from opspilot.core.errors import UsageError
from opspilot.texts.language import text

PREFIX = "whsec_"
LEAST_BYTES = 24


def signing_key(secret: str, where: str) -> bytes:
    """The key that a secret means: base64 behind `whsec_`, else its own bytes.

    Raises `UsageError`, which begins with `where`, for one that is too short to be a secret.
    """
    try:
        key = b64decode(secret.removeprefix(PREFIX), validate=True) if secret.startswith(PREFIX) else secret.encode()
    except (binascii.Error, ValueError):
        raise UsageError(text("channels.secret.base64", where=where, prefix=PREFIX)) from None
    if len(key) < LEAST_BYTES:
        raise UsageError(text("channels.secret.short", where=where, least=LEAST_BYTES))
    return key


def signed(key: bytes | None, id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The headers; without a key only those that say which notification it is, and when it was sent.

    `id` is the same for each attempt at one notification; `timestamp` is that of the attempt, in seconds since 1970.
    """
    headers = {"webhook-id": id, "webhook-timestamp": str(timestamp)}
    if key is None:
        return headers
    content = f"{id}.{timestamp}.".encode() + body
    signature = b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
    return {**headers, "webhook-signature": f"v1,{signature}"}
