"""Who said a message. People are told where that isn't whoever asked for the run."""

from opspilot.core.entries import Entry


def other_sender(message: Entry, started: Entry | None) -> str:
    """What the sender of a `user.message` is called; empty for whoever asked, and when the journal doesn't know."""
    by = str(message.data.get("by") or "")
    user = started.data.get("user") if started is not None else None
    asker = user.get("id") if isinstance(user, dict) else None
    return str(message.data.get("name") or by) if by != asker else ""
