"""Reading a question: its language, what it is about, the names and phrases in it, what it wants counted or done.

Pure text in, a frozen `Question` out. It must not know which tools there are, beyond the nouns that they are about.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from opspilot.models.demo.lexicon import ACTIONS, CLOSED_ORDERS_CHINESE, Idea
from opspilot.models.demo.times import Span, read_span
from opspilot.models.demo.words import Token, is_chinese, parts, singular, tokens, translated


@dataclass(frozen=True)
class Question:
    """What could be read from a question.

    `subjects` are service-like names ("payment", 「支付服务」); `sources` stand next to a word for logs ("the SSH log");
    `names` are identifiers; `phrases` the remaining runs of content words, each in the spellings to try;
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
    dimension: str = ""
    dimension_idea: Idea | None = None
    order: str = ""
    span: Span | None = None

    @property
    def keywords(self) -> tuple[str, ...]:
        """Words worth searching documents for: content, and what kind of thing it is about, but not the asking."""
        asking = {Idea.DOCS, Idea.COMPARE, Idea.MOST, Idea.COUNT, Idea.RECENT, Idea.ADVICE, Idea.LOGS, Idea.OWNER}
        kept: list[str] = []
        for token in self.words:
            if token.content or (token.ideas and not token.ideas & asking):
                kept.append(token.text)
        return tuple(dict.fromkeys(kept))

    @property
    def of_relatives(self) -> bool:
        """Does it ask who owns the things that a thing depends on, rather than the thing itself?"""
        return bool(_RELATIVES.search(self.text))

    @property
    def counts(self) -> bool:
        """Does it want a ranking or a number?"""
        return bool(self.ideas & {Idea.MOST, Idea.COUNT})


_RELATIVES = re.compile(
    r"(?i)\b(?:own|owns|owners?|responsible|maintains?)\b[^.?!]*\b(?:what|that|things|services|systems|everything)\b[^.?!]*\bdepend"
    r"|依赖的[^。？！]{0,12}(?:负责|谁|归|团队|维护)"
)


def read_question(text: str, nouns: Iterable[str] = (), known: Iterable[str] = ()) -> Question:
    """Read a question. `nouns` are what the tools at hand are about ("vessel"): they mark the name beside them.

    `known` are names that the tools' own descriptions give, such as files: a word that is part of one means it.
    """
    words = tokens(text)
    chinese = is_chinese(text)
    order = _order(text, words)
    words = tuple(word for word in words if not (order and _is_action(word.text)))
    marks = frozenset(nouns)
    dimension, dimension_idea, at = _dimension(words)
    subjects = tuple(dict.fromkeys(_subjects(words, marks, at)))
    offered = tuple(known)
    sources = (*_sources(words), *(word.text for word in words if _is_known(word, offered)))
    sources = tuple(dict.fromkeys(source for source in sources if source not in subjects))
    names = tuple(dict.fromkeys(word.text for i, word in enumerate(words) if word.content and _is_name(words, i)))
    span = read_span(text)
    used = {part.lower() for name in (*subjects, *sources) for part in (name, *name.split())}
    used |= set(span.words if span else ())
    return Question(
        text=text,
        chinese=chinese,
        ideas=frozenset(idea for word in words for idea in word.ideas),
        words=words,
        subjects=subjects,
        sources=sources,
        names=names,
        phrases=tuple(dict.fromkeys(_phrases(words, used, at))),
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
        elif after and not word.chinese and after.content and (after.quoted or _is_name(words, index + 1)):
            yield after.text
        elif after and word.chinese and after.content and not after.chinese:
            yield after.text


def _may_name(word: Token) -> bool:
    return word.content or (word.chinese and not word.stop and not word.ideas)


_STATES = frozenset(
    "failed failing failures lost slow slowest invalid refused denied rejected missing broken down dead".split()
)


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


_NAMED_FAULTS = frozenset("failure failures fault faults exception exceptions crash crashes 异常 故障".split())
"""After another word these belong to what is looked for ("authentication failures"); alone they mean any error."""


def _phrases(words: tuple[Token, ...], used: set[str], dimension_at: int) -> Iterator[tuple[str, ...]]:
    """Runs of neighbouring content words, each with the spellings to try, the likeliest first."""
    run: list[Token] = []
    for index, word in enumerate((*words, None)):
        keep = word is not None and word.text.lower() not in used and index != dimension_at
        keep = keep and word is not None and (word.content or (bool(run) and word.text.lower() in _NAMED_FAULTS))
        if word is None or not keep or word.broken or word.quoted:
            if run:
                yield _spellings(run)
            run = []
        if word is not None and keep:
            if word.quoted:
                yield (word.text,)
            else:
                run.append(word)


def _spellings(run: list[Token]) -> tuple[str, ...]:
    english = [translated(word) for word in run]
    joined = "".join(w.text for w in run) if all(w.chinese for w in run) else " ".join(w.text for w in run)
    last = singular(run[-1].text)
    as_asked = joined[: len(joined) - len(run[-1].text)] + last
    spellings = [as_asked]
    if any(word.chinese for word in run):
        known = [word for word in english if word]
        if known and len(known) == len(run):
            spellings = [" ".join(known), " ".join(reversed(known)), as_asked]
        elif known:
            spellings = [as_asked, " ".join(known)]
    return tuple(dict.fromkeys(spellings))


_WHICH = frozenset("which what per by each whose".split())
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


def _is_action(word: str) -> bool:
    lowered = word.lower()
    return any(lowered in english or word in chinese for english, chinese in ACTIONS.values())


_ORDER_BEFORE = frozenset("please then and now just kindly to also you immediately".split())
_ASKED_BEFORE = re.compile(r"(?i)\b(how|why|when|should|whether|who|did|does|was|were|if|what|which|before|after)\b")


def _order(text: str, words: tuple[Token, ...]) -> str:
    """The first action that the question orders, as its English name or its own verb; empty when it only asks."""
    for sentence in re.split(r"[.!?;。！？；\n]+\s*", text):
        order = _order_chinese(sentence) if is_chinese(sentence) else _order_english(sentence)
        if order:
            return order
    return ""


def _order_english(sentence: str) -> str:
    listed = re.findall(r"[A-Za-z][A-Za-z-]*", sentence)
    for index, word in enumerate(listed):
        action = next((name for name, (known, _) in ACTIONS.items() if word.lower() in known), "")
        before = [w.lower() for w in listed[:index]]
        asked = _ASKED_BEFORE.search(" ".join(before))
        if action and not asked and (not before or before[-1] in _ORDER_BEFORE):
            return action
    if listed and not _ASKED_BEFORE.match(listed[0]):
        first = next((w for w in listed if w.lower() not in _ORDER_BEFORE), "")
        return first.lower()
    return ""


def _order_chinese(sentence: str) -> str:
    for name, (_, known) in ACTIONS.items():
        for verb in known:
            at = sentence.find(verb)
            if (
                at < 0
                or sentence[max(at - 1, 0) : at] == "的"
                or sentence[at + len(verb) : at + len(verb) + 2] in {"记录", "历史"}
            ):
                continue
            if not any(asked in sentence for asked in CLOSED_ORDERS_CHINESE) or "帮我" in sentence:
                return name
    return ""


def order_verbs(order: str) -> frozenset[str]:
    """All words for one ordered action."""
    return ACTIONS[order][0] if order in ACTIONS else frozenset(parts(order))


_INSTEAD = re.compile(r"(?i)\binstead\b|\brather\b|\bnever mind\b|\bforget\b|改为|改成|不用了|算了|不要")


def merged(asked: Sequence[Question], before: Sequence[Question] = ()) -> Question:
    """Several messages as one question: later ones add to or replace what stands before, and lean on earlier questions
    for what they don't say. Empty without any."""
    if not asked:
        return Question("", chinese=False, ideas=frozenset())
    current = asked[0]
    for later in asked[1:]:
        current = later if _INSTEAD.search(later.text) and later.ideas else _joined(current, later)
    if before and (not current.ideas - {Idea.RECENT, Idea.SERVICE} or not (current.subjects or current.sources)):
        return _leaning(current, before[-1])
    return current


def _joined(first: Question, later: Question) -> Question:
    return replace(
        later,
        text=f"{first.text}\n{later.text}",
        ideas=first.ideas | later.ideas,
        words=first.words + later.words,
        subjects=later.subjects or first.subjects,
        sources=later.sources or first.sources,
        names=tuple(dict.fromkeys(later.names + first.names)),
        phrases=tuple(dict.fromkeys(first.phrases + later.phrases)) if later.ideas else first.phrases,
        dimension=later.dimension or first.dimension,
        dimension_idea=later.dimension_idea or first.dimension_idea,
        order=later.order or first.order,
        span=later.span or first.span,
    )


def _leaning(question: Question, before: Question) -> Question:
    """A follow-up such as "and since yesterday?" or "who owns it?" speaks of what the question before named."""
    bare = not question.ideas - {Idea.RECENT, Idea.SERVICE} and not question.order
    named = bool(question.subjects or question.sources or question.names or question.phrases)
    if not bare and (named or not _REFERS.search(question.text)):
        return question
    return replace(
        question,
        ideas=before.ideas | question.ideas if bare else question.ideas,
        words=before.words + question.words if bare else question.words,
        subjects=question.subjects or before.subjects,
        sources=question.sources or before.sources,
        names=question.names or before.names,
        phrases=before.phrases if bare and not named else question.phrases,
        dimension=question.dimension or (before.dimension if bare else ""),
        dimension_idea=question.dimension_idea or (before.dimension_idea if bare else None),
        span=question.span or (before.span if bare else None),
    )


_REFERS = re.compile(r"(?i)\b(it|its|that|this|they|them|those|same|there)\b|它|其|这个|那个|该")
