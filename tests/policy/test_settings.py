"""`[policy]` as people write it: what it becomes, what a rule takes from it, and what is refused with a sentence."""

from pathlib import Path

import pytest

from opspilot.core.calls import Effect, Gate
from opspilot.core.errors import UsageError
from opspilot.core.policy import Policy, Rule
from opspilot.core.terms import Risk, Rung, RungKind, Terms
from opspilot.settings import Settings, load_settings
from opspilot.texts.language import Language, speak


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to start from."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def load(text: str) -> Settings:
    Path("opspilot.toml").write_text(text, encoding="utf-8")
    return load_settings()


def policy(text: str) -> Policy:
    return load(text).policy.as_policy()


def rule(more: str) -> str:
    return f'[[policy.rules]]\nname = "one"\nverdict = "confirm"\n{more}\n'


def test_without_a_policy_there_are_no_rules_and_nobody_in_particular_is_asked() -> None:
    assert load_settings().policy.as_policy() == Policy()


def test_everything_that_a_rule_can_say_reaches_the_core() -> None:
    text = rule(
        """
        tool = ["restart_*", "deploy"]
        effect = "write"
        arguments = {environment = "production", count = [1, 2.5], dry_run = false, target.zone = "eu-*"}
        user_role = "operator"
        reason = "Customers are there."
        role = "approver"
        quorum = 2
        not_requester = true
        risk = "high"
        remind_after = "30m"
        escalate_after = 7200
        escalate_to = "负责人"
        expire_after = "1.5d"
        on_expiry = "stop"
        """
    )
    ladder = (
        Rung(RungKind.REMIND, 1800.0),
        Rung(RungKind.ESCALATE, 7200.0, "负责人"),
        Rung(RungKind.EXPIRE, 129_600.0, stops=True),
    )
    arguments = {
        "environment": ("production",),
        "count": (1, 2.5),
        "dry_run": (False,),
        "target.zone": ("eu-*",),
    }
    terms = Terms("approver", 2, not_requester=True, risk=Risk.HIGH, ladder=ladder)
    assert policy(text) == Policy(
        (
            Rule(
                "one",
                Gate.CONFIRM,
                ("restart_*", "deploy"),
                Effect.WRITE,
                arguments,
                ("operator",),
                "Customers are there.",
                terms,
            ),
        )
    )


def test_what_a_rule_does_not_say_about_asking_it_takes_from_the_policy() -> None:
    made = policy(
        '[policy]\nrole = "approver"\nremind_after = "1h"\nexpire_after = "1d"\non_expiry = "stop"\n'
        + rule('risk = "high"\nremind_after = "2h"')
        + '[[policy.rules]]\nname = "two"\nverdict = "run"\nrole = ""\nexpire_after = "never"\n'
    )
    expires = Rung(RungKind.EXPIRE, 86_400.0, stops=True)
    assert made.terms == Terms("approver", ladder=(Rung(RungKind.REMIND, 3600.0), expires))
    assert made.rules[0].terms == Terms("approver", risk=Risk.HIGH, ladder=(Rung(RungKind.REMIND, 7200.0), expires))
    assert made.rules[1].terms == Terms(ladder=(Rung(RungKind.REMIND, 3600.0),))


def test_the_rules_can_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPSPILOT_POLICY__RULES", '[{"name": "none", "verdict": "deny", "tool": "drop_*"}]')
    monkeypatch.setenv("OPSPILOT_POLICY__EXPIRE_AFTER", "3600")
    made = load_settings().policy.as_policy()
    assert made.rules[0].tools == ("drop_*",)
    assert made.terms.expires_after_seconds == 3600.0


ASKING = "escalate_after, escalate_to, expire_after, not_requester, on_expiry, quorum, remind_after, risk, role"
KEYS = (
    "arguments, effect, escalate_after, escalate_to, expire_after, name, not_requester, on_expiry, quorum, reason, "
    "remind_after, risk, role, tool, user_role, verdict"
)
DURATION = "must be a time such as 90s, 30m, 1h or 2d, or a number of seconds, above 0 and at most 7 days."

WRONG = [
    ("[policy]\nqorum = 2",
     f"policy.qorum is not a setting. Did you mean quorum? Allowed in [policy]: {ASKING}, rules."),
    (rule("tol = 1"), f"policy.rules#1.tol is not a setting. Did you mean tool? Allowed in [[policy.rules]]: {KEYS}."),
    ('[[policy.rules]]\nverdict = "run"', "policy.rules#1.name must be given."),
    ('[[policy.rules]]\nname = "a"', "policy.rules#1.verdict must be given."),
    ('[[policy.rules]]\nname = "a b"\nverdict = "run"',
     "policy.rules#1.name must be a word of letters, digits, '_', '.', ':' and '-', at most 100."),
    ('[[policy.rules]]\nname = "a"\nverdict = "denied"',
     "policy.rules#1.verdict must be one of run, confirm, deny. Did you mean deny?"),
    ('[policy]\nrules = "x"', "policy.rules must be a list."),
    ("[policy]\nrules = [1]", "policy.rules#1 must be a table."),
    (rule("tool = 5"), "policy.rules#1.tool#1 must be text."),
    (rule("tool = []"), "policy.rules#1.tool must be a list that is not empty."),
    (rule('tool = ["a", ""]'), "policy.rules#1.tool#2 must be text that is not empty."),
    (rule('effect = "rite"'), "policy.rules#1.effect must be one of read, write. Did you mean write?"),
    (rule("arguments = 1"), "policy.rules#1.arguments must be a table."),
    (rule("arguments = {zone = []}"), "policy.rules#1.arguments.zone must be a list that is not empty."),
    (rule("arguments = {zone = {}}"), "policy.rules#1.arguments.zone#1 must be text, a number, or true or false."),
    (rule("arguments = {at = [1, 2026-11-30]}"),
     "policy.rules#1.arguments.at#2 must be text, a number, or true or false."),
    (rule("arguments = {at = inf}"), "policy.rules#1.arguments.at#1 must be text, a number, or true or false."),
    (rule("quorum = 0"), "policy.rules#1.quorum must be at least 1."),
    (rule("quorum = 11"), "policy.rules#1.quorum must be at most 10."),
    (rule('risk = "hihg"'), "policy.rules#1.risk must be one of low, medium, high. Did you mean high?"),
    (rule('remind_after = "1 hour"'), f"policy.rules#1.remind_after {DURATION}"),
    (rule('remind_after = "0s"'), f"policy.rules#1.remind_after {DURATION}"),
    (rule("remind_after = true"), f"policy.rules#1.remind_after {DURATION}"),
    (rule("remind_after = nan"), f"policy.rules#1.remind_after {DURATION}"),
    (rule('remind_after = "8d"'), f"policy.rules#1.remind_after {DURATION}"),
    (rule('remind_after = "٣h"'), f"policy.rules#1.remind_after {DURATION}"),
    (rule('escalate_after = "1h"'), "policy.rules#1.escalate_after needs escalate_to, too."),
    (rule('escalate_to = "boss"'), "policy.rules#1.escalate_to needs escalate_after, too."),
    (rule('on_expiry = "stop"'), "policy.rules#1.on_expiry needs expire_after, too."),
    ('[policy]\nescalate_after = "1h"', "policy.escalate_after needs escalate_to, too."),
    (rule('remind_after = "1h"\nexpire_after = "60m"'),
     "policy.rules#1.expire_after: expire_after must be longer than remind_after."),
    (rule('escalate_after = "1h"\nescalate_to = "boss"\nremind_after = "2h"'),
     "policy.rules#1.escalate_after: escalate_after must be longer than remind_after."),
    ('[policy]\nremind_after = "1d"\n' + rule('expire_after = "1h"'),
     "policy.rules#1.expire_after: expire_after must be longer than remind_after."),
    ('[policy]\nexpire_after = "1h"\n' + rule('remind_after = "2h"'),
     "policy.rules#1.remind_after: expire_after must be longer than remind_after."),
    ('[[policy.rules]]\nname = "a"\nverdict = "deny"\nquorum = 2',
     "policy.rules#1.quorum means nothing in a rule that denies: nobody is asked."),
    ('[[policy.rules]]\nname = "unmatched-write"\nverdict = "run"',
     "policy.rules#1.name: unmatched-write is what OpsPilot records where no rule decides; take another name."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), WRONG)
def test_a_wrong_policy_is_refused_with_a_sentence(text: str, sentence: str, here: Path) -> None:
    with pytest.raises(UsageError) as refused:
        load(text)
    assert str(refused.value) == f"{here / 'opspilot.toml'}: {sentence}"


def test_each_rule_whose_name_is_taken_is_named() -> None:
    with pytest.raises(UsageError) as refused:
        load(rule("") + '[[policy.rules]]\nname = "two"\nverdict = "run"\n' + rule('tool = "x"'))
    first, second = str(refused.value).split("\n")
    assert first.endswith("policy.rules#1.name: two rules are called one; each needs a name of its own.")
    assert "policy.rules#3.name" in second


def test_a_rule_that_denies_may_stand_below_a_policy_that_says_how_people_are_asked() -> None:
    made = policy('[policy]\nrole = "approver"\n[[policy.rules]]\nname = "a"\nverdict = "deny"\n')
    assert made.rules[0].verdict is Gate.DENY


def test_a_fault_in_the_environment_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPSPILOT_POLICY__RULES", '[{"name": "a", "verdict": "run", "quorum": 11}]')
    with pytest.raises(UsageError) as refused:
        load_settings()
    assert str(refused.value) == (
        "Environment variable OPSPILOT_POLICY__RULES (policy.rules#1.quorum) must be at most 10."
    )


def test_faults_are_said_in_chinese_too() -> None:
    speak(Language.CHINESE)
    try:
        with pytest.raises(UsageError, match="必须是一段时间"):
            load(rule('remind_after = "soon"'))
    finally:
        speak(Language.ENGLISH)
