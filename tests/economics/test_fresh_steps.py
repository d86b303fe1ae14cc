"""A level of a few days is not known to the last digit: its interval goes some way back to the level before."""

import numpy as np
import pytest

from apps.economics.changes import HoldingChange
from apps.economics.forecast.daily_calibration import calibrated_scenarios
from apps.economics.forecast.fresh_steps import FreshStep, doubted, fresh_step
from apps.planning.solvers.forecasting import forecast_fields

ORDINARY = np.ones(80)


@pytest.mark.parametrize("days", [1, 3, 5, 10])
@pytest.mark.parametrize("later", [50.0, 200.0])
def test_no_interval_of_a_fresh_step_is_a_point(days: int, later: float) -> None:
    values = np.concatenate([np.full(60, 100.0), np.full(days, later)])
    made = forecast_fields(np.repeat(values, 24).tolist())
    low, high = np.array(made["quantiles"][0]), np.array(made["quantiles"][-1])
    assert (high > low).all()
    assert (np.array(made["sums"][-1]) > np.array(made["sums"][0])).all()
    by_day = calibrated_scenarios(values, 28).quantiles
    assert (by_day[-1] > by_day[0]).all()


def test_the_older_a_step_is_the_less_it_is_doubted_and_its_mean_stays() -> None:
    widths = [np.ptp(FreshStep(days, -0.5).offsets) for days in (1, 4, 12, 28)]
    assert widths == sorted(widths, reverse=True)
    assert FreshStep(4, -0.5).offsets.mean() == pytest.approx(0)
    assert np.ptp(FreshStep(12, -0.5).offsets) == pytest.approx(0.25, rel=0.01), "half of the way"


def test_what_is_no_step_of_the_last_weeks_is_not_doubted() -> None:
    flat = np.full(80, 100.0)
    assert fresh_step(flat, ORDINARY, None) is None
    small, old = flat.copy(), flat.copy()
    small[70:] = 110.0
    old[20:] = 200.0
    assert fresh_step(small, ORDINARY, HoldingChange(70, 0.1)) is None
    assert fresh_step(old, ORDINARY, HoldingChange(20, 1.0)) is None
    assert fresh_step(old, ORDINARY, None) is None
    noisy = 100 + np.arange(80.0) % 5
    assert fresh_step(noisy, ORDINARY, None) is None
    assert fresh_step(np.array([np.nan, 3.0]), ORDINARY[:2], None) is None
    assert fresh_step(np.concatenate([flat[:70], np.zeros(10)]), ORDINARY, None) is None
    assert (
        fresh_step(
            np.concatenate([np.full(70, np.nan), flat[:10]]), ORDINARY, HoldingChange(70, 1.0)
        )
        is None
    )
    found = fresh_step(
        np.concatenate([flat[:70], np.full(10, 200.0)]), ORDINARY, HoldingChange(70, 1.0)
    )
    assert found == FreshStep(10, pytest.approx(-0.5))


def test_scenarios_that_lie_further_apart_already_are_left() -> None:
    draw = np.random.default_rng(0)
    wide = np.linspace(0, 200, 200)[:, None] * np.ones(3)
    step = FreshStep(4, -0.5)
    assert (doubted(wide, step, draw) == wide).all()
    assert (doubted(wide, None, draw) == wide).all()
    assert (doubted(wide[:1], step, draw) == wide[:1]).all()
    close = doubted(np.full((200, 3), 100.0), step, draw)
    assert np.ptp(close[:, 0]) > 20
    assert close.mean() == pytest.approx(100)
