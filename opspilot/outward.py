"""What leaves the journal for a file, a program or another machine: without sensitive arguments and without secrets.

The one function for every such copy: the command line's JSON and transcripts, the API, exports. What a person looks at
live comes from the client, which masks sensitive arguments; the rest is shown as it is, since approvals are for it.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace

from opspilot.core.entries import Entry
from opspilot.core.messages import Json
from opspilot.core.sensitive import mask, masked, pointers
from opspilot.journal.queries import InterruptRow
from opspilot.redaction import redact

__all__ = ["outward", "outward_question", "shown"]


def outward(entry: Entry) -> Entry:
    """The entry with a mask for each sensitive argument, redacted."""
    shown = masked(entry)
    return replace(shown, data=_with_forms(redact(dict(shown.data)), shown.data))


def shown(question: InterruptRow) -> InterruptRow:
    """The question as people see it: with a mask for each sensitive argument. Sent back, that leaves the value."""
    return replace(question, arguments=mask(question.arguments, pointers(question.schema or {}, question.arguments)))


def outward_question(question: InterruptRow) -> dict[str, Json]:
    """The question for a file or a program: with masks, and redacted."""
    data = asdict(shown(question))
    hidden = {name: redact(data[name]) for name in ("payload", "arguments", "reason", "comment", "title")}
    return _with_forms({**data, **hidden}, data)


def _with_forms(redacted: dict[str, Json], data: Mapping[str, Json]) -> dict[str, Json]:
    """With the schemas as they were: they are a tool's code, not data, and what a parameter is called hides nothing."""
    if "schema" in data:
        redacted["schema"] = data["schema"]
    payload = data.get("payload")
    if isinstance(payload, Mapping) and "schema" in payload:
        redacted["payload"]["schema"] = payload["schema"]
    return redacted
