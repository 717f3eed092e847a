"""`DemoModel`: the embedded default model when no key is set. A planner, no language model, and labelled as such.

The thin outside of the planner: a request in, a reply out. Deterministic, no I/O, no clock.
"""

import json
import re
from collections.abc import Callable

from opspilot.core.messages import Finish, ModelReply, ModelRequest, ProtocolCall, ToolSpec, Usage
from opspilot.core.ports import Model
from opspilot.models.demo.answer import write_answer
from opspilot.models.demo.arguments import unfilled
from opspilot.models.demo.case import Case, Proposal
from opspilot.models.demo.followup import merged, separated
from opspilot.models.demo.history import Dialogue, read_dialogue
from opspilot.models.demo.kinds import names_offered, nouns_of, vocabulary_of
from opspilot.models.demo.needs import needs_of
from opspilot.models.demo.plan import MAX_STEPS, propose, propose_forced, replay
from opspilot.models.demo.question import Question, read_question
from opspilot.models.demo.toolbox import ToolCard, read_tool
from opspilot.models.demo.wording import wording

_CHARACTERS_PER_TOKEN = 4
_PIECE_CHARACTERS = 160

_ASKS_PEOPLE = re.compile(
    r"(?i)\s*(?:asks?|consults?) (?:an?|the|some) (?:\w+ )?(?:person|human|people|user|operator|colleague)\b"
    r"|\s*(?:询问|请教|征求)"
)
"""How a tool describes itself that asks somebody instead of looking. A planner has nothing to ask of anybody."""


class DemoModel(Model):
    """Answers questions of operations with the tools at hand, by rules. It quotes what they return and adds nothing."""

    @property
    def name(self) -> str:
        """What people are shown."""
        return "demo (offline)"

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """The next calls, or the answer. The same request gives the same reply; never raises."""
        text, calls = decide(request)
        for start in range(0, len(text), _PIECE_CHARACTERS):
            on_text(text[start : start + _PIECE_CHARACTERS])
        usage = Usage(_tokens(_read_characters(request)), _tokens(len(text) + sum(len(c.arguments) for c in calls)))
        return ModelReply(text, calls, Finish.TOOL_CALLS if calls else Finish.STOP, usage)


def decide(request: ModelRequest) -> tuple[str, tuple[ProtocolCall, ...]]:
    """The text and the calls of the next reply: a pure function of the request."""
    dialogue = read_dialogue(request)
    tools = tuple(
        read_tool(spec)
        for spec in request.tools
        if spec.name == request.force or not _ASKS_PEOPLE.match(spec.description)
    )
    cases = _cases(dialogue, tools)
    for case in cases:
        proposals = _proposals(case, dialogue, request)
        if proposals:
            step = len(dialogue.steps) + len(dialogue.before) + 1
            calls = tuple(_call(proposal, step, index) for index, proposal in enumerate(proposals, 1))
            return _announced(proposals, case.question), calls
        if request.force and tools and (refusal := _cannot_call(case, request.force)):
            return refusal, ()
    if len(cases) == 1:
        return write_answer(cases[0]), ()
    return "\n\n".join(f"**{case.question.text.strip()}**\n\n{write_answer(case)}" for case in cases), ()


def _proposals(case: Case, dialogue: Dialogue, request: ModelRequest) -> tuple[Proposal, ...]:
    if not case.tools or len(dialogue.steps) >= MAX_STEPS or not case.question.text.strip():
        return ()
    proposals = propose_forced(case, request.force) if request.force else propose(case)
    return proposals if request.parallel else proposals[:1]


def _cases(dialogue: Dialogue, tools: tuple[ToolCard, ...]) -> tuple[Case, ...]:
    """One for each question that waits. Messages that add to one belong to it; an unclear one leans on those before."""
    nouns, offered, no_names = nouns_of(tools), names_offered(tools), vocabulary_of(tools)
    asked = [read_question(text, nouns, offered, no_names) for text in dialogue.asked]
    before = [read_question(text, nouns, offered, no_names) for text in dialogue.before]
    groups = separated(asked) or ((),)
    cases = []
    for group in groups:
        question = merged(group, before)
        case = Case(question, tools, needs_of(question, tools), known=dialogue.known, steered=len(group) > 1)
        cases.append(replay(case, dialogue, own=len(groups) > 1))
    return tuple(cases)


def _cannot_call(case: Case, name: str) -> str:
    """Why a tool that must be called isn't, when its parameters can't be filled truthfully; empty if it was called."""
    tool = next((tool for tool in case.tools if tool.name == name), None)
    if tool is None or any(filed.call.tool == name for filed in case.filed):
        return ""
    missing = ", ".join(parameter.name for parameter in unfilled(tool, case.wish()))
    return wording("cannot_force", chinese=case.question.chinese, tool=name, names=missing)


def _call(proposal: Proposal, step: int, index: int) -> ProtocolCall:
    arguments = json.dumps(proposal.arguments, ensure_ascii=False)
    return ProtocolCall(f"demo_{step}_{index}_{proposal.need.replace('.', '_')}", proposal.tool, arguments)


def _announced(proposals: tuple[Proposal, ...], question: Question) -> str:
    names = wording("and", chinese=question.chinese).join(dict.fromkeys(f"`{proposal.tool}`" for proposal in proposals))
    return wording("calling_together" if len(proposals) > 1 else "calling", chinese=question.chinese, tools=names)


def _read_characters(request: ModelRequest) -> int:
    said = sum(len(message.text) for message in request.messages)
    written = sum(len(c.arguments) for m in request.messages for c in getattr(m, "calls", ()))
    return said + written + sum(_declared_characters(spec) for spec in request.tools)


def _declared_characters(spec: ToolSpec) -> int:
    return len(spec.name) + len(spec.description) + len(json.dumps(spec.input_schema, ensure_ascii=False, default=str))


def _tokens(characters: int) -> int:
    """A rough and steady estimate, so that token budgets work."""
    return -(-characters // _CHARACTERS_PER_TOKEN)
