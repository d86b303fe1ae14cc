"""How fast a service answered, what was promised of that, and what changed, as rows."""

from collections.abc import Iterable

from apps.console.pages.services.values import ChangeRow, Latencies, LatencyRow, ObjectiveRow
from apps.console.pages.services.words import CHANGES, MEASURES
from apps.economics.latency import Quantile
from apps.show.amounts import per_cent
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
    what = MEASURES[found.measure].lower()
    left = found.budget_left_ratio
    return ObjectiveRow(
        promise=f"{per_cent(found.target_ratio)}: {what} within {seconds(found.within_seconds)}",
        feature=found.feature or "all",
        found=found,
        budget=_budget(left),
        is_broken=left is not None and left < 0,
    )


def _budget(left: float | None) -> str:
    if left is None:
        return "Not known"
    if left < 0:
        return f"spent, and {per_cent(-left)} of it over"
    return f"{per_cent(left)} left"
