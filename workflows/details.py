"""What a run says of itself: its status, and a few lines of Markdown for Temporal's web console."""

from collections.abc import Iterable

from temporalio import workflow

from opspilot.core import contract, decisions
from opspilot.core.state import CallState, Phase, RunState

WAITING_FOR_BYTES = 2000
"""Temporal's limit for the value of one search attribute is 2,048 by default."""

DOING: dict[type, str] = {
    decisions.AwaitMessage: "waiting for a first message",
    decisions.OpenRun: "opening the run",
    decisions.AskHuman: "**waiting for you**",
    decisions.End: "ended",
}


def run_status(run: str, state: RunState, decision: decisions.Decision) -> contract.RunStatus:
    """What the run is doing now."""
    waiting = isinstance(decision, decisions.AskHuman)
    done = state.phase is Phase.ENDED
    return contract.RunStatus(
        status=contract.Status.DONE if done else contract.Status.WAITING if waiting else contract.Status.RUNNING,
        run=run,
        journal=state.journal,
        step=state.step,
        doing=type(decision).__name__,
        questions=open_questions(state),
        usage=state.usage,
        active_seconds=state.active_now,
        history_events=workflow.info().get_current_history_length(),
        history_bytes=workflow.info().get_current_history_size(),
    )


def open_questions(state: RunState) -> tuple[contract.OpenQuestion, ...]:
    """What people are asked."""
    tools = {state.interrupt(call): call.tool for call in state.questions}
    return tuple(
        contract.OpenQuestion(name, tools.get(name, ""), state.shown(name) or "", wait.expires_at)
        for name, wait in state.waits.items()
    )


def waiting_for(questions: Iterable[contract.OpenQuestion]) -> list[str]:
    """What the questions are about, by name: as many as a search attribute holds. Temporal fails a run with more."""
    names: list[str] = []
    bytes_left = WAITING_FOR_BYTES
    for name in sorted({(question.tool or "limit")[:100] for question in questions}):
        # Quotes and a comma.
        bytes_left -= len(name.encode()) + 3
        if bytes_left >= 0:
            names.append(name)
    return names


def details(session: str, state: RunState, decision: decisions.Decision) -> str:
    """Step, what it is doing, and for each open question how to answer it."""
    lines = [f"**Step {state.step}** · {_doing(decision)}"]
    if state.inbox:
        lines.append(f"Unread messages: {len(state.inbox)}")
    lines += [_question(session, state, call) for call in state.questions]
    if limit := state.open_limit_question:
        how = _how(session, limit.interrupt, "`--reject`")
        lines.append(f"Question `{limit.interrupt}`: may the run go on beyond its limit?\n\n{how}")
    if state.detail:
        lines.append(state.detail)
    return "\n\n".join(lines)


def _doing(decision: decisions.Decision) -> str:
    match decision:
        case decisions.Think(final=None):
            return "the model is thinking"
        case decisions.Think(final=reason):
            return f"last words at a limit ({reason})"
        case decisions.RunBatch(calls):
            return "running " + "; ".join(f"`{each.call.summary}`" for each in calls)
        case decisions.AskToGoOn(reason):
            return f"asking whether to go on beyond a limit ({reason})"
        case decisions.Climb(interrupt, rung=rung):
            return f"{rung.kind}: question {interrupt} has waited too long"
        case decisions.Close(reason):
            return f"closing ({reason})"
    return DOING.get(type(decision), "settling calls")


def _question(session: str, state: RunState, call: CallState) -> str:
    interrupt = state.interrupt(call)
    return f"Question `{interrupt}`: `{call.summary}`\n\n{_how(session, interrupt, '`--reject`, `--set key=value`')}"


def _how(session: str, interrupt: str, otherwise: str) -> str:
    return (
        f"Answer with `opspilot answer {session} --call {interrupt.partition('#')[0]} --approve` "
        f"(or {otherwise}), "
        f'or send the update `answer`: `{{"id": "new-id", "interrupt": "{interrupt}", "action": "reject", '
        f'"principal": {{"id": "me"}}}}`'
    )
