"""What a run says of itself in Temporal's web console: a few lines of Markdown."""

from opspilot.core import decisions
from opspilot.core.state import CallState, RunState


def details(state: RunState, decision: decisions.Decision) -> str:
    """Step, what it is doing, and for each open question how to answer it."""
    lines = [f"**Step {state.step}** · {_doing(decision)}"]
    if state.inbox:
        lines.append(f"Unread messages: {len(state.inbox)}")
    lines += [_question(state, call) for call in state.questions]
    if state.detail:
        lines.append(state.detail)
    return "\n\n".join(lines)


def _doing(decision: decisions.Decision) -> str:
    match decision:
        case decisions.AwaitMessage():
            return "waiting for a first message"
        case decisions.OpenRun():
            return "opening the run"
        case decisions.Think(final=None):
            return "the model is thinking"
        case decisions.Think(final=reason):
            return f"last words at a limit ({reason})"
        case decisions.RunBatch(calls):
            return "running " + "; ".join(f"`{each.call.summary}`" for each in calls)
        case decisions.AskHuman():
            return "**waiting for you**"
        case decisions.Close(reason):
            return f"closing ({reason})"
        case decisions.End():
            return "ended"
    return "settling calls"


def _question(state: RunState, call: CallState) -> str:
    interrupt = state.interrupt(call)
    return (
        f"Question `{interrupt}`: `{call.summary}`\n\n"
        f"Answer with `opspilot answer <session> --call {state.name(call)} --approve` "
        "(or `--reject`, `--set key=value`), "
        f'or send the update `answer`: `{{"id": "new-id", "interrupt": "{interrupt}", "action": "reject", '
        f'"principal": {{"id": "me"}}}}`'
    )
