"""Proof that a server which knows the key authenticated whoever answers: HMAC-SHA256 over everything an answer says.

A signature is for one session, run, question, digest, action, person and answer id, so it can neither be crossed with
another question nor used again under another id.
"""

import hashlib
import hmac
from dataclasses import replace

from opspilot.core.calls import canonical_json
from opspilot.core.interrupts import Answer

KEY_BYTES = 32
"""As long as the hash: a longer key adds nothing (RFC 2104, section 3)."""


def signed(answer: Answer, key: bytes, session: str, run: str) -> Answer:
    """The answer with its signature."""
    return replace(answer, signature=_signature(answer, key, session, run))


def is_signed(answer: Answer, key: bytes, session: str, run: str) -> bool:
    """Whether the signature is that of this very answer to this very run."""
    return hmac.compare_digest(
        _signature(answer, key, session, run).encode(), answer.signature.encode(errors="replace")
    )


def _signature(answer: Answer, key: bytes, session: str, run: str) -> str:
    who = answer.principal
    said = [
        session,
        run,
        answer.interrupt,
        answer.digest,
        answer.id,
        answer.action.value,
        [who.id, who.name, list(who.roles), who.method],
        dict(answer.values),
        answer.comment,
        answer.said_at,
        # Not there for most answers, so that they are signed as they were before there was such a thing.
        *([list(answer.without)] if answer.without else []),
    ]
    return hmac.new(key, canonical_json(said).encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
