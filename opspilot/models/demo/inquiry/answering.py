"""What a row's fields or the lines of a text say to a question that asks for neither a number of rows nor a rank."""

from opspilot.models.demo.inquiry.aims import Aim, Sought, Want
from opspilot.models.demo.inquiry.choosing import Choice
from opspilot.models.demo.inquiry.meanings import PEOPLE
from opspilot.models.demo.inquiry.measuring import Part
from opspilot.models.demo.inquiry.paging import Source
from opspilot.models.demo.inquiry.rows import ENVELOPE_FIELDS, Grid, Row, is_moment, quantity
from opspilot.models.demo.inquiry.terms import Term, word_stems
from opspilot.models.demo.lexicon import listed
from opspilot.models.demo.words import parts

_REASONS = listed(
    "reason message cause error why note detail details description fault failure explanation summary status"
)
_PLACES = listed("node host region zone location site place city room rack datacenter where address floor area cluster")
_TIMES = listed("at time date when timestamp ts since until on expires due")
_LONG = listed("duration seconds ms minutes hours elapsed took days")
_SHORT = 60
_WANTED = {Want.WHO: PEOPLE, Want.WHY: _REASONS, Want.WHERE: _PLACES, Want.WHEN: _TIMES, Want.LONG: _LONG}


def _answers(name: str, value: str, left: list[Term], sought: Sought) -> float:
    """How well a field answers what is asked: by its name, and by the sort of its value."""
    stems, words = word_stems(name), set(parts(name))
    fit = 0.0
    for term in left:
        fit += term.meets(stems) * (1.5 if term in sought.dimension else 1.0) * (0.3 if term.name else 1.0)
    if len(value) <= _SHORT and any(term.forms & word_stems(value) for term in sought.dimension):
        fit += 1.0
    for want in sought.wants:
        if want is Want.MUCH:
            fit += 0.5 if quantity(value) is not None and fit else 0.0
        elif want is Want.WHEN:
            fit += 0.7 if is_moment(value) else 0.0
        elif words & _WANTED[want] or (want is Want.WHO and name.endswith(("人", "者", "员", "姓名"))):
            fit += 0.8
    return fit


def told(
    grid: Grid, choice: Choice, left: list[Term], sought: Sought, source: Source | None, *, asked: bool
) -> Part | None:
    """The fields of the chosen rows that answer. `asked`: the call itself named a thing that the question names."""
    rows = choice.rows
    named = bool(choice.met) or grid.single or len(grid.rows) == 1
    if not (named or asked) or not rows:
        return None
    scored: dict[str, float] = {}
    for name in grid.names:
        values = [row.fields[name] for row in rows if row.fields.get(name)]
        if (name == grid.naming and not sought.dimension) or (grid.single and set(parts(name)) & ENVELOPE_FIELDS):
            continue
        if values and (fit := _answers(name, values[0], left, sought)) > 0:
            scored[name] = fit
    best = max(scored.values(), default=0.0)
    fields = tuple(sorted((n for n, fit in scored.items() if fit >= max(0.44, 0.55 * best)), key=lambda n: -scored[n]))[
        :4
    ]
    own = {*word_stems(source.tool.name if source else ""), *word_stems(grid.key)}
    itself = any(term.forms & own for term in sought.dimension) and (bool(choice.met) or asked)
    if not fields and Want.MUCH in sought.wants and grid.single and asked:
        fields, best = tuple(rows[0].numbers), 1.0
    if not fields and not itself and asked and (text := _text_field(grid)):
        return Part(Aim.FIELD, rows[:1], (text,), quoted=True)
    if not fields and not itself:
        return None
    if Want.WHY in sought.wants:
        rows = _worst_first(rows)
    if best < 0.9 and not (itself or choice.met or grid.single or asked):
        return None
    return Part(Aim.FIELD, rows, fields, quoted=True)


def besides(rows: tuple[Row, ...], sought: Sought) -> tuple[str, ...]:
    """Fields of these rows that hold what is asked about them in passing: "the longest delay, and why"."""
    wanted = [_WANTED[want] - {"status"} for want in (Want.WHY, Want.WHO, Want.WHERE) if want in sought.wants]
    names = dict.fromkeys(name for row in rows for name, value in row.fields.items() if value)
    found = (next((name for name in names if set(parts(name.rpartition(".")[2])) & words), "") for words in wanted)
    return tuple(filter(None, found))


_SENTENCE = 4


def _text_field(grid: Grid) -> str:
    """The field that holds whole sentences, as what a search of texts returns does."""
    spoken = [name for name in grid.names if any(row.fields.get(name, "").count(" ") >= _SENTENCE for row in grid.rows)]
    return max(spoken, key=lambda name: len(grid.rows[0].fields.get(name, "")), default="")


def _worst_first(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Rows that tell of something bad, if any do; else all."""
    bad = [row for row in rows if any(word in value.lower() for value in row.fields.values() for word in _BAD)]
    return tuple(bad) or rows


_BAD = (
    "error",
    "fatal",
    "fail",
    "exception",
    "denied",
    "refused",
    "cannot",
    "could not",
    "panic",
    "critical",
    "warning",
    "unhealthy",
    "timeout",
    "timed out",
    "错误",
    "失败",
    "异常",
)


def spoken(grid: Grid, left: list[Term], sought: Sought) -> Part | None:
    """The lines of a text that speak of the question, or of what went wrong."""
    scored: list[tuple[float, int]] = []
    for at, row in enumerate(grid.rows):
        text = row.fields.get("text", "")
        stems = word_stems(text)
        fit = sum(term.meets(stems) for term in left)
        lowered = text.lower()
        fit += 2.0 * any(bad in lowered for bad in _BAD) if Want.WHY in sought.wants else 0.0
        scored.append((fit, at))
    best = max(fit for fit, _ in scored) if scored else 0.0
    if best <= 0:
        return None
    kept = [at for fit, at in scored if fit >= best][-2:]
    return Part(Aim.FIELD, tuple(grid.rows[at] for at in kept), ("text",), quoted=True)
