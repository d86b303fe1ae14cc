"""Words for what a service's cost was for, and for how its units are charged."""

from collections.abc import Mapping

from apps.economics.serving import Purpose
from apps.show.amounts import counted, per_cent
from apps.show.money import GAP
from apps.show.unknown import UNKNOWN
from apps.show.words import StateWords
from apps.unit_economics.queries.service_measures import Load
from apps.unit_economics.queries.unit_costs import AllocationBasis
from apps.workloads.queries.answer_times import Attainment, Latency

PARTS: Mapping[Purpose, StateWords] = {
    Purpose.ANSWERED: StateWords("active", "Answered", "Hours in which it answered requests."),
    Purpose.IDLE: StateWords("held_idle", "No requests", "Hours without requests."),
    Purpose.UNATTRIBUTED: StateWords(
        "stranded",
        "Unattributed",
        "Tokens of its engine beyond those that the gateway counted.",
    ),
    Purpose.UNCOUNTED: StateWords(
        "unobserved",
        "Not counted",
        "Hours in which neither the engine nor a gateway reported what was answered.",
        is_hatched=True,
    ),
}
LOADS: Mapping[str, str] = {
    str(Load.LOADED): "With shared costs",
    str(Load.DIRECT): "Direct cost alone",
    str(Load.MARGINAL): "Marginal cost",
}
ALLOCATIONS: Mapping[str, str] = {
    str(AllocationBasis.ALLOCATION): "All it held",
    str(AllocationBasis.USAGE): "What was active",
}
CHARGED: Mapping[AllocationBasis, str] = {
    AllocationBasis.ALLOCATION: "units carry all it held, hours without requests too",
    AllocationBasis.USAGE: "units carry what was active of it",
}
LOADED: Mapping[Load, str] = {
    Load.LOADED: "with its part of shared costs",
    Load.DIRECT: "without shared costs",
    Load.MARGINAL: "what it adds to what is owed anyway",
}
MEASURES = {"latency": "Whole answer", "first_token": "First token"}


def seconds(value: float) -> str:
    """`0.35 s`, `12 s`; three significant digits."""
    return f"{value:.3g} s"


def quantile_words(latency: Latency, ratio: float) -> str:
    """`0.35 s`, `over 12 s` where it lies beyond the last bound; `–` where it is not known."""
    quantile = next(
        (candidate for candidate in latency.quantiles if candidate and candidate.ratio == ratio),
        None,
    )
    if quantile is None:
        return UNKNOWN
    return f"over {seconds(quantile.seconds)}" if quantile.is_over else seconds(quantile.seconds)


def promise_words(attainment: Attainment) -> str:
    """`99 %: whole answer within 2 s`, or `99.9 %: answered without an error`."""
    # A target is what was entered: 99.9 % is no more than 99 %.
    target = f"{attainment.target_ratio * 100:.6g}{GAP}%"
    if attainment.within_seconds is None:
        return f"{target}: answered without an error"
    what = MEASURES[attainment.measure].lower()
    return f"{target}: {what} within {seconds(attainment.within_seconds)}"


def budget_words(attainment: Attainment) -> str:
    """`24 % left of 28 days`."""
    return (
        f"{_budget_left(attainment.budget_left_ratio)} of {counted(attainment.budget_days, 'day')}"
    )


def _budget_left(left: float | None) -> str:
    if left is None:
        return "Not known"
    if left < 0:
        return f"spent, and {per_cent(-left)} of it over"
    return f"{per_cent(left)} left"
