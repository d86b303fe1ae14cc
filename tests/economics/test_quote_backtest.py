"""Quotes are tried on jobs that ended: beside a plain mean of those before them, and by what their ranges held."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from apps.economics.gates import Gate
from apps.economics.placement.quote_backtest import (
    LEAST_ENDED,
    MEAN_BEFORE,
    EndedQuote,
    quote_backtest,
)

FIRST = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def jobs(count: int, said: float = 1.0, within: float = 0.2, **given: object) -> list[EndedQuote]:
    """One a day that ends on it, of 8 or 16 GPUs in turn; a GPU costs 10, 20 or 30, and each is said to cost `said` times what it did."""
    found = []
    for place in range(count):
        gpus, actual = 8 * (1 + place % 2), 80.0 * (1 + place % 2) * (1 + place % 3)
        quoted = said * actual
        found.append(
            EndedQuote(
                asked_at=FIRST + place * DAY,
                ended_at=FIRST + (place + 1) * DAY,
                gpus=gpus,
                said=quoted,
                low=quoted * (1 - within),
                high=quoted * (1 + within),
                actual=actual,
            )
        )
    return [replace(each, **given) for each in found]


def gates(ended: list[EndedQuote]) -> tuple[Gate, Gate]:
    return quote_backtest(ended, "USD")


def test_a_quote_that_knows_more_than_the_mean_passes() -> None:
    baseline, coverage = gates(jobs(LEAST_ENDED + 1, said=1.05))
    assert baseline.is_passed is True
    assert "the cost of 10 jobs was missed by" in baseline.says
    assert coverage.is_passed is True, (
        "all of a few in their ranges do not say that these are too wide"
    )
    assert "100 % of 11 jobs cost what lay between" in coverage.says


def test_a_quote_that_knows_less_names_the_mean_that_is_to_be_taken() -> None:
    baseline, coverage = gates(jobs(30, said=3.0))
    assert (baseline.is_passed, baseline.fallback) == (False, MEAN_BEFORE)
    assert coverage.is_passed is False
    assert coverage.fallback == "the same offer, whose range of costs is too narrow"


def test_the_mean_is_of_jobs_that_had_ended_when_it_was_asked() -> None:
    """By their GPUs: 80 of 8 and, before the third, 240 of 16: (10 + 20) / 2 for 8."""
    one, two, *_ = jobs(2)
    asked = EndedQuote(FIRST + 3 * DAY, FIRST + 9 * DAY, 8, 100.0, None, None, 140.0)
    later = replace(one, asked_at=FIRST, ended_at=FIRST + 8 * DAY, actual=10_000.0)
    many = [replace(asked, asked_at=asked.asked_at + place * DAY / 24) for place in range(10)]
    baseline, _ = gates([one, replace(two, asked_at=FIRST, actual=320.0), later, *many])
    assert baseline.says.startswith(
        "the cost of 10 jobs was missed by 40 USD on the mean, beside 20 of"
    )


UNSAID = [replace(each, said=None, low=None) for each in jobs(20)]


@pytest.mark.parametrize("ended", [[], jobs(LEAST_ENDED), UNSAID])
def test_too_few_are_said_to_be_none_yet(ended: list[EndedQuote]) -> None:
    baseline, _ = gates(ended)
    assert baseline.is_passed is None
    assert baseline.says.startswith(f"no back-test yet: {len(ended)} ended that were bought so")


def test_a_range_without_a_width_is_no_range() -> None:
    _, coverage = gates(jobs(20, low=100.0, high=100.0))
    assert coverage.is_passed is None


def test_ranges_that_hold_all_of_many_are_too_wide() -> None:
    _, coverage = gates(jobs(20))
    assert (coverage.is_passed, coverage.fallback) == (
        False,
        "the same offer, whose range of costs is too wide",
    )
