"""Reading a question: its language, what it is about, the names and phrases in it, what it wants counted or done.

Pure text in, a frozen `Question` out. It must not know which tools there are, beyond the nouns that they are about.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from opspilot.models.demo.glossary import READING, TRANSLATION
from opspilot.models.demo.lexicon import STOP_ENGLISH, Idea, listed
from opspilot.models.demo.measures import Superlative, read_superlative
from opspilot.models.demo.orders import is_action, read_order
from opspilot.models.demo.phrases import STATES, dimension_of, is_adjective, runs, spellings_of, unknown_names
from opspilot.models.demo.times import Span, read_span
from opspilot.models.demo.words import Token, english_ideas, is_chinese, singular, tokens


@dataclass(frozen=True)
class Question:
    """What could be read from a question.

    `subjects` are service-like names ("billing", 「结算服务」); `sources` stand by a word for logs ("the mail log");
    `names` are identifiers; `phrases` the remaining runs of content words, each in the spellings to try;
    `unknown` are runs of Chinese that the lexicon doesn't know, which may be names;
    `dimension` what "which … most" asks for; `extreme` the superlative ("slowest"); `starts`: when something began;
    `rivals` the two of "which has more, this or that";
    `order` the action that is ordered, with the words of that sentence.
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
    extreme: Superlative | None = None
    starts: bool = False
    rivals: tuple[str, ...] = ()
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
    def lists(self) -> bool:
        """Does it want all that there is of something?"""
        return bool(_LISTING.search(self.text))

    @property
    def of_relatives(self) -> bool:
        """Does it ask who owns the things that a thing depends on, rather than the thing itself?"""
        return bool(_RELATIVES.search(self.text))

    @property
    def compares(self) -> bool:
        """Does it set two things against each other?"""
        return Idea.COMPARE in self.ideas or bool(COMPARING.search(self.text))

    @property
    def measured(self) -> bool:
        """Is it answered by a number or a time that rows of data hold?"""
        return bool(self.extreme or self.starts or self.counts or COMPARING.search(self.text))

    @property
    def counts(self) -> bool:
        """Does it want a ranking or a number?"""
        return bool(self.ideas & {Idea.MOST, Idea.COUNT})


_HAPPENED = re.compile(
    r"(?i)\bwhat (?:happened|went wrong|is going on)|\bwrong with\b|发生了什么|出了什么|怎么了|怎么回事"
    r"|挂了|正常吗|健康吗"
    r"|^(?:is|are) (?:the |our )?[\w -]{1,40}\b(?:down|up|broken|failing|slow|healthy|unhealthy|working|ok|okay|fine)\b"
)


def happened(text: str) -> bool:
    """Does it ask what went wrong, without a word for errors?"""
    return bool(_HAPPENED.search(text))


_CONDITIONS = listed("up down healthy unhealthy working ok okay fine broken 正常 健康 挂了")
_ON_CALL = re.compile(r"(?i)\bon call\b")
_LISTING = re.compile(r"(?i)^(?:please )?(?:list|show all)\b|\b(?:are there|exist|do we have)\b|有哪些|列出|都有什么")
_RELATIVES = re.compile(
    r"(?i)\bwho\b.*?\b(?:owns?|responsible|in charge|maintains?|runs|looks after|leads?|operates?|manages?)\b.*?"
    r"\b(?:what(?! (?:is|are|was|were)\b)|(?:the|all|those) \w+(?: \w+)? (?:that|which))\b.*\w"
    r"|(?:依赖|使用|用到|调用|供|上游)[^，。？]{0,6}的[^，。？]{1,12}(?:由谁|归谁|分别|负责|谁)|"
    r"\b(?:own|owns|owners? of|responsible for|maintains?|runs|looks after) (?:what|everything|(?:all |the )*(?:things|"
    r"services|systems|components|dependencies)(?: that| which)?)\b[^.?!]*\b(?:depend|rel(?:y|ies)|need|use)"
    r"|依赖的[^。？！]{0,12}(?:负责|谁|归|团队|维护)"
)


COMPARING = re.compile(
    r"(?i)\b(?:more|fewer|less|worse|better|busier|slower)\b.*\bor\b|\bor\b.*\b(?:more|fewer|worse|busier)\b"
    r"|\bversus\b|\bvs\b|\bdifference between\b"
    r"|\bcompare\b(?! (?:it|them|this|that|these|those)\b).*\b(?:and|with|to)\b"
    r"|(?:对比|比较)(?:一下)?.*(?:和|与|跟)|(?:和|与|跟|还是).*(?:哪个|哪一个|谁)?.*更|哪个.{0,12}更(?:多|少|大|高)"
)
_STARTING = re.compile(
    r"(?i)\bwhen (?:did|was|were|has|have)\b.*\b(?:start|begin|began|begun|started|first|set in|appear)\b"
    r"|\bsince when\b|\bwhen (?:was|were|did) (?:the )?(?:very )?first\b|\bfirst (?:time|seen|occurrence|appear\w*)\b"
    r"|什么时候(?:开始|起|出现)|何时(?:开始|起|出现)|从什么时候|从何时|第一次|首次|几点开始"
)


def read_question(
    text: str, nouns: Iterable[str] = (), known: Iterable[str] = (), no_names: Iterable[str] = ()
) -> Question:
    """Read a question. `nouns` are what the tools at hand are about ("vessel"): they mark the name beside them.

    `known` are names that the tools' own descriptions give, such as files: a word that is part of one means it.
    `no_names` are words of the tools' own that look like names and are none.
    """
    span = read_span(text)
    wrong = happened(text)
    timeless = re.sub(re.escape(span.said), " , ", text, flags=re.IGNORECASE) if span else text
    words = tokens(_ON_CALL.sub("on-call", timeless))
    chinese = is_chinese(text)
    order = read_order(text)
    words = tuple(word for word in words if not (order and is_action(word.text)))
    marks = frozenset(nouns)
    dimension, dimension_idea, at = dimension_of(words)
    extreme = None if is_action(order) else read_superlative(timeless, words)
    if extreme is not None and not ({Idea.COUNT, Idea.ERRORS} & {i for w in words for i in w.ideas}):
        dimension, dimension_idea = "", None
    spoken = frozenset(no_names)
    subjects = tuple(dict.fromkeys(name for name in _subjects(words, marks, at) if name.lower() not in spoken))
    offered = tuple(known)
    sources = (*_sources(words), *(word.text for word in words if _is_known(word, offered)))
    sources = tuple(s for s in dict.fromkeys(sources) if s not in subjects and s.lower() not in spoken)
    plain_start = not (chinese or any(is_action(word.text) for word in tokens(text)[:1]))
    single = {word.text for i, word in enumerate(words) if word.content and _is_name(words, i, plain_start)}
    names = tuple(dict.fromkeys(name for name in _names(words, single) if name.lower() not in spoken))
    used = set(STATES | _CONDITIONS) if wrong else set()
    used |= {part.lower() for name in (*subjects, *sources) for part in (name, *name.split())}
    used |= {word.text for word in words if word.chinese and any(word.text in name for name in (*subjects, *sources))}
    used |= {word.text.lower() for word in words if singular(word.text.lower()) in marks}
    return Question(
        text=text,
        chinese=chinese,
        ideas=frozenset(idea for word in words for idea in word.ideas) | ({Idea.ERRORS} if wrong else frozenset()),
        words=words,
        subjects=subjects,
        sources=sources,
        names=names,
        phrases=tuple(dict.fromkeys(spellings_of(run) for run in runs(words, used, at))),
        unknown=tuple(
            dict.fromkeys(
                (*unknown_names(words, used, at), *(_foreign(words, spoken) if chinese else _whose(text, spoken)))
            )
        ),
        dimension=dimension,
        dimension_idea=dimension_idea,
        extreme=extreme,
        starts=bool(_STARTING.search(text)),
        rivals=_rivals(text),
        order=order,
        span=span,
    )


_WHOSE = re.compile(
    r"(?i)\b(?:errors?|failures?|logs?|alarms?|alerts?|events?|problems?|issues?|faults?|status|health)"
    r" (?:of|for|in|on|from|at) (?:the )?([a-z][\w-]{2,})\b(?! (?:log|service|system|app)s?\b)"
)


def _whose(text: str, spoken: frozenset[str]) -> Iterator[str]:
    """The plain word after "the errors of" may be a name."""
    found = _WHOSE.search(text)
    if (
        found
        and found[1].lower() not in spoken
        and found[1].lower() not in STOP_ENGLISH
        and not english_ideas(found[1])
    ):
        yield found[1]


_RIVALS = re.compile(r"(?i)([\w.-]+)\s+or\s+(?:(?:in|on|at|of|for|by)\s+)?(?:the\s+)?([\w.-]+)")


def _rivals(text: str) -> tuple[str, ...]:
    found = _RIVALS.search(text) if COMPARING.search(text) else None
    return (found[1].rstrip("."), found[2].rstrip(".")) if found else ()


def _foreign(words: tuple[Token, ...], spoken: frozenset[str]) -> Iterator[str]:
    """Plain English words in a Chinese question may be names."""
    for index, word in enumerate(words):
        alone = not (index and words[index - 1].content and not words[index - 1].chinese)
        alone = alone and not (index + 1 < len(words) and words[index + 1].content and not words[index + 1].chinese)
        if alone and word.content and word.text.isascii() and not word.quoted and word.text.lower() not in spoken:
            yield word.text


_NAME_SHAPE = re.compile(r".*(\d|[_/@.:]|[a-z][A-Z]|[A-Za-z]-[A-Za-z0-9]).*|[A-Z][A-Z0-9-]+")


def _is_name(words: tuple[Token, ...], index: int, plain_start: bool = True) -> bool:
    """Does the word look like an identifier or a proper name? A capital at a `plain_start` says nothing."""
    word = words[index]
    if word.quoted or _NAME_SHAPE.fullmatch(word.text):
        return True
    if word.chinese:
        return False
    return word.text[0].isupper() and (index > 0 or not plain_start or not word.text.istitle())


def _names(words: tuple[Token, ...], single: set[str]) -> Iterator[str]:
    """Names as they stand: one word, or a proper name together with the plain word after it ("North press")."""
    for index, word in enumerate(words):
        if word.text not in single:
            continue
        after = words[index + 1] if index + 1 < len(words) else None
        plain = after and after.content and not (after.broken or after.chinese or after.quoted or is_adjective(after))
        if after and plain and not word.quoted and word.text.istitle():
            yield f"{word.text} {after.text}"
        yield word.text


def _subjects(words: tuple[Token, ...], nouns: frozenset[str], dimension_at: int) -> Iterator[str]:
    for index, word in enumerate(words):
        english = TRANSLATION.get(word.text, word.text).lower()
        noun = Idea.SERVICE in word.ideas or singular(english) in nouns
        if not noun or index == dimension_at:
            continue
        before = words[index - 1] if index and not word.broken else None
        after = words[index + 1] if index + 1 < len(words) and not words[index + 1].broken else None
        named = before is not None and before.text.lower() in READING and index > 1
        named = named and words[index - 2].text.lower() in {"the", "our", "a", "of", "for"}
        if before and (named or _may_name(before)) and not is_adjective(before):
            yield from _coordinated(words, index - 1)
            yield before.text + word.text if word.chinese and before.chinese else before.text
        elif (after and not word.chinese and after.content and (after.quoted or _is_name(words, index + 1))) or (
            after and word.chinese and after.content and not after.chinese
        ):
            yield after.text


def _coordinated(words: tuple[Token, ...], index: int) -> Iterator[str]:
    """The name before "and" in "the billing and mail services"."""
    joined = index > 1 and words[index - 1].text.lower() in {"and", "or"} and not words[index - 1].broken
    if joined and _may_name(words[index - 2]) and not is_adjective(words[index - 2]):
        yield words[index - 2].text


def _may_name(word: Token) -> bool:
    return word.content or (word.chinese and not word.stop and not word.ideas)


def _is_known(word: Token, known: tuple[str, ...]) -> bool:
    lowered = word.text.lower()
    return word.content and not word.quoted and len(lowered) > 2 and any(lowered in name.lower() for name in known)


def _sources(words: tuple[Token, ...]) -> Iterator[str]:
    """Names beside a word for logs: "the mail log", "the log of Postfix", "Postfix log"."""
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
