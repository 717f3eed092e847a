"""The activity that checks a person's answer before it settles anything."""

import asyncio
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from temporalio import activity

from activities.failures import journal_failures
from opspilot.core.approvals import Agreed, AskAgain, Counted, Judgement, OpenQuestion, Refused, Rejected, judge
from opspilot.core.calls import INTERRUPT, digest, is_json, round_name
from opspilot.core.contract import AnswerJudged, JudgeAnswer
from opspilot.core.entries import (
    Entry,
    Kind,
    NewEntry,
    answer_ignored_key,
    answer_kept_key,
    answered_key,
    approved_key,
    call_key,
    climbed_key,
    interrupt_key,
    result_key,
    started_key,
)
from opspilot.core.interrupts import Answer, AnswerAction, InterruptType, Principal
from opspilot.core.messages import Json
from opspilot.core.observations import SENTENCES, THEY_SAID, ErrorCode, Observation
from opspilot.core.outcomes import asked, result_entry
from opspilot.core.ports import Journal, Tools
from opspilot.core.sensitive import has_mask, in_answer, mask, unmasked
from opspilot.core.signatures import is_signed
from opspilot.core.terms import terms_of
from opspilot.core.verdicts import MUST_AGREE, Asking, interrupt_data

PLAIN = re.compile(r"[A-Za-z0-9.#_-]{1,100}")

UNSIGNED = "unsigned"
"""Stands for whoever answered without anybody vouching for them, such as from Temporal's console."""

NO_SUCH_QUESTION = "There is no such question in this run."
SETTLED = "This question is settled already."
NOT_KEPT = "The sensitive values that it speaks of were not kept for it."


@dataclass(frozen=True)
class Case:
    """An answer, and what the journal holds of the question that it names. `proposed` None: it is about a limit."""

    session: str
    run: str
    answer: Answer
    opened: Entry
    proposed: Entry | None
    started: Entry
    escalated: Entry | None
    approvals: tuple[Entry, ...]
    spoke: tuple[str, ...]
    arguments: dict[str, Json]

    @property
    def requester(self) -> Principal:
        """Who asked for the run."""
        user = self.started.data["user"]
        return Principal(user["id"], user["name"], tuple(user["roles"]))

    @property
    def question(self) -> OpenQuestion:
        """What the core judges by."""
        data = self.opened.data
        terms = terms_of(data.get("terms", {}))
        roles = [terms.role] if terms.role else []
        if roles and self.escalated is not None:
            roles.append(self.escalated.data["role"])
        fields = data["payload"].get("fields")
        return OpenQuestion(
            kind=InterruptType(data["kind"]),
            digest=data["digest"],
            tool=data["tool"],
            arguments=self.arguments,
            terms=terms,
            roles=tuple(roles),
            requester=self.requester.id,
            fields=tuple(map(str, fields)) if isinstance(fields, list) else (),
            approvals=tuple(entry.data["by"] for entry in self.approvals),
            spoke=self.spoke,
        )


class AnswerActivities:
    """Holds the journal, which knows what was shown, the tools, which know what is allowed, and the key.

    With a key an answer counts only when it is signed with it; without one (local mode) people are who they say.
    """

    def __init__(self, journal: Journal, tools: Tools, key: bytes | None = None) -> None:
        self._journal = journal
        self._tools = tools
        self._key = key

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
            return self._ignored(session, run, answer, NO_SUCH_QUESTION)
        if not is_json(dict(answer.values)):
            return self._ignored(session, run, answer, "The values hold what JSON can't carry.")
        known = self._key is None
        if self._key is not None and answer.signature:
            known = is_signed(answer, self._key, session, run)
            if not known or not answer.digest:
                return self._ignored(session, run, answer, "Its signature is not that of this answer to this question.")
        whole = self._whole(session, run, answer)
        if whole is None:
            return self._ignored(session, run, answer, NOT_KEPT)
        found = self._case(session, run, whole, name[1], int(name[2]), known=known)
        if not isinstance(found, Case):
            return found
        whole = replace(whole, values=unmasked(dict(whole.values), found.arguments))
        if has_mask(dict(whole.values)):
            return self._ignored(session, run, answer, NOT_KEPT)
        found = replace(found, answer=whole)
        judgement = judge(
            found.question,
            whole,
            lambda arguments: self._tools.judge(found.opened.data["tool"], arguments, found.requester),
            known=known,
        )
        return self._record(found, judgement, known=known)

    def _whole(self, session: str, run: str, answer: Answer) -> Answer | None:
        """The answer with the sensitive values that were kept apart from it; None when they weren't."""
        if not has_mask(dict(answer.values)):
            return answer
        key = answer_kept_key(run, answer.interrupt, answer.id)
        kept = self._journal.find(session, [key]).get(key)
        if kept is None or mask(kept.data["values"], kept.data["sensitive"]) != answer.values:
            return None
        return replace(answer, values=kept.data["values"])

    def _case(
        self, session: str, run: str, answer: Answer, call: str, round_: int, *, known: bool
    ) -> Case | AnswerJudged:
        """What the journal holds of the question, or what is to be said when it is not open.

        An answer that is recorded is told the same again; a copy of it for which nobody vouches is none.
        """
        keys = (
            interrupt_key(run, call, round_),
            call_key(run, call),
            started_key(run),
            answered_key(run, answer.interrupt),
            result_key(run, call),
            climbed_key(run, answer.interrupt, Kind.INTERRUPT_ESCALATED),
        )
        found = self._journal.find(session, keys)
        opened, proposed, started, answered, result, escalated = (found.get(key) for key in keys)
        vouched_for = answered is not None and answered.data.get("method") != UNSIGNED
        if answered is not None and answered.data.get("answer_id") == answer.id and known == vouched_for:
            return self._judged(answered)
        if opened is None or started is None or (proposed is None and opened.data["tool"]):
            return self._ignored(session, run, answer, NO_SUCH_QUESTION)
        if answered is not None or result is not None:
            return self._ignored(session, run, answer, SETTLED)
        quorum = opened.data.get("quorum", 1)
        nths = [approved_key(run, answer.interrupt, nth) for nth in range(1, quorum + 1)]
        given = self._journal.find(session, nths)
        approvals = tuple(given[key] for key in nths if key in given)
        if known and any(entry.data["answer_id"] == answer.id for entry in approvals):
            return AnswerJudged(accepted=False, action=answer.action, counted=True)
        arguments = self._current_arguments(opened, proposed) if proposed is not None else {}
        spoke = self._spoke(opened)
        return Case(session, run, answer, opened, proposed, started, escalated, approvals, spoke, arguments)

    def _spoke(self, opened: Entry) -> tuple[str, ...]:
        """Who had said something in this run by then: a message steers it as the question that began it does."""
        said = (
            entry.data.get("by")
            for entry in self._journal.read(opened.session, limit=opened.seq)
            if entry.kind is Kind.USER_MESSAGE and entry.run == opened.run and entry.seq < opened.seq
        )
        return tuple(dict.fromkeys(str(by) for by in said if by))

    def _current_arguments(self, opened: Entry, proposed: Entry) -> dict[str, Json]:
        if opened.data.get("held"):
            return dict(opened.data["arguments"])
        call, _, round_ = opened.data["interrupt"].partition("#")
        keys = [answered_key(opened.run, f"{call}#{nth}") for nth in range(int(round_))]
        found = self._journal.find(opened.session, keys)
        answers = [found[key] for key in keys if key in found]
        return dict(answers[-1].data["arguments"] if answers else proposed.data["arguments"])

    def _record(self, case: Case, judgement: Judgement, *, known: bool) -> AnswerJudged:
        answer = case.answer
        match judgement:
            case Refused(why):
                return self._ignored(case.session, case.run, answer, why)
            case Counted():
                self._journal.append(
                    case.session, case.run, [_approval(case, answer, case.opened, len(case.approvals))]
                )
                return AnswerJudged(accepted=False, action=answer.action, counted=True)
            case AskAgain(arguments):
                most = case.started.data["limits"]["rounds"]
                # The question takes one round, what it agrees to the next.
                if int(answer.interrupt.partition("#")[2]) + 1 >= most:
                    why = f"This call was changed {most} times; approve or reject it as it is."
                    return self._ignored(case.session, case.run, answer, why)
                return self._settle(case, dict(arguments), known=known, again=judgement)
            case Agreed(arguments, approved):
                return self._settle(case, dict(arguments), known=known, approved=approved)
            case Rejected():
                return self._settle(case, case.arguments, known=known, code=ErrorCode.REJECTED_BY_HUMAN)

    def _settle(
        self,
        case: Case,
        arguments: dict[str, Json],
        *,
        known: bool,
        approved: bool = False,
        code: ErrorCode | None = None,
        again: AskAgain | None = None,
    ) -> AnswerJudged:
        """Write what settles the question, and with it all that follows at once."""
        answer, now = case.answer, datetime.now(UTC)
        who = answer.principal
        call = case.proposed.call if case.proposed is not None else None
        tool = case.opened.data["tool"]
        data: dict[str, Json] = {
            "interrupt": answer.interrupt,
            "answer_id": answer.id,
            "action": answer.action.value,
            "by": who.id if known else UNSIGNED,
            "name": who.name if known else "",
            "method": who.method if known else UNSIGNED,
            "approvals": [entry.data["by"] for entry in case.approvals],
            "comment": answer.comment,
            "values": dict(answer.values),
            "arguments": arguments,
            "digest": digest(arguments),
            "summary": self._tools.summary(tool, arguments) if tool else "",
            "code": code.value if code else None,
            "approved": approved,
            "asks_again": again is not None,
        }
        if answer.without:
            data["without"] = list(answer.without)
        if places := {*in_answer(case.opened.data, arguments), *in_answer(case.opened.data, answer.values)}:
            data["sensitive"] = sorted(places)
        key = answered_key(case.run, answer.interrupt)
        entries = [NewEntry(key, Kind.INTERRUPT_ANSWERED, now, data, case.opened.step, call)]
        if code is not None and call is not None:
            sentence = SENTENCES[code] + (f"{THEY_SAID}{answer.comment}" if answer.comment else "")
            entries.append(result_entry(case.run, call, 0, Observation.failure(code, sentence), now))
        if again is not None:
            entries += self._next_question(case, arguments, again, now)
        written = self._journal.append(case.session, case.run, entries, whole=True)
        if written[0].data.get("answer_id") != answer.id:
            return self._ignored(case.session, case.run, answer, SETTLED)
        return self._judged(written[0])

    def _next_question(self, case: Case, arguments: dict[str, Json], again: AskAgain, now: datetime) -> list[NewEntry]:
        """The question whether the changed call may run, with the approvals that it has already."""
        assert case.proposed is not None
        assert case.proposed.call is not None
        call, round_ = case.proposed.call, int(case.answer.interrupt.partition("#")[2]) + 1
        verdict, tool = again.verdict, case.opened.data["tool"]
        question = interrupt_data(
            case.run,
            round_name(call, round_),
            tool,
            arguments if verdict.arguments is None else dict(verdict.arguments),
            kind=InterruptType.CONFIRM_RISKY,
            reason=verdict.message or MUST_AGREE,
            asking=Asking(verdict.rule, verdict.terms, case.requester.id, now, self._tools.schema(tool)),
        )
        question["held"] = True
        key = interrupt_key(case.run, call, round_)
        opened = NewEntry(key, Kind.INTERRUPT_OPENED, now, question, case.proposed.step, call)
        given = [_approval(case, case.answer, opened, nth) for nth, _ in enumerate(again.approvals)]
        return [opened, *given]

    def _judged(self, answered: Entry) -> AnswerJudged:
        """What a recorded answer made of its call, and the question that followed it at once."""
        data = answered.data
        following = None
        if data.get("asks_again"):
            call, _, round_ = data["interrupt"].partition("#")
            key = interrupt_key(answered.run, call, int(round_) + 1)
            following = self._journal.find(answered.session, [key])[key]
        return AnswerJudged(
            accepted=True,
            action=AnswerAction(data["action"]),
            digest=data["digest"],
            summary=data["summary"],
            code=ErrorCode(data["code"]) if data["code"] else None,
            asked=asked(following) if following is not None else None,
        )

    def _ignored(self, session: str, run: str, answer: Answer, why: str) -> AnswerJudged:
        name = INTERRUPT.fullmatch(answer.interrupt)
        data = {
            "interrupt": answer.interrupt[:100],
            "by": answer.principal.id[:100],
            "action": answer.action.value,
            "message": why,
        }
        key = answer_ignored_key(run, _in_key(answer.interrupt), _in_key(answer.id))
        call = name[1] if name is not None and "." in name[1] else None
        self._journal.append(session, run, [NewEntry(key, Kind.ANSWER_IGNORED, datetime.now(UTC), data, call=call)])
        return AnswerJudged(accepted=False, action=answer.action, detail=why)


def _approval(case: Case, answer: Answer, opened: Entry | NewEntry, given: int) -> NewEntry:
    """One approval of several; `given` are there already."""
    interrupt = opened.data["interrupt"]
    data: dict[str, Json] = {
        "interrupt": interrupt,
        "answer_id": answer.id,
        "by": answer.principal.id,
        "name": answer.principal.name,
        "method": answer.principal.method,
        "comment": answer.comment,
        "approvals": given + 1,
        "quorum": opened.data["quorum"],
    }
    key = approved_key(case.run, interrupt, given + 1)
    return NewEntry(key, Kind.INTERRUPT_APPROVED, datetime.now(UTC), data, opened.step, opened.call)


def _in_key(theirs: str) -> str:
    """What somebody else named, fit to be part of a key: a database takes neither any length nor any character."""
    return theirs if PLAIN.fullmatch(theirs) else digest(theirs)
