"""What rows can come to: one statement with its rows, its columns and what was computed. Holds data only."""

from dataclasses import dataclass

from opspilot.models.demo.inquiry.aims import Aim
from opspilot.models.demo.inquiry.tables import Record


@dataclass(frozen=True, eq=False)
class Outcome:
    """One statement. `records` are its rows, `columns` those that answer, `value` what was counted or added up.

    `besides`: columns with what they add up to over the same rows. `label`: whose value it is; `sides`: of each thing
    that is compared, its rows and its value. `of`: the column that it was computed by. `fit`: how well it answers.
    """

    aim: Aim
    records: tuple[Record, ...]
    columns: tuple[str, ...] = ()
    value: str = ""
    label: str = ""
    sides: tuple[tuple[str, tuple[Record, ...], str], ...] = ()
    fit: float = 0.0
    of: str = ""
    besides: tuple[tuple[str, str], ...] = ()
