"""Hours of the day are told apart where their counts differ by more than chance, and a job meets those it runs in."""

import json
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.spot.evidence import (
    ObservedInterruptions,
    factor_between,
    hour_factors,
    lifetimes_of_trace,
    rates_by_hour,
    summed_hours,
)
from apps.economics.spot.trace import SpotTrace, trace_of_document
from bench.machine import ROOT

DATA = ROOT.parent / "shared" / "data" / "spot"
FACTORS = [1.0] * 23 + [25.0]


def seen(counts: list[int], hours: float = 40.0) -> list[ObservedInterruptions]:
    return [ObservedInterruptions(hours, count, None, 0.0, None) for count in counts]


def test_even_hours_and_few_interruptions_have_no_factors() -> None:
    assert hour_factors(seen([4] * 24)) is None
    assert hour_factors(seen([0] * 23 + [20])) is None
    assert hour_factors(seen([9] * 24, hours=0.0)) is None


def test_hours_that_differ_are_told_apart_and_drawn_to_the_mean() -> None:
    factors = hour_factors(seen([2] * 20 + [20] * 4))

    assert factors is not None
    # 2 of 5 expected, and 20 of 5, each with 5 more at the rate of all.
    assert factors[0] == pytest.approx(0.7)
    assert factors[23] == pytest.approx(2.5)


def test_two_places_without_one_clock_have_no_hours() -> None:
    both = summed_hours([seen([1] * 24), seen([2] * 24)])

    assert [(each.exposure_hours, each.interruptions) for each in both] == [(80.0, 3)] * 24
    assert summed_hours([seen([1] * 24), []]) == []


@pytest.mark.parametrize(
    ("begins", "hours", "factor"),
    [(22.5, 1.0, 13.0), (23.0, 1.0, 25.0), (0.0, 3.0, 1.0), (14.0, 24.0, 2.0), (14.0, 0.0, 1.0)],
)
def test_a_job_meets_the_hours_it_runs_in(begins: float, hours: float, factor: float) -> None:
    assert factor_between(FACTORS, begins, hours) == pytest.approx(factor)


@given(st.floats(0, 23.99), st.floats(0.01, 200))
def test_the_mean_of_the_hours_lies_between_the_least_and_the_most(
    begins: float, hours: float
) -> None:
    assert 1.0 - 1e-9 <= factor_between(FACTORS, begins, hours) <= 25.0 + 1e-9


def counts_of(trace: SpotTrace, begin: float, end: float) -> list[ObservedInterruptions]:
    first, last = (int(len(trace.counts) * part) for part in (begin, end))
    return rates_by_hour(lifetimes_of_trace(trace.part(first, last), first * trace.tick * 3600))


@pytest.mark.parametrize("until", [1 / 3, 1 / 2])
def test_on_recorded_zones_hours_are_used_where_they_help_and_nowhere_else(until: float) -> None:
    """Fitted on the beginning, held against the rest: log-likelihood gained over one rate for all hours."""
    if not DATA.exists():
        pytest.skip("public spot traces are not beside the checkout")
    gained = {}
    for path in sorted(DATA.glob("*.json")):
        trace = trace_of_document(path.stem, json.loads(path.read_text()))
        factors = hour_factors(counts_of(trace, 0, until))
        if factors is None:
            continue
        before, rest = counts_of(trace, 0, until), counts_of(trace, until, 1)
        rate = sum(each.interruptions for each in before) / sum(
            each.exposure_hours for each in before
        )
        gained[path.stem] = sum(
            each.interruptions * log(factor) - (factor - 1) * rate * each.exposure_hours
            for each, factor in zip(rest, factors, strict=True)
        )

    assert list(gained) == ["us-east-1f_v100_1"]
    assert np.min(list(gained.values())) > 10
