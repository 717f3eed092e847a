"""Which language a person is spoken to in, and the one way to a sentence of the catalogue.

Reads no environment, it is handed in. The choice lives in a context variable, so that a server may choose anew for each
request.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum

from opspilot.texts.chinese import CHINESE
from opspilot.texts.english import ENGLISH


class Language(StrEnum):
    """What can be wished for. `auto` is what the locale says."""

    AUTO = "auto"
    ENGLISH = "en"
    CHINESE = "zh"


CATALOGUE: dict[Language, Mapping[str, str]] = {Language.ENGLISH: ENGLISH, Language.CHINESE: CHINESE}

_language: ContextVar[Language] = ContextVar("language", default=Language.ENGLISH)
_program: ContextVar[str] = ContextVar("program", default="starter.py")


def language_of(environment: Mapping[str, str]) -> Language:
    """What the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is set says, as POSIX orders them; else English."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if locale := environment.get(name):
            return Language.CHINESE if locale.lower().startswith("zh") else Language.ENGLISH
    return Language.ENGLISH


def speak(language: Language) -> None:
    """Speak this language from here on. `auto` has been settled by `language_of` before."""
    _language.set(language)


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """Speak this language inside the block alone."""
    before = _language.set(language)
    try:
        yield
    finally:
        _language.reset(before)


def spoken() -> Language:
    """The language that is spoken here."""
    return _language.get()


def call_program(name: str) -> None:
    """The name by which the command line was called: it stands in every hint at a next command."""
    _program.set(name)


def text(key: str, /, **values: object) -> str:
    """The sentence of that key, with its placeholders filled."""
    return CATALOGUE[_language.get()][key].format(program=_program.get(), **values)


def counted(key: str, count: int) -> str:
    """`1 step`, `2 steps`: the form of that key which goes with a number."""
    return text(f"{key}.one" if count == 1 else f"{key}.many", count=f"{count:,}")
