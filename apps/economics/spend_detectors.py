"""How spend is looked at: by the day, by the week, for what creeps, weekends apart, and against a budget and a year ago."""

from enum import StrEnum


class SpendDetector(StrEnum):
    """The detector of an excess: which span of days, held against which line; BUDGET and YEAR are creeps over a line of their own."""

    DAY = "day"
    WEEK = "week"
    CREEP = "creep"
    WEEKEND = "weekend"
    BUDGET = "budget"
    YEAR = "year"

    @property
    def is_over_own_line(self) -> bool:
        """Whether it is a creep over a budget's pace or the same weeks a year ago."""
        return self in (SpendDetector.BUDGET, SpendDetector.YEAR)
