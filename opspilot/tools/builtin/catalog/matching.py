"""How well an entity fits a query, from 0 to 100, and what to suggest when none does. Pure."""

import difflib
import re
from collections.abc import Sequence

from opspilot.tools.builtin.catalog.entities import Entity
from opspilot.tools.builtin.docs.words import prepare, query_words

EXACT = 100
NAMED_IN_QUERY = 80
PART_OF_NAME = 70
FITS_WELL = 60

_TITLE_PARTS = re.compile(
    r"\s*[·/|,;:()（）、，]+\s*|\s+[-–—]\s+|(?<=[^\W_a-zA-Z0-9])\s+(?=[a-zA-Z])|(?<=[a-zA-Z])\s+(?=[^\W_a-zA-Z0-9])"
)
_GENERIC = re.compile(r"[-_ ]?(?:service|svc)$|服务$")


def names_of(entity: Entity) -> list[str]:
    """All that an entity is called, lower case: name, title, its parts (it may stand in two languages), aliases."""
    titles = [entity.title, *_TITLE_PARTS.split(entity.title)]
    given = [entity.name, *titles, *entity.aliases]
    return list(dict.fromkeys(name.strip().lower() for name in given if name.strip()))


def reference(entity: Entity) -> str:
    """`component:default/payment`, by which entities of a catalogue name each other."""
    return f"{entity.kind.lower()}:{entity.namespace}/{entity.name}"


def fit(entity: Entity, query: str) -> int:
    """How well an entity fits: by its names and kind first, then tag, owner, system, type, then words of its texts."""
    wanted = " ".join(query.lower().split())
    names = names_of(entity)
    if wanted in names or wanted == reference(entity).lower():
        return EXACT
    if wanted in {entity.kind.lower(), entity.kind.lower() + "s"}:
        return EXACT - 10
    bare = _bare(wanted)
    if any(bare == _bare(name) for name in names):
        return EXACT - 5
    if any(_stands_in(name, wanted) or (name != _bare(name) and _stands_in(_bare(name), wanted)) for name in names):
        return NAMED_IN_QUERY
    if len(bare) > 1 and any(bare in name for name in names):
        return PART_OF_NAME
    if wanted in {tag.lower() for tag in entity.tags}:
        return FITS_WELL
    if wanted in _refs(entity.owner) or wanted in _refs(entity.system):
        return FITS_WELL - 5
    if wanted == entity.type.lower():
        return FITS_WELL - 10
    return _word_fit(entity, wanted)


def suggestions(entities: Sequence[Entity], query: str) -> list[Entity]:
    """Entities whose names look like the query, the likest first, at most 3."""
    by_name = {name: entity for entity in entities for name in names_of(entity)}
    near = difflib.get_close_matches(_bare(query.lower().strip()), by_name, n=6, cutoff=0.55)
    return list({reference(by_name[name]): by_name[name] for name in near}.values())[:3]


def _bare(name: str) -> str:
    return _GENERIC.sub("", name) or name


def _stands_in(name: str, text: str) -> bool:
    """Does the name stand in the text as a word? Chinese has no gaps between words, so any place will do there."""
    if len(name) < 2:
        return False
    if not name.isascii():
        return name in text
    return re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text) is not None


def _refs(value: str) -> set[str]:
    lowered = value.lower()
    return {lowered, lowered.rpartition("/")[2].rpartition(":")[2]} - {""}


def _word_fit(entity: Entity, wanted: str) -> int:
    words = query_words(wanted)
    if not words:
        return 0
    texts = [entity.name, entity.title, entity.description, entity.type, *entity.tags, *entity.aliases]
    present = set(re.findall(r"\w+", prepare(" ".join(texts).replace("-", " ")).lower()))
    stems = {word.rstrip("s") for word in present}
    share = sum(word in present or word.rstrip("s") in stems for word in words) / len(words)
    return round(share * (FITS_WELL - 15))
