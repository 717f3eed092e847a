"""English, continued: the policy and the commands about it."""

ENGLISH_POLICY: dict[str, str] = {
    # ---- a policy that can't be
    "settings.policy.unique": "{where}: two rules are called {name}; each needs a name of its own.",
    "settings.policy.reserved": "{where}: {name} is what OpsPilot records where no rule decides; take another name.",
    "settings.policy.denies": "{where} means nothing in a rule that denies: nobody is asked.",
    "settings.policy.needs": "{where} needs {key}, too.",
    "settings.policy.order": "{where}: {later} must be longer than {earlier}.",
    # ---- the policy: what would happen to a call, and what is wrong with the rules
    "policy.asked_for": "{effect}; asked for by {who} ({roles})",
    "policy.no_roles": "no role",
    "policy.run": "It runs: {by}.",
    "policy.confirm": "It waits until people agree: {by}.",
    "policy.deny": "It does not run: {by}.",
    "policy.invalid": "It can't run: {by}.",
    "policy.by_rule": "rule {position} of {rules}, {name}",
    "policy.by_none": "no rule matches ({name})",
    "policy.by_itself": "no rule is asked ({name})",
    "policy.asks_itself": "Should the tool itself ask a person:",
    "policy.anybody": "anybody may agree who may answer at all",
    "policy.role": "people with the role {role} may agree",
    "policy.quorum": "{quorum} different people have to",
    "policy.not_requester": "who asked for the run may not",
    "policy.risk": "risk: {risk}",
    "policy.remind": "after {after} they are reminded",
    "policy.escalate": "after {after} people with the role {role} may agree, too",
    "policy.expire.deny": "after {after} it is too late, and the call does not run",
    "policy.expire.stop": "after {after} it is too late, and the run stops",
    "policy.waits": "it waits for as long as it takes",
    "policy.passed": "Rules that come before and don't match:",
    "policy.or": " or ",
    "policy.unmet.tool": "the tool is not {wanted}",
    "policy.unmet.effect": "its effect is not {wanted}",
    "policy.unmet.argument": "{path} is not {wanted}",
    "policy.unmet.user_role": "who asks has not the role {wanted}",
    "policy.sound": "Nothing is wrong with the policy. Rules: {rules}; tools: {tools}.",
    "policy.never": " It never decides.",
    "policy.fault.no_tool": "{where}: no tool is called {what}.",
    "policy.fault.no_effect": "{where}: its effect is {what}, which none of its tools has: {tools}.",
    "policy.fault.no_argument": "{where}: {what} is taken by none of its tools: {tools}.",
    "policy.fault.no_value": "{where}: {path} can't be {value} in any of its tools: {tools}.",
    "policy.fault.shadowed": "{where}: what it matches is decided by a rule before it: {what}.",
    "policy.fault.escalates_to_nobody_new": (
        "{where}: escalate_to is {what}, and whoever has that role may agree from the beginning."
    ),
    "risk.low": "low",
    "risk.medium": "medium",
    "risk.high": "high",
    # ---- help
    "help.policy": "See what the policy makes of a call, and what is wrong with its rules.",
    "help.policy_test": "Explain what would happen to a call, by which rule, and who would be asked. Nothing is run.",
    "help.policy_check": (
        "Find rules that can never decide, and names that stand for nothing. Exit status: 1 when there is something."
    ),
    "help.user_role": "As asked for by somebody with this role, and no other than are given here.",
}
