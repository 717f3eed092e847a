"""Reading a question: its language, what it is about, the names and phrases in it, what it wants counted or done.

Pure text in, a frozen `Question` out. It must not know which tools there are, beyond the nouns that they are about.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from opspilot.models.demo.lexicon import Idea, listed
from opspilot.models.demo.orders import is_action, read_order
from opspilot.models.demo.times import Span, read_span
from opspilot.models.demo.words import Token, is_chinese, singular, tokens, translated


@dataclass(frozen=True)
class Question:
    """What could be read from a question.

    `subjects` are service-like names ("payment", 「支付服务」); `sources` stand by a word for logs ("the SSH log");
    `names` are identifiers; `phrases` the remaining runs of content words, each in the spellings to try;
    `unknown` are runs of Chinese that the lexicon doesn't know, which may be names;
    `dimension` what "which … most" asks for; `order` the action that is ordered, with the words of that sentence.
    """

    text: str
    chinese: bool
    ideas: frozenset[Idea]
    words: tuple[Token, ...] = ()
    subjects: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    unknown: tuple[str, ...] = ()
    dimension: str = ""
    dimension_idea: Idea | None = None
    order: str = ""
    span: Span | None = None

    @property
    def keywords(self) -> tuple[str, ...]:
        """Words worth searching documents for: content, and what kind of thing it is about, but not the asking."""
        asking = {
            Idea.EXTREME,
            Idea.DOCS,
            Idea.COMPARE,
            Idea.MOST,
            Idea.COUNT,
            Idea.RECENT,
            Idea.ADVICE,
            Idea.LOGS,
            Idea.OWNER,
        }
        kept: list[str] = []
        joins = False
        for token in self.words:
            wanted = token.content or bool(token.ideas and not token.ideas & asking)
            if wanted and joins and token.chinese and not token.broken:
                kept[-1] += token.text
            elif wanted:
                kept.append(token.text)
            joins = wanted and token.chinese and not token.quoted
        return tuple(dict.fromkeys(kept))

    @property
    def candidates(self) -> tuple[str, ...]:
        """Everything that may name a thing that a catalogue knows, the likeliest first."""
        names = [name for name in (*self.names, *self.unknown) if name not in self.sources]
        return tuple(dict.fromkeys([*self.subjects, *names]))

    @property
    def of_relatives(self) -> bool:
        """Does it ask who owns the things that a thing depends on, rather than the thing itself?"""
        return bool(_RELATIVES.search(self.text))

    @property
    def counts(self) -> bool:
        """Does it want a ranking or a number?"""
        return bool(self.ideas & {Idea.MOST, Idea.COUNT})


_RELATIVES = re.compile(
    r"(?i)\b(?:own|owns|owners? of|responsible for|maintains?) (?:what|everything|(?:all |the )*(?:things|services|"
    r"systems|components|dependencies)(?: that| which)?)\b[^.?!]*\bdepend"
    r"|依赖的[^。？！]{0,12}(?:负责|谁|归|团队|维护)"
)


def read_question(text: str, nouns: Iterable[str] = (), known: Iterable[str] = ()) -> Question:
    """Read a question. `nouns` are what the tools at hand are about ("vessel"): they mark the name beside them.

    `known` are names that the tools' own descriptions give, such as files: a word that is part of one means it.
    """
    words = tokens(text)
    chinese = is_chinese(text)
    order = read_order(text)
    words = tuple(word for word in words if not (order and is_action(word.text)))
    marks = frozenset(nouns)
    dimension, dimension_idea, at = _dimension(words)
    subjects = tuple(dict.fromkeys(_subjects(words, marks, at)))
    offered = tuple(known)
    sources = (*_sources(words), *(word.text for word in words if _is_known(word, offered)))
    sources = tuple(dict.fromkeys(source for source in sources if source not in subjects))
    names = tuple(dict.fromkeys(word.text for i, word in enumerate(words) if word.content and _is_name(words, i)))
    span = read_span(text)
    used = {part.lower() for name in (*subjects, *sources) for part in (name, *name.split())}
    used |= {word.text for word in words if word.chinese and any(word.text in name for name in (*subjects, *sources))}
    used |= set(span.words if span else ())
    used |= {word.text.lower() for word in words if singular(word.text.lower()) in marks}
    return Question(
        text=text,
        chinese=chinese,
        ideas=frozenset(idea for word in words for idea in word.ideas),
        words=words,
        subjects=subjects,
        sources=sources,
        names=names,
        phrases=tuple(dict.fromkeys(_spellings(run) for run in _runs(words, used, at))),
        unknown=tuple(dict.fromkeys(_unknown(words, used, at))),
        dimension=dimension,
        dimension_idea=dimension_idea,
        order=order,
        span=span,
    )


_NAME_SHAPE = re.compile(r".*(\d|[_/@.:]|[a-z][A-Z]|[A-Za-z]-[A-Za-z0-9]).*|[A-Z][A-Z0-9-]+")


def _is_name(words: tuple[Token, ...], index: int) -> bool:
    """Does the word look like an identifier or a proper name?"""
    word = words[index]
    if word.quoted or _NAME_SHAPE.fullmatch(word.text):
        return True
    if word.chinese:
        return False
    return word.text[0].isupper() and (index > 0 or word.content) and (index > 0 or not word.text.istitle())


def _subjects(words: tuple[Token, ...], nouns: frozenset[str], dimension_at: int) -> Iterator[str]:
    for index, word in enumerate(words):
        noun = Idea.SERVICE in word.ideas or singular(word.text.lower()) in nouns
        if not noun or index == dimension_at:
            continue
        before = words[index - 1] if index and not word.broken else None
        after = words[index + 1] if index + 1 < len(words) and not words[index + 1].broken else None
        if before and _may_name(before) and not _is_adjective(before):
            yield before.text + word.text if word.chinese and before.chinese else before.text
        elif (after and not word.chinese and after.content and (after.quoted or _is_name(words, index + 1))) or (
            after and word.chinese and after.content and not after.chinese
        ):
            yield after.text


def _may_name(word: Token) -> bool:
    return word.content or (word.chinese and not word.stop and not word.ideas)


_STATES = listed("failed failing failures lost slow slowest invalid refused denied rejected missing broken down dead")


def _is_adjective(word: Token) -> bool:
    return word.text.lower() in _STATES or word.text.isdigit()


def _is_known(word: Token, known: tuple[str, ...]) -> bool:
    lowered = word.text.lower()
    return word.content and not word.quoted and len(lowered) > 2 and any(lowered in name.lower() for name in known)


def _sources(words: tuple[Token, ...]) -> Iterator[str]:
    """Names beside a word for logs: "the SSH log", "the log of Apache", "Apache log"."""
    for index, word in enumerate(words):
        if Idea.LOGS not in word.ideas:
            continue
        before = words[index - 1] if index and not word.broken else None
        if (
            before
            and before.content
            and not before.quoted
            and (word.chinese or singular(word.text.lower()) in {"log", "logfile", "syslog", "journal"})
        ):
            yield before.text
        if before and before.text.lower() in {"does", "do", "did"}:
            continue
        following = words[index + 1 : index + 4]
        if not word.chinese and len(following) > 1 and following[0].text.lower() in {"of", "from", "for"}:
            name = next((w for w in following[1:] if not w.stop), None)
            if name and name.content and singular(word.text.lower()) == "log":
                yield name.text


_NAMED_FAULTS = listed("failure failures fault faults exception exceptions crash crashes 异常 故障")
"""After another word these belong to what is looked for ("authentication failures"); alone they mean any error."""


def _belongs(word: Token, before: Token) -> bool:
    """Is this general word part of what is looked for: "authentication failures", "invalid user"?"""
    general = word.ideas & {Idea.USER, Idea.HOST, Idea.SERVICE}
    return word.text.lower() in _NAMED_FAULTS or bool(general and _is_adjective(before))


def _unknown(words: tuple[Token, ...], used: set[str], dimension_at: int) -> Iterator[str]:
    for run in _runs(words, used, dimension_at):
        strange = [word for word in run if word.chinese and not word.stop]
        if any(not word.quoted and translated(word) is None for word in strange):
            name = "".join(word.text for word in strange)
            if len(name) > 1:
                yield name


_JOINING = listed("for to by of with on at from the 的")
"""Between two content words these belong to what is looked for: "failed passwords for root"."""


def _runs(words: tuple[Token, ...], used: set[str], dimension_at: int) -> Iterator[list[Token]]:
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


def _spellings(run: list[Token]) -> tuple[str, ...]:
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
    states = [word for word in known if word in _STATES]
    things = [word for word in known if word not in _STATES]
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


def _dimension(words: tuple[Token, ...]) -> tuple[str, Idea | None, int]:
    """The noun that is asked for by "which hosts …" or "哪些主机 …", its idea, and where it stands."""
    if not any(word.ideas & {Idea.MOST, Idea.COUNT} for word in words):
        return "", None, -1
    for index, word in enumerate(words):
        if word.text.lower() in _WHICH or word.text in _WHICH_CHINESE:
            for ahead in range(index + 1, min(index + 4, len(words))):
                noun = words[ahead]
                if noun.stop or noun.ideas & _ASKING or noun.quoted:
                    continue
                if Idea.SERVICE in noun.ideas and ahead + 1 < len(words) and Idea.HOST in words[ahead + 1].ideas:
                    continue
                group = next(
                    (idea for idea in (Idea.HOST, Idea.USER, Idea.ERRORS, Idea.SERVICE) if idea in noun.ideas), None
                )
                return singular(noun.text.lower()), group, ahead
    for index, word in enumerate(words):
        if Idea.HOST in word.ideas and word.chinese:
            return word.text, Idea.HOST, index
    return "", None, -1
