"""Phrases of a question: runs of words that are looked for, how a log may spell them, and what is to be counted."""

from collections.abc import Iterator

from opspilot.models.demo.lexicon import Idea, listed
from opspilot.models.demo.words import Token, singular, translated

STATES = listed("failed failing failures lost slow slowest invalid refused denied rejected missing broken down dead")


def is_adjective(word: Token) -> bool:
    """Does the word tell a state, or a number, rather than name a thing?"""
    return word.text.lower() in STATES or word.text.isdigit() or word.text.lower() in _NUMBER_WORDS


_NUMBER_WORDS = listed("one two three four five six seven eight nine ten several few")


_NAMED_FAULTS = listed("failure failures fault faults exception exceptions crash crashes 异常 故障")
"""After another word these belong to what is looked for ("authentication failures"); alone they mean any error."""


def _belongs(word: Token, before: Token) -> bool:
    """Is this general word part of what is looked for: "authentication failures", "invalid user"?"""
    general = word.ideas & {Idea.USER, Idea.HOST, Idea.SERVICE}
    return word.text.lower() in _NAMED_FAULTS or bool(general and is_adjective(before))


def unknown_names(words: tuple[Token, ...], used: set[str], dimension_at: int) -> Iterator[str]:
    """Runs of Chinese with a word that the lexicon does not know: they may be names. A 的 parts one from the next."""
    for run in runs(words, used, dimension_at):
        name: list[Token] = []
        for word in [*run, Token("的", stop=True)]:
            if word.chinese and not word.stop:
                name.append(word)
                continue
            if any(not part.quoted and translated(part) is None for part in name):
                text = "".join(part.text for part in name)
                if len(text) > 1:
                    yield text
            name = []


_JOINING = listed("for to by of with on at from the 的")
"""Between two content words these belong to what is looked for: "refused connections for guests"."""


def runs(words: tuple[Token, ...], used: set[str], dimension_at: int) -> Iterator[list[Token]]:
    """Runs of neighbouring content words, with the small words that join them."""
    run: list[Token] = []
    joining: list[Token] = []
    for index, word in enumerate(words):
        keep = word.text.lower() not in used and index != dimension_at
        keep = keep and (word.content or (bool(run) and not joining and _belongs(word, run[-1])))
        if word.broken or word.quoted or not (keep or word.text.lower() in _JOINING):
            if run:
                yield run
            run, joining = [], []
        if keep and word.quoted:
            yield [word]
        elif keep:
            run += [*joining, word]
            joining = []
        elif run and word.text.lower() in _JOINING:
            joining.append(word)
    if run:
        yield run


def spellings_of(run: list[Token]) -> tuple[str, ...]:
    """How a log may put it, the likeliest first."""
    if run[0].quoted:
        return (run[0].text,)
    if not any(word.chinese for word in run):
        as_asked = " ".join(singular(word.text) for word in run)
        return (as_asked, f"{singular(run[1].text)} {run[0].text}") if len(run) == 2 else (as_asked,)
    telling = [word for word in run if not word.stop]
    joined = "".join(w.text for w in telling) if all(w.chinese for w in telling) else " ".join(w.text for w in telling)
    known = [english for word in telling if (english := translated(word))]
    if len(known) < len(telling):
        return (joined, " ".join(known)) if known else (joined,)
    states = [word for word in known if word in STATES]
    things = [word for word in known if word not in STATES]
    spellings = [" ".join((*states, *things)), " ".join((*things, *states))]
    if states == ["failed"]:
        spellings.insert(1, " ".join((*things, "failure")))
    return tuple(dict.fromkeys((*spellings, joined)))


_WHICH = listed("which what per by each whose")
_WHICH_CHINESE = (
    "哪些",
    "哪个",
    "哪一个",
    "哪台",
    "哪几个",
    "哪种",
    "哪条",
    "哪位",
    "哪里",
    "按",
    "每个",
    "各",
    "什么",
)
_ASKING = {Idea.MOST, Idea.COUNT, Idea.RECENT, Idea.COMPARE, Idea.ADVICE, Idea.DOCS}


_BEINGS = frozenset({Idea.HOST, Idea.USER})


def dimension_of(words: tuple[Token, ...]) -> tuple[str, Idea | None, int]:
    """The noun that is asked for by "which hosts …" or "哪些主机 …", its idea, and where it stands."""
    if not any(word.ideas & {Idea.MOST, Idea.COUNT} for word in words):
        return "", None, -1
    for index, word in enumerate(words):
        if word.text.lower() in _WHICH or word.text in _WHICH_CHINESE:
            for ahead in range(index + 1, min(index + 4, len(words))):
                noun = words[ahead]
                if noun.stop or noun.ideas & _ASKING or noun.quoted:
                    continue
                if is_adjective(noun) and ahead + 1 < len(words) and words[ahead + 1].ideas & _BEINGS:
                    described = words[ahead + 1]
                    return singular(described.text.lower()), next(iter(described.ideas & _BEINGS)), -1
                if Idea.SERVICE in noun.ideas and ahead + 1 < len(words) and Idea.HOST in words[ahead + 1].ideas:
                    continue
                group = next(
                    (idea for idea in (Idea.HOST, Idea.USER, Idea.ERRORS, Idea.SERVICE) if idea in noun.ideas), None
                )
                return singular(noun.text.lower()), group, ahead
    for index, word in enumerate(words):
        if Idea.HOST in word.ideas and word.chinese:
            return word.text, Idea.HOST, index
    asked_at = next((i for i, w in enumerate(words) if w.text in _WHICH_CHINESE or w.text == "谁"), 0)
    for index in range(asked_at - 1, -1, -1):
        if words[index].chinese and words[index].ideas & _BEINGS:
            stated = index > 0 and translated(words[index - 1]) in STATES
            return words[index].text, next(iter(words[index].ideas & _BEINGS)), -1 if stated else index
    return "", None, -1
