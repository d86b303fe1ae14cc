"""What a period is held against: one rule for every page."""

from datetime import date

import pytest

from apps.economics.refusal import Refusal
from apps.ledger.queries.comparison import Comparison, comparison_of, days_compared
from apps.ledger.queries.windows import Calendar, window_of

TODAY = date(2028, 3, 15)
CALENDAR = Calendar("UTC", 1, TODAY)


def held(text: str, against: str) -> tuple[str, str] | None:
    spans = days_compared(window_of(text, CALENDAR), TODAY, comparison_of(against, CALENDAR))
    if spans is None:
        return None
    now, before = (f"{each.first_day}/{each.end_day}" for each in spans)
    return now, before


@pytest.mark.parametrize(
    ("text", "against", "now", "before"),
    [
        ("7d", "before", "2028-03-09/2028-03-15", "2028-03-02/2028-03-08"),
        ("month", "before", "2028-03-01/2028-03-15", "2028-02-01/2028-02-15"),
        ("2028-01", "before", "2028-01-01/2028-02-01", "2027-12-01/2028-01-01"),
        ("2028-02", "lastyear", "2028-02-01/2028-03-01", "2027-02-01/2027-03-01"),
        ("2028-02-29", "lastyear", "2028-02-29/2028-03-01", "2027-02-28/2027-03-01"),
        ("month", "lastyear", "2028-03-01/2028-03-15", "2027-03-01/2027-03-15"),
        ("7d", "lastmonth", "2028-03-09/2028-03-15", "2028-02-01/2028-03-01"),
        ("7d", "2027-07-01/2027-07-04", "2028-03-09/2028-03-15", "2027-07-01/2027-07-04"),
        ("7d", "2028-03-10/2028-03-20", "2028-03-09/2028-03-15", "2028-03-10/2028-03-15"),
    ],
)
def test_days_that_are_over_are_held_against_days(
    text: str, against: str, now: str, before: str
) -> None:
    assert held(text, against) == (now, before)


@pytest.mark.parametrize("against", ["before", "lastyear", "lastmonth", "2028-04"])
def test_where_no_day_is_over_nothing_is_compared(against: str) -> None:
    assert held("today", against) is None
    assert against != "2028-04" or held("7d", against) is None


def test_what_is_no_span_is_refused() -> None:
    with pytest.raises(Refusal):
        comparison_of("last year", CALENDAR)
    assert comparison_of("before", CALENDAR) == Comparison()
