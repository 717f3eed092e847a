"""The strategy for needs of data, as the planner asks for it: what to call next, the direct answer, the rows below it.

The thin outside of `inquiry`: everything is derived anew from the case.
"""

from collections.abc import Iterator

from opspilot.models.demo.case import Case, Proposal
from opspilot.models.demo.grounding import Sheet
from opspilot.models.demo.inquiry.asked import read_question
from opspilot.models.demo.inquiry.exploring import next_calls
from opspilot.models.demo.inquiry.telling import detail, lead
from opspilot.models.demo.inquiry.understanding import Understanding, understand
from opspilot.models.demo.kinds import Kind, kind_of
from opspilot.models.demo.searches import Need
from opspilot.models.demo.toolbox import ToolCard


def next_data(need: Need, case: Case) -> Iterator[Proposal]:
    """The next calls for a question about data; none when it is answered, or nothing is left to try."""
    for call in next_calls(_understood(need, case), _tools(need, case)):
        yield Proposal(need.id, call.tool, call.arguments)


def lead_data(need: Need, case: Case, sheet: Sheet) -> bool:
    """Write the direct answer; False when the results hold none."""
    return lead(_understood(need, case), sheet)


def tell_data(need: Need, case: Case, sheet: Sheet) -> None:
    """Write the rows that the answer rests on."""
    detail(_understood(need, case), sheet)


def _understood(need: Need, case: Case) -> Understanding:
    text = need.texts[0] if need.texts else case.question.text
    return understand(read_question(text), _tools(need, case), case.calls(need))


def _tools(need: Need, case: Case) -> tuple[ToolCard, ...]:
    """The need's tools, and whatever reads on in a result that was cut."""
    return (*need.tools, *(t for t in case.tools if kind_of(t) is Kind.MORE and t not in need.tools))
