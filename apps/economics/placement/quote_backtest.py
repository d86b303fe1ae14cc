"""Quotes that were taken and ended, held against what they cost: whether a quote says more than a plain mean does."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import fmean

from apps.economics.gates import (
    COVERED,
    Gate,
    GateName,
    baseline_gate,
    compared_texts,
    coverage_gate,
    coverage_hundredths,
)

LEAST_ENDED = 10
"""So many jobs have to have ended before anything is said of quotes by them."""
LEAST_FOR_WIDE = 20
"""Of fewer all may lie within a range that is not too wide: none of them is a twentieth."""
MEAN_BEFORE = "the mean of jobs that ended before, by their GPUs"


@dataclass(frozen=True, slots=True)
class EndedQuote:
    """A quote of `gpus` that was taken and ended: what it was said to cost, and what it was charged, in one currency.

    `low` and `high` are the ends of what was said; None is not known.
    """

    asked_at: datetime
    ended_at: datetime
    gpus: int
    said: float | None
    low: float | None
    high: float | None
    actual: float


def quote_backtest(ended: Sequence[EndedQuote], currency: str) -> tuple[Gate, Gate]:
    """How quotes bought the same way did beside the plain mean of jobs that had ended before, and what their ranges held."""
    return _beside_the_mean(ended, currency), _within_their_ranges(ended)


def _beside_the_mean(ended: Sequence[EndedQuote], currency: str) -> Gate:
    missed, missed_by_mean = [], []
    for quote in ended:
        rates = [
            quote_before.actual / quote_before.gpus
            for quote_before in ended
            if quote_before.ended_at <= quote.asked_at
        ]
        if quote.said is not None and rates:
            missed.append(abs(quote.said - quote.actual))
            missed_by_mean.append(abs(fmean(rates) * quote.gpus - quote.actual))
    if len(missed) < LEAST_ENDED:
        return Gate(GateName.BASELINE, None, _too_few(len(ended)))
    mean_miss, mean = fmean(missed), fmean(missed_by_mean)
    miss_text, mean_text = compared_texts(mean_miss, mean)
    sentence = f"the cost of {len(missed)} jobs was missed by {miss_text} {currency} on the mean, beside {mean_text} of {MEAN_BEFORE}"
    return replace(baseline_gate(mean_miss, {MEAN_BEFORE: mean}), says=sentence)


def _within_their_ranges(ended: Sequence[EndedQuote]) -> Gate:
    inside = [
        quote.low <= quote.actual <= quote.high
        for quote in ended
        if quote.low is not None and quote.high is not None and quote.low < quote.high
    ]
    if len(inside) < LEAST_ENDED:
        return Gate(GateName.COVERAGE, None, _too_few(len(ended)))
    coverage = sum(inside) / len(inside)
    gate = coverage_gate(coverage)
    sentence = f"{coverage_hundredths(coverage)} % of {len(inside)} jobs cost what lay between the low and the high end of their quotes"
    if coverage > COVERED[1] and len(inside) < LEAST_FOR_WIDE:
        return replace(gate, is_passed=True, says=sentence)
    how = "narrow" if coverage < COVERED[0] else "wide"
    fallback = "" if gate.is_passed else f"the same offer, whose range of costs is too {how}"
    return replace(gate, says=sentence, fallback=fallback)


def _too_few(ended: int) -> str:
    return f"no back-test yet: {ended:,} ended that were bought so, and {LEAST_ENDED} with one before them are the least"
