"""All that the results so far say to a question: every table read, the best reading, and the passages that fit.

A pure function of question and calls, so that the same conversation is always understood the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from opspilot.models.demo.history import Done
from opspilot.models.demo.inquiry.asked import Question
from opspilot.models.demo.inquiry.joining import joined
from opspilot.models.demo.inquiry.moments import moment_of
from opspilot.models.demo.inquiry.passages import Passage, passages
from opspilot.models.demo.inquiry.reading import Reading, read
from opspilot.models.demo.inquiry.rows import quantity
from opspilot.models.demo.inquiry.tables import Table, tables_of
from opspilot.models.demo.inquiry.words import Sort, Word
from opspilot.models.demo.toolbox import ToolCard

_FEW = 3


@dataclass(frozen=True, eq=False)
class Understanding:
    """`best`: the reading that answers best; None when there are no tables. `unknown`: ids that no result has."""

    question: Question
    tables: tuple[Table, ...]
    readings: tuple[Reading, ...]
    passages: tuple[Passage, ...]
    calls: tuple[Done, ...]

    @property
    def best(self) -> Reading | None:
        """The reading that answers best."""
        return self.readings[0] if self.readings else None

    @property
    def chosen(self) -> Reading | None:
        """The best reading that is about things that the question names or bounds."""
        return next((r for r in self.readings if r.named and r.records), None)

    @property
    def unknown(self) -> tuple[Word, ...]:
        """Names in the question that stand in no row of any table."""
        ids = [w for w in self.question.names if not (self.question.span and self.question.span.covers(w.at, w.end))]
        return tuple(w for w in ids if not any(_has(table, w) for table in self.tables))

    def holds(self, name: str) -> bool:
        """Does a value in some row have this name in it?"""
        lowered = name.lower()
        return any(
            lowered in v.lower()
            for t in self.tables
            for n, values in t.values.items()
            if n not in t.given
            for v in values
        )

    @property
    def brought_up(self) -> tuple[str, ...]:
        """What the chosen rows call their matter: kinds, reasons, alerts; good to search documents by."""
        found: dict[str, None] = {}
        if self.best is not None and self.best.outcome is not None and self.best.outcome.label:
            found[self.best.outcome.label] = None
            return tuple(found)
        reading = self.chosen
        if reading is None:
            return ()
        rows = (reading.outcome.records if reading.outcome else ()) or reading.records
        if not 0 < len(rows) <= _FEW:
            return ()
        for record in rows[:_FEW]:
            for name, value in record.fields.items():
                wordy = 2 < len(value) <= 60 and quantity(value) is None and moment_of(value) is None
                if wordy and name != reading.table.naming and ">" not in name and not any(c.isdigit() for c in value):
                    found[value] = None
        return tuple(found)


def _has(table: Table, word: Word) -> bool:
    lowered = word.text.lower()
    if word.sort is not Sort.ID and word.forms <= frozenset().union(
        table.described, table.nouns, *table.labels.values()
    ):
        return True
    return any(lowered in v.lower() for n, values in table.values.items() if n not in table.given for v in values)


def understand(question: Question, tools: Sequence[ToolCard], calls: Sequence[Done]) -> Understanding:
    """Read everything."""
    tables = joined(tables_of(calls, tools))
    readings = sorted((read(table, question) for table in tables if not table.prose), key=lambda r: -r.score)
    state = Understanding(question, tuple(tables), tuple(readings), (), tuple(calls))
    return Understanding(
        question, tuple(tables), tuple(readings), tuple(passages(tables, question, state.brought_up)), tuple(calls)
    )
