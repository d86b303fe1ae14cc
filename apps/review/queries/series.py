"""The figures that are watched, day by day, as the ledger knows them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from apps.economics.unit_change import Weighed, mean_of
from apps.economics.watch import WatchedDay, usable
from apps.ledger.queries.windows import Window
from apps.review.models import Measure
from apps.unit_economics.queries.measured import (
    ServedDay,
    TrainedDay,
    served_days,
    used_days,
    waited_days,
)

HISTORY = timedelta(days=200)
LEAST_WAIT = 0.005
"""Less waiting than this is none: half of nothing is no change."""


@dataclass(frozen=True, slots=True)
class Series:
    """One figure of a workload or a feature of it, on the days it can be judged by.

    `served` has the days of a service, by feature where it is about the whole and has several;
    `trained` those of runs.
    """

    measure: Measure
    workload_id: int
    feature: str
    days: tuple[WatchedDay, ...]
    served: tuple[ServedDay, ...] = ()
    trained: tuple[TrainedDay, ...] = ()

    @property
    def key(self) -> tuple[str, int, str]:
        """The key that tells the series from the others."""
        return (self.measure, self.workload_id, self.feature)

    @property
    def text(self) -> str:
        """The series as verdicts name it."""
        return key_text(self.key)


def key_text(key: tuple[str, int, str]) -> str:
    """`mfu|12`, or with a feature `tokens_per_request|12|search`."""
    measure, workload_id, feature = key
    return f"{measure}|{workload_id}" + (f"|{feature}" if feature else "")


def every_series(day: date, zone: str, workload_id: int | None = None) -> list[Series]:
    """All that is watched (of a workload), up to the day before; by measure, workload, feature."""
    window = Window("", day - HISTORY, day, zone)
    all_series = [*_of_services(served_days(window, workload_id))]
    all_series += _of_training(Measure.DATA_WAIT, waited_days(window, workload_id))
    all_series += _of_training(Measure.MFU, used_days(window, workload_id))
    return sorted(all_series, key=lambda series: series.key)


def one_series(key: tuple[str, int, str], day: date, zone: str) -> Series | None:
    """One of them, up to the day before; None where nothing of it is known."""
    return next((series for series in every_series(day, zone, key[1]) if series.key == key), None)


def _of_services(served: Iterable[ServedDay]) -> list[Series]:
    by_key: dict[tuple[int, str], list[ServedDay]] = {}
    of_service: dict[int, list[ServedDay]] = {}
    for fact in served:
        by_key.setdefault((fact.workload_id, fact.feature), []).append(fact)
        if fact.feature:
            of_service.setdefault(fact.workload_id, []).append(fact)
    series = []
    for (workload_id, feature), days in by_key.items():
        facts = (*days, *(of_service.get(workload_id, ()) if not feature else ()))
        for measure in (Measure.COST_PER_1000_REQUESTS, Measure.TOKENS_PER_REQUEST):
            watched = [
                day for served_day in days if (day := _served_day(measure, served_day)) is not None
            ]
            if watched:
                series.append(Series(measure, workload_id, feature, tuple(usable(watched)), facts))
    return series


def _served_day(measure: Measure, fact: ServedDay) -> WatchedDay | None:
    if measure is Measure.COST_PER_1000_REQUESTS:
        return WatchedDay(fact.day.toordinal(), fact.micros / fact.requests / 1_000, fact.requests)
    if fact.tokens is None:
        return None
    return WatchedDay(fact.day.toordinal(), fact.tokens / fact.requests, fact.requests)


def _of_training(measure: Measure, trained: Iterable[TrainedDay]) -> list[Series]:
    by_workload: dict[int, list[TrainedDay]] = {}
    for day in trained:
        by_workload.setdefault(day.workload_id, []).append(day)
    least = LEAST_WAIT if measure is Measure.DATA_WAIT else 0.0
    return [
        Series(measure, workload_id, "", tuple(usable(_ratio_days(days, least))), (), tuple(days))
        for workload_id, days in by_workload.items()
    ]


def _ratio_days(days: Iterable[TrainedDay], least: float) -> list[WatchedDay]:
    by_day: dict[date, dict[str, Weighed]] = {}
    for trained_day in days:
        by_day.setdefault(trained_day.day, {})[trained_day.gpu_model] = trained_day.cell
    return [_ratio_day(day, cells, least) for day, cells in by_day.items()]


def _ratio_day(day: date, cells: Mapping[str, Weighed], least: float) -> WatchedDay:
    weight = sum(cell.weight for cell in cells.values())
    return WatchedDay(day.toordinal(), max(mean_of(cells) or 0.0, least), weight)
