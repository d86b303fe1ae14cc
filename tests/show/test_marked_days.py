"""Days that something happened on, on a chart by day: only those that lie on it."""

from datetime import date

from apps.show.charts import DailySeries, daily_cost_by_state
from apps.show.marked_days import is_drawn_on
from apps.show.words import StateWords

DAYS = [date(2026, 7, day) for day in range(20, 27)]
ACTIVE = StateWords("active", "Active", "A kernel was resident")


def test_the_first_and_the_last_day_lie_on_a_chart_and_the_days_beside_it_do_not() -> None:
    row = DailySeries(ACTIVE, (1_000_000,) * 7, (None,) * 7)
    figure = daily_cost_by_state(DAYS, [row], "USD")

    drawn = [day for day in range(18, 29) if is_drawn_on(figure, date(2026, 7, day))]

    assert drawn == list(range(20, 27))
