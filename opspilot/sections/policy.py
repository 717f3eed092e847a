"""The section `[policy]`: rules about calls, and on which terms people are asked. Must not know what is done with them.

What a rule doesn't say about asking, `[policy]` itself says: a rule that forgets a role must not let anybody agree.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from opspilot.core.calls import Effect, Gate
from opspilot.core.errors import UsageError
from opspilot.core.policy import UNMATCHED_READ, UNMATCHED_WRITE, Policy, Rule
from opspilot.core.terms import Risk, Rung, RungKind, Terms
from opspilot.sections.durations import Duration, as_seconds
from opspilot.sections.section import Section, Word
from opspilot.settings_errors import Origin
from opspilot.texts.language import text

RESERVED = {UNMATCHED_READ, UNMATCHED_WRITE, "json", "limit", "registry", "role", "schema", "serial", "whole-reply"}
"""What is recorded as the rule where none of these rules decided."""

NEVER = "never"
"""Written instead of a duration, it takes back what `[policy]` says for all rules."""


def _several(written: Any) -> Any:
    return written if isinstance(written, list | tuple) else (written,)


def _flat(written: Any) -> Any:
    """`target.environment = …` makes a table in TOML; a rule knows paths."""
    if not isinstance(written, dict):
        return written
    flat: dict[Any, Any] = {}
    for name, value in written.items():
        below = _flat(value) if isinstance(value, dict) and value else None
        flat |= {name: value} if below is None else {f"{name}.{path}": found for path, found in below.items()}
    return flat


def _scalar(written: Any) -> Any:
    if isinstance(written, str | int) or (isinstance(written, float) and abs(written) < float("inf")):
        return written
    raise PydanticCustomError("scalar", "neither text nor number nor truth value")


def _wait(written: Any) -> Any:
    return None if written in (None, NEVER) else as_seconds(written)


OptionalWord: TypeAlias = Annotated[str, Field(pattern=r"^[\w.:-]{0,100}$")]
Words: TypeAlias = Annotated[tuple[Word, ...], BeforeValidator(_several), Field(min_length=1)]
Pattern: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
Patterns: TypeAlias = Annotated[tuple[Pattern, ...], BeforeValidator(_several), Field(min_length=1)]
Scalar: TypeAlias = Annotated[Any, BeforeValidator(_scalar)]
Scalars: TypeAlias = Annotated[tuple[Scalar, ...], BeforeValidator(_several), Field(min_length=1)]
Arguments: TypeAlias = Annotated[dict[Pattern, Scalars], BeforeValidator(_flat)]
Wait: TypeAlias = Annotated[Duration | None, BeforeValidator(_wait)]


class AskingSettings(Section):
    """On which terms a person is asked: who may agree, how many of them, and what happens while nobody does."""

    role: OptionalWord = ""
    quorum: Annotated[int, Field(ge=1, le=10)] = 1
    not_requester: bool = False
    risk: Literal["low", "medium", "high"] = "medium"
    remind_after: Wait = None
    escalate_after: Wait = None
    escalate_to: OptionalWord = ""
    expire_after: Wait = None
    on_expiry: Literal["deny", "stop"] = "deny"

    def over(self, general: "AskingSettings") -> "AskingSettings":
        """What is said here, and about the rest what is said in general."""
        said = {name: getattr(self if name in self.model_fields_set else general, name) for name in ASKING}
        return AskingSettings.model_construct(**said)

    def as_terms(self) -> Terms:
        """The same as the core knows it."""
        rungs = (
            (RungKind.REMIND, self.remind_after, "", False),
            (RungKind.ESCALATE, self.escalate_after, self.escalate_to, False),
            (RungKind.EXPIRE, self.expire_after, "", self.on_expiry == "stop"),
        )
        ladder = tuple(Rung(kind, after, role, stops) for kind, after, role, stops in rungs if after is not None)
        return Terms(self.role, self.quorum, self.not_requester, Risk(self.risk), ladder)


ASKING = tuple(AskingSettings.model_fields)
LADDER = ("remind_after", "escalate_after", "expire_after")


class RuleSettings(AskingSettings):
    """One `[[policy.rules]]`. `tool` is a name or pattern, `arguments` maps paths to values, or to lists of them.

    With verdict `run` the terms are those of questions that the tool asks by itself.
    """

    name: Word
    verdict: Literal["run", "confirm", "deny"]
    tool: Patterns = ()
    effect: Literal["read", "write"] | None = None
    arguments: Arguments = Field(default_factory=dict)
    user_role: Words = ()
    reason: Annotated[str, Field(max_length=1000)] = ""

    def as_rule(self, general: AskingSettings) -> Rule:
        """The same as the core knows it."""
        return Rule(
            name=self.name,
            verdict=Gate(self.verdict),
            tools=self.tool,
            effect=Effect(self.effect) if self.effect else None,
            arguments=self.arguments,
            user_roles=self.user_role,
            reason=self.reason,
            terms=self.over(general).as_terms(),
        )


class PolicySettings(AskingSettings):
    """The rules in order: the first that matches decides. Without one reads run, and writes need agreement."""

    rules: tuple[RuleSettings, ...] = ()

    def as_policy(self) -> Policy:
        """The same as the core knows it."""
        return Policy(tuple(rule.as_rule(self) for rule in self.rules), self.as_terms())


def refuse_contradictions(policy: PolicySettings, origin: Origin) -> None:
    """Raises `UsageError` for what only the whole can show to be wrong, one sentence for each fault."""
    if wrong := [*_wrong_names(policy, origin), *_wrong_terms(policy, origin)]:
        raise UsageError("\n".join(wrong))


def _wrong_names(policy: PolicySettings, origin: Origin) -> Iterator[str]:
    uses = Counter(rule.name for rule in policy.rules)
    for position, rule in enumerate(policy.rules, start=1):
        where = origin.where("policy", "rules", f"#{position}", "name")
        if rule.name in RESERVED:
            yield text("settings.policy.reserved", where=where, name=rule.name)
        elif uses[rule.name] > 1:
            yield text("settings.policy.unique", where=where, name=rule.name)


def _wrong_terms(policy: PolicySettings, origin: Origin) -> Iterator[str]:
    yield from _wrong_ladder(policy, policy, origin, ("policy",))
    for position, rule in enumerate(policy.rules, start=1):
        place = ("policy", "rules", f"#{position}")
        asking = [name for name in ASKING if name in rule.model_fields_set]
        if asking and rule.verdict == "deny":
            yield text("settings.policy.denies", where=origin.where(*place, asking[0]))
        elif asking:
            yield from _wrong_ladder(rule, rule.over(policy), origin, place)


def _wrong_ladder(said: AskingSettings, whole: AskingSettings, origin: Origin, place: tuple[str, ...]) -> Iterator[str]:
    """`said` is what stands at this place, `whole` what holds there."""

    def where(*keys: str) -> str:
        """The first of these keys that is set here, else the place as a whole."""
        return origin.where(*place, *[key for key in keys if key in said.model_fields_set][:1])

    if whole.escalate_after is not None and not whole.escalate_to:
        yield text("settings.policy.needs", where=where("escalate_after", "escalate_to"), key="escalate_to")
    if whole.escalate_after is None and "escalate_to" in said.model_fields_set and said.escalate_to:
        yield text("settings.policy.needs", where=where("escalate_to"), key="escalate_after")
    if whole.expire_after is None and "on_expiry" in said.model_fields_set:
        yield text("settings.policy.needs", where=where("on_expiry"), key="expire_after")
    times = [(key, after) for key in LADDER if (after := getattr(whole, key)) is not None]
    for (earlier, first), (later, second) in pairwise(times):
        if first >= second:
            yield text("settings.policy.order", where=where(later, earlier), earlier=earlier, later=later)
