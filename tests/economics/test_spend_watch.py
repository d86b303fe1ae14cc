"""Spend that is out of line is found, what came already is not, and false alarms are few."""

import numpy as np
import pytest

from apps.economics.spend_watch import (
    FEWEST_SPEND_DAYS,
    as_days,
    days_that_last,
    on_new_levels,
    out_of_line,
    strictness_after,
    weights_like,
)
from bench.spend_anomalies import CALM, KINDS, LEAST_FOUND, alarms_of, kind_figures, made_days


def usual_days(count: int = 120) -> np.ndarray:
    return made_days("steady", 7)[:count]


def test_a_day_of_three_times_as_much_is_out_of_line_at_once_and_the_second_such_is_not() -> None:
    values = usual_days()
    assert out_of_line(values) is None
    values[-1] *= 3
    found = out_of_line(values)
    assert found is not None
    assert found.days == 1
    values[60] = values[-1]
    assert out_of_line(values) is None, "what came already is no news"


def test_a_new_level_is_the_usual_one_once_it_is_said() -> None:
    values = usual_days()
    values[100:] *= 2
    assert out_of_line(values[:101]) is not None
    assert out_of_line(on_new_levels(values[:101], [(100, 2.0)])) is None
    more = values[:110].copy()
    more[109] *= 2
    assert out_of_line(on_new_levels(more, [(100, 2.0)])) is not None


def test_strictness_grows_with_false_alarms_within_bounds_and_asks_for_more() -> None:
    assert [round(strictness_after(count), 2) for count in (0, 1, 2, 10)] == [1.0, 1.3, 1.69, 3.0]
    values = usual_days()
    values[-1] *= 1.6
    assert out_of_line(values) is not None
    assert out_of_line(values, 3.0) is None


def test_too_few_days_and_days_that_are_not_known_say_nothing() -> None:
    values = usual_days(FEWEST_SPEND_DAYS - 1)
    values[-1] *= 9
    assert out_of_line(values) is None
    values = usual_days()
    values[-1] = np.nan
    assert out_of_line(values) is None
    values = usual_days()
    values[50:55] = np.nan
    values[-1] *= 3
    assert out_of_line(values) is not None


def test_an_excess_lasts_until_two_days_in_a_row_have_little_of_it() -> None:
    assert days_that_last([10, 9, 1, 10, 11]) == 5
    assert days_that_last([10, 9, 1, 2, 11]) == 2
    assert days_that_last([10]) == 1


def test_days_before_count_as_many_of_each_weekday_as_the_days_after() -> None:
    weights = weights_like(range(28), [28, 29])
    assert sum(weights.values()) == pytest.approx(2)
    assert {day for day, weight in weights.items() if weight} == {0, 7, 14, 21, 1, 8, 15, 22}
    assert sum(weights_like([1, 2], [28]).values()) == pytest.approx(1)
    with pytest.raises(ValueError, match="no day"):
        weights_like([], [1])
    assert list(as_days([(3, 1.0), (9, 5.0)], 2, 4)) == [0.0, 1.0, 0.0]


def test_a_series_that_is_usual_raises_nothing_for_a_year() -> None:
    assert alarms_of(made_days("steady", 7)) == []


@pytest.mark.proof
def test_false_alarms_are_few_and_doublings_are_found_on_other_seeds() -> None:
    """The aim of docs/guides/anomalies.md, on seeds that neither the rule nor its table is of."""
    found = {kind: kind_figures(kind, range(300, 306)) for kind in KINDS}
    for kind, figures in found.items():
        print(kind, figures)
    assert sum(found[kind]["false_in_12_months"] for kind in CALM) / len(CALM) <= 0.5
    assert sum(found[kind]["false_in_12_months"] for kind in ("bursts", "jobs")) / 2 <= 1.5
    for name, least in LEAST_FOUND.items():
        assert sum(found[kind][name]["found"] for kind in CALM) / len(CALM) >= least, name
    for kind in CALM:
        assert found[kind]["double"]["found"] >= 0.9
        assert found[kind]["one_day_triple"]["found"] >= 0.9
