"""The activity that checks a person's answer before it settles anything."""

import asyncio
import re
from collections.abc import Mapping
from datetime import UTC, datetime

from temporalio import activity

from activities.failures import journal_failures
from opspilot.core.calls import Gate, canonical_json, digest
from opspilot.core.contract import AnswerJudged, JudgeAnswer
from opspilot.core.entries import (
    Entry,
    Kind,
    NewEntry,
    answer_ignored_key,
    answered_key,
    call_key,
    interrupt_key,
    result_key,
    started_key,
)
from opspilot.core.interrupts import Answer, AnswerAction, InterruptType, Principal
from opspilot.core.messages import Json
from opspilot.core.observations import SENTENCES, ErrorCode, Observation
from opspilot.core.outcomes import result_entry
from opspilot.core.ports import Journal, Tools

INTERRUPT = re.compile(r"([1-9][0-9]{0,8}\.[1-9][0-9]{0,8})#(0|[1-9][0-9]{0,8})")
"""A question's name as we write it. Under another spelling (`1.1#01`) a question could be settled twice."""

PLAIN = re.compile(r"[A-Za-z0-9.#_-]{1,100}")


class AnswerActivities:
    """Holds the journal, which knows what was shown, and the tools, which know what is allowed."""

    def __init__(self, journal: Journal, tools: Tools) -> None:
        self._journal = journal
        self._tools = tools

    @activity.defn
    async def judge(self, order: JudgeAnswer) -> AnswerJudged:
        """Whether the answer is good, and what it makes of the call. One that isn't is recorded and changes nothing."""
        session = activity.info().workflow_id
        assert session is not None
        with journal_failures():
            return await asyncio.to_thread(self._judge, session, order)

    def _judge(self, session: str, order: JudgeAnswer) -> AnswerJudged:
        run, answer = order.run, order.answer
        name = INTERRUPT.fullmatch(answer.interrupt)
        if name is None:
            return self._ignored(session, run, answer, None, "There is no such question in this run.")
        call, round_ = name[1], int(name[2])
        if not _is_json(answer.values):
            return self._ignored(session, run, answer, call, "The values hold what JSON can't carry.")
        keys = (
            interrupt_key(run, call, round_),
            call_key(run, call),
            started_key(run),
            answered_key(run, answer.interrupt),
            result_key(run, call),
        )
        found = self._journal.find(session, keys)
        opened, proposed, started, answered, result = (found.get(key) for key in keys)
        if answered is not None and answered.data["answer_id"] == answer.id:
            return _judged(answered)
        if opened is None or proposed is None or started is None:
            return self._ignored(session, run, answer, call, "There is no such question in this run.")
        if answered is not None or result is not None:
            return self._ignored(session, run, answer, call, "This question is settled already.")
        if answer.digest and answer.digest != opened.data["digest"]:
            return self._ignored(session, run, answer, call, "This answer is for something else than what is asked.")
        user = started.data["user"]
        requester = Principal(user["id"], user["name"], tuple(user["roles"]))
        arguments, refusal = self._agreed(answer, opened, proposed, requester)
        if refusal:
            return self._ignored(session, run, answer, call, refusal)
        return self._settled(session, run, answer, opened, proposed, arguments)

    def _agreed(
        self, answer: Answer, opened: Entry, proposed: Entry, requester: Principal
    ) -> tuple[dict[str, Json], str]:
        """The arguments that this answer agrees to, and why it can't be taken (empty: it can)."""
        arguments: dict[str, Json] = self._current_arguments(opened, proposed)
        if answer.action is AnswerAction.REJECT:
            return arguments, ""
        if answer.action is AnswerAction.APPROVE:
            missing = opened.data["kind"] != InterruptType.CONFIRM_RISKY
            return arguments, "This question needs values, not an approval." if missing else ""
        if not answer.values:
            return arguments, "No values were given."
        if opened.data["kind"] == InterruptType.QUESTION:
            return arguments, ""
        if unasked := _unasked(opened, answer):
            return arguments, f"Nobody asked for {', '.join(unasked)}."
        arguments = {**arguments, **answer.values}
        verdict = self._tools.judge(proposed.data["name"], arguments, requester)
        return arguments, verdict.message if verdict.gate in (Gate.INVALID, Gate.DENY) else ""

    def _current_arguments(self, opened: Entry, proposed: Entry) -> dict[str, Json]:
        call, _, round_ = opened.data["interrupt"].partition("#")
        keys = [answered_key(opened.run, f"{call}#{nth}") for nth in range(int(round_))]
        found = self._journal.find(opened.session, keys)
        answers = [found[key] for key in keys if key in found]
        return dict(answers[-1].data["arguments"] if answers else proposed.data["arguments"])

    def _settled(
        self, session: str, run: str, answer: Answer, opened: Entry, proposed: Entry, arguments: dict[str, Json]
    ) -> AnswerJudged:
        assert proposed.call is not None
        now = datetime.now(UTC)
        code = ErrorCode.REJECTED_BY_HUMAN if answer.action is AnswerAction.REJECT else None
        data: dict[str, Json] = {
            "interrupt": answer.interrupt,
            "answer_id": answer.id,
            "action": answer.action.value,
            "by": answer.principal.id,
            "comment": answer.comment,
            "values": dict(answer.values),
            "arguments": arguments,
            "digest": digest(arguments),
            "summary": self._tools.summary(proposed.data["name"], arguments),
            "code": code.value if code else None,
            # Whoever tells a tool what it wanted to know has not agreed to what it will do with that.
            "approved": code is None and opened.data["kind"] == InterruptType.CONFIRM_RISKY,
        }
        settled = answered_key(run, answer.interrupt)
        entries = [NewEntry(settled, Kind.INTERRUPT_ANSWERED, now, data, proposed.step, proposed.call)]
        if code is not None:
            sentence = SENTENCES[code] + (f" They said: {answer.comment}" if answer.comment else "")
            entries.append(result_entry(run, proposed.call, 0, Observation.failure(code, sentence), now))
        written = self._journal.append(session, run, entries, whole=True)
        if written[0].data["answer_id"] != answer.id:
            return self._ignored(session, run, answer, proposed.call, "This question is settled already.")
        return _judged(written[0])

    def _ignored(self, session: str, run: str, answer: Answer, call: str | None, why: str) -> AnswerJudged:
        data = {
            "interrupt": answer.interrupt[:100],
            "by": answer.principal.id,
            "action": answer.action.value,
            "message": why,
        }
        key = answer_ignored_key(run, _in_key(answer.interrupt), _in_key(answer.id))
        self._journal.append(session, run, [NewEntry(key, Kind.ANSWER_IGNORED, datetime.now(UTC), data, call=call)])
        return AnswerJudged(accepted=False, action=answer.action, detail=why)


def _in_key(theirs: str) -> str:
    """What somebody else named, fit to be part of a key: a database takes neither any length nor any character."""
    return theirs if PLAIN.fullmatch(theirs) else digest(theirs)


def _unasked(opened: Entry, answer: Answer) -> list[str]:
    """Values beside those that the question names: filling in a form changes nothing else."""
    fields = opened.data["payload"].get("fields")
    if opened.data["kind"] != InterruptType.PARAMS_REQUIRED or not isinstance(fields, list):
        return []
    return sorted(set(answer.values) - set(map(str, fields)))


def _is_json(values: Mapping[str, Json]) -> bool:
    try:
        canonical_json(dict(values)).encode()
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _judged(answered: Entry) -> AnswerJudged:
    data = answered.data
    return AnswerJudged(
        accepted=True,
        action=AnswerAction(data["action"]),
        digest=data["digest"],
        summary=data["summary"],
        code=ErrorCode(data["code"]) if data["code"] else None,
    )
