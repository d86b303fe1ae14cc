"""When a budget is told of: a share of it that is used, and a forecast that holds that it will be exceeded."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

THRESHOLDS = (50, 75, 90, 100)
"""Per cent of the amount; each is told of once in a period."""
FALLEN_BACK_BY = 2
"""Per cent of the amount: less than that below a threshold comes and goes as provisional hours are settled."""
LEAST_CHANCE, SURE_CHANCE = 0.8, 0.9
"""That it is exceeded, as the forecasts have it, on two days in a row; on one alone: no forecast says more."""
SHORT_DAYS = 28
"""Of a series that is known for fewer days an excess is believed less: its forecasts know no month."""
LEAST_MARGIN = Fraction(1, 5)
"""Of what is expected of the rest: of a short series the excess is at least so much of it, on the last of two days."""
LEAST_RUN_RATE_SHARE = Fraction(102, 100)
"""Of the amount that a run rate, which has no chance, has to come to at the end of the period."""
LEAST_RUN_RATE_GONE = 0.1
"""Of the period's time, before a run rate is believed."""
LOOKS_TO_END = 2
"""So many days in a row that expect none, for a warning to be over."""


@dataclass(frozen=True, slots=True)
class BudgetOutlook:
    """The expectation of a budget on a day; `chance` of exceeding, None where the rest is a run rate or unknown.

    `expected_share` is what the whole period comes to ÷ the amount, None where it is not known; `share_gone` of its time.
    Of the newest look also how many days of history the expectation knows, and what is used of the amount; None: not asked.
    """

    day: date
    chance: float | None
    expected_share: Fraction | None
    share_gone: float
    known_days: int | None = None
    share_used: Fraction | None = None

    @property
    def is_of_a_short_series(self) -> bool:
        """Whether it knows too few days for one look alone."""
        return self.known_days is not None and self.known_days < SHORT_DAYS

    @property
    def has_margin(self) -> bool:
        """Whether the rest could come to a fifth less and the amount would still be passed; a run rate has none to show."""
        if self.chance is None or self.expected_share is None or self.share_used is None:
            return True
        remaining_share = self.expected_share - self.share_used
        return self.expected_share - 1 >= LEAST_MARGIN * remaining_share

    @property
    def expects_excess(self) -> bool:
        """Whether what is expected is above the amount, and likely enough so for a warning on two such days."""
        if self.expected_share is None or self.expected_share <= 1:
            return False
        if self.chance is not None:
            return self.chance >= LEAST_CHANCE
        is_far_enough = self.share_gone >= LEAST_RUN_RATE_GONE
        return is_far_enough and self.expected_share >= LEAST_RUN_RATE_SHARE

    @property
    def is_sure(self) -> bool:
        """Whether this day alone is enough."""
        return self.expects_excess and (self.chance or 0) >= SURE_CHANCE

    @property
    def expects_none(self) -> bool:
        """Whether what is expected fits into the amount; False where it is not known."""
        return self.expected_share is not None and self.expected_share <= 1


def threshold_reached(share_used: Fraction | None) -> int | None:
    """The highest of THRESHOLDS, in per cent, that is used; None: not one, or not known."""
    if share_used is None:
        return None
    place = bisect_right(THRESHOLDS, share_used * 100)
    return THRESHOLDS[place - 1] if place else None


def has_fallen_back(share_used: Fraction, level: int) -> bool:
    """Whether so much less than a threshold (per cent) is used that it is no longer reached, whatever hours are settled anew."""
    return share_used * 100 < level - FALLEN_BACK_BY


def is_warned(assessments: Sequence[BudgetOutlook]) -> bool:
    """Whether of looks, one a day in order, the last is sure of an excess, or it and that of the day before expect one.

    Of a short series no look alone is enough, and the last needs a margin.
    """
    if assessments and assessments[-1].is_of_a_short_series:
        if not assessments[-1].has_margin:
            return False
    elif assessments and assessments[-1].is_sure:
        return True
    return _are_of_days_in_a_row(assessments[-2:], 2) and all(
        assessment.expects_excess for assessment in assessments[-2:]
    )


def is_over(assessments: Sequence[BudgetOutlook]) -> bool:
    """Whether the last looks, of days in a row, expect no excess any more."""
    last = assessments[-LOOKS_TO_END:]
    return _are_of_days_in_a_row(last, LOOKS_TO_END) and all(
        assessment.expects_none for assessment in last
    )


def _are_of_days_in_a_row(assessments: Sequence[BudgetOutlook], count: int) -> bool:
    days = [assessment.day.toordinal() for assessment in assessments]
    return len(days) == count and days == list(range(days[0], days[0] + count))
