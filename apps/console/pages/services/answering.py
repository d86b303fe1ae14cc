"""How fast a service answered, what was promised of that, and what changed, as rows."""

from collections.abc import Iterable

from django.urls import reverse

from apps.console.pages.services.values import ChangeRow, Latencies, LatencyRow, ObjectiveRow
from apps.console.pages.services.words import CHANGES, MEASURES
from apps.economics.latency import Quantile
from apps.show.amounts import GAP, counted, per_cent
from apps.show.unknown import UNKNOWN
from apps.workloads.queries.requests import QUANTILES, Attainment, ChangeFact, Latency

QUANTILE_NAMES = tuple("median" if ratio == 0.5 else f"p{ratio * 100:g}" for ratio in QUANTILES)


def latency_rows(times: Latencies) -> tuple[LatencyRow, ...]:
    """Of whole answers and of first tokens, where anybody told."""
    told = zip(MEASURES.values(), times, strict=True)
    return tuple(_latency(words, found) for words, found in told if found is not None)


def objective_rows(found: Iterable[Attainment]) -> tuple[ObjectiveRow, ...]:
    """Each promise and what became of it."""
    return tuple(map(_objective, found))


def change_rows(found: Iterable[ChangeFact]) -> tuple[ChangeRow, ...]:
    """Numbered by time."""
    return tuple(
        ChangeRow(number, each.at, CHANGES.get(each.kind, each.kind), each.name, each.feature)
        for number, each in enumerate(found, start=1)
    )


def seconds(value: float) -> str:
    """`0.35 s`, `12 s`; three significant digits."""
    return f"{value:.3g} s"


def _latency(words: str, found: Latency) -> LatencyRow:
    by_ratio = {each.ratio: each for each in found.quantiles}
    return LatencyRow(
        measure=words,
        told_by=found.source,
        requests=found.requests,
        quantiles=tuple(_quantile(by_ratio.get(ratio)) for ratio in QUANTILES),
    )


def _quantile(found: Quantile | None) -> str:
    if found is None:
        return UNKNOWN
    return f"over {seconds(found.seconds)}" if found.is_over else seconds(found.seconds)


def _objective(found: Attainment) -> ObjectiveRow:
    left = found.budget_left_ratio
    return ObjectiveRow(
        promise=promise_words(found),
        feature=found.feature or "all",
        found=found,
        budget=budget_words(found),
        end_href=""
        if found.ends_at
        else reverse("end-objective", args=[found.workload_id, found.objective_id]),
        is_broken=left is not None and left < 0,
    )


def promise_words(found: Attainment) -> str:
    """`99 %: whole answer within 2 s`, or `99.9 %: answered without an error`."""
    # A target is what was entered: 99.9 % is no more than 99 %.
    target = f"{found.target_ratio * 100:.6g}{GAP}%"
    if found.within_seconds is None:
        return f"{target}: answered without an error"
    what = MEASURES[found.measure].lower()
    return f"{target}: {what} within {seconds(found.within_seconds)}"


def budget_words(found: Attainment) -> str:
    """`24 % left of 28 days`."""
    return f"{_budget(found.budget_left_ratio)} of {counted(found.budget_days, 'day')}"


def _budget(left: float | None) -> str:
    if left is None:
        return "Not known"
    if left < 0:
        return f"spent, and {per_cent(-left)} of it over"
    return f"{per_cent(left)} left"
