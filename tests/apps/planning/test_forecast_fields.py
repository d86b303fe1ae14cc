"""A history of whatever hours are known is answered: with a forecast, its totals where there are any, or the reason."""

import numpy as np
import pytest

from apps.economics.forecast.scores import DAY
from apps.planning.solvers.forecasting import forecast_fields


@pytest.mark.parametrize("days", [2, 9, 40])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.6, 0.95])
@pytest.mark.parametrize("seed", range(3))
def test_hours_that_are_seldom_known_are_no_error(days: int, share: float, seed: int) -> None:
    """As waits in a queue are: known in the hours in which something started."""
    draw = np.random.default_rng(seed)
    values = np.where(draw.random(days * DAY) < share, draw.exponential(600, days * DAY), np.nan)
    values[: DAY // 2] = values[-1] = 60.0
    fields = forecast_fields([None if np.isnan(each) else float(each) for each in values], 7 * DAY)
    assert len(fields["points"]) == 7 * DAY
    assert np.isfinite(fields["points"]).all()
    if not fields["refusal"] and share < 0.1:
        assert "sums" not in fields, "no day of them has a total"


def test_a_total_of_a_day_needs_a_day_of_which_most_is_known() -> None:
    values = np.full(40 * DAY, np.nan)
    values[::2] = 5.0
    fields = forecast_fields([None if np.isnan(each) else float(each) for each in values], 7 * DAY)
    assert fields["refusal"] == ""
    assert "sums" not in fields
    values[1::4] = 5.0
    fields = forecast_fields([None if np.isnan(each) else float(each) for each in values], 7 * DAY)
    assert fields["sums"][0] == pytest.approx([5.0 * DAY * day for day in range(1, 8)])
