"""Scores and conformal ranks, against worked examples."""

from math import isnan

import numpy as np
import pytest

from apps.economics.forecast.backtest import mean_errors
from apps.economics.forecast.scores import (
    adapted_miss_rate,
    conformal_rank,
    coverage,
    mase,
    seasonal_scale,
    weighted_quantile_loss,
)

NAN = float("nan")


def floats(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def test_mase_is_over_the_seasonal_steps_of_the_history():
    scale = seasonal_scale(floats(1, 3, 2, 4, 3, 5), season=2)
    assert mase(floats(4, 6), floats(5, 5), scale) == 1.0
    assert mase(floats(4, NAN), floats(5, 5), scale) == 1.0, (
        "an hour not observed counts in nothing"
    )


@pytest.mark.parametrize(
    "history", [[7.0] * 30, [7.0] * 10, [NAN] * 30, [7.0] * 24 + [7.0 + 1e-13] * 24, [0.0] * 30]
)
def test_without_a_scale_or_an_observation_there_is_no_mase(history):
    assert isnan(mase(floats(4, 6), floats(5, 5), seasonal_scale(floats(*history))))
    assert isnan(mase(floats(NAN, NAN), floats(5, 5), 1.0))


def test_the_quantile_loss_is_twice_the_pinball_loss_per_unit_observed():
    quantiles = np.array([[8.0, 15.0], [10.0, 20.0], [12.0, 26.0]])
    loss = weighted_quantile_loss(floats(10, 20), quantiles, floats(0.1, 0.5, 0.9))
    assert loss == pytest.approx(0.0333333333, abs=1e-9)
    assert isnan(weighted_quantile_loss(floats(0, 0), quantiles, floats(0.1, 0.5, 0.9)))


def test_coverage_counts_observed_hours_that_have_an_interval():
    low, high = floats(0, 0, 0, NAN), floats(2, 2, 2, NAN)
    assert coverage(floats(1, 3, NAN, 1), low, high) == 0.5
    assert isnan(coverage(floats(NAN, NAN, NAN, 1), low, high))


@pytest.mark.parametrize(
    ("count", "miss_rate", "rank"),
    [(9, 0.2, 8), (3, 0.1, None), (4, 0.2, 4), (3, 0.2, None), (9, 0.1, 9), (19, 0.05, 19)],
)
def test_so_many_scores_bound_the_next_at_so_small_a_miss_rate(count, miss_rate, rank):
    assert conformal_rank(count, miss_rate) == rank


def test_miss_rates_follow_what_was_missed():
    rate, path = floats(0.2), []
    for missed in (1, 0, 0, 1, NAN):
        rate = adapted_miss_rate(rate, floats(missed), floats(0.2), step=0.05)
        path.append(round(float(rate[0]), 4))
    assert path == [0.16, 0.17, 0.18, 0.14, 0.14]


def test_plain_errors_are_of_what_came_and_of_nothing_there_are_none():
    assert mean_errors(floats(4, NAN), {"naive": floats(5, 5)}) == {"naive": 1.0}
    assert mean_errors(floats(NAN), {"naive": floats(5)}) == {}
