"""Names and ids in the alphabets of providers, and the way back; and tools' schemas in the dialect that all accept.

Pure. Our own names and ids may be any text; what is sent follows from them alone, so that the same conversation gives
the same bytes from request to request and providers can cache it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from uuid import uuid4

from opspilot.core.messages import Json, ToolSpec
from opspilot.models.mending import mend_text

_PLAIN = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def wire_name(name: str) -> str:
    """The name in `^[a-zA-Z0-9_-]{1,64}$`; one name always gives the same, two never one.

    OpenAI takes no other; Anthropic takes 128 characters of the same (github/copilot-cli#2581).
    """
    if is_plain(name):
        return name
    return f"{re.sub(r'[^a-zA-Z0-9_-]', '_', name)[:51]}_{short_hash(name, 6)}"


def is_plain(text: str) -> bool:
    """Is it in `^[a-zA-Z0-9_-]{1,64}$`, which every provider takes for names and all but the strictest for ids?"""
    return _PLAIN.fullmatch(text) is not None


def wire_names(tools: Sequence[ToolSpec]) -> dict[str, str]:
    """Name on the wire -> our name, of the tools offered: the way back from a reply."""
    return {wire_name(spec.name): spec.name for spec in tools}


def wire_schema(spec: ToolSpec) -> dict[str, Json]:
    """The tool's schema with what providers insist on: an object, with properties, and no alternatives at the top.

    OpenAI: "object schema missing properties"; Anthropic refuses `oneOf`, `anyOf` and `allOf` beside it, and with them
    every request of the session (anthropics/claude-code#5973). What is left out here is checked before a call runs.
    """
    schema = {"type": "object", "properties": {}} | dict(spec.input_schema)
    return {key: value for key, value in schema.items() if key not in {"oneOf", "anyOf", "allOf"}} | {"type": "object"}


class WireIds:
    """Ids for one request: accepted by the server (`fits`), unique in the request, made by `make` where need be."""

    def __init__(self, fits: Callable[[str], bool], make: Callable[[str], str]) -> None:
        self._fits = fits
        self._make = make
        self._taken: set[str] = set()

    def take(self, id_: str) -> str:
        """The id itself where it will do and is free."""
        wire_id, fits, attempt = id_, self._fits(id_), 0
        while not fits or wire_id in self._taken:
            attempt += 1
            wire_id, fits = self._make(f"{attempt}/{id_}"), True
        self._taken.add(wire_id)
        return wire_id


def random_id() -> str:
    """An id for a call that came without one."""
    return f"call_{uuid4().hex[:24]}"


class CallNames:
    """Ids and tool names of one reply's calls: each call gets an id of its own, each known tool our name for it.

    A missing id is made up, since an empty one sent back is a 400 (iOfficeAI/aionrs#99); the later of two equal ids is
    replaced, so that results can be told apart (vectorize-io/hindsight#4250). `flaws` says what was wrong.
    """

    def __init__(self, declared: Mapping[str, str], new_id: Callable[[], str]) -> None:
        self.declared = declared
        self.flaws: list[str] = []
        self._new_id = new_id
        self._taken: set[str] = set()

    def id(self, given: str) -> str:
        """The call's id in our conversation."""
        id_ = mend_text(given)
        if not id_:
            self.flaws.append("a call without an id")
        elif id_ in self._taken:
            self.flaws.append("two calls with one id")
        while not id_ or id_ in self._taken:
            id_ = self._new_id()
        self._taken.add(id_)
        return id_

    def name(self, *candidates: str) -> str:
        """Our name for the first candidate that a declared tool has, else the first as it is."""
        if not candidates[0]:
            self.flaws.append("a call without a name")
        known = (self.declared[name] for name in candidates if name in self.declared)
        return next(known, mend_text(candidates[0]))


def short_hash(text: str, size_bytes: int) -> str:
    """Hexadecimal digits that stand for a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size_bytes).hexdigest()
