"""The story of a change of a figure: before and after, its parts, and what it is in 30 days."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from apps.economics.changes import WEEK
from apps.economics.money import sum_or_unknown
from apps.economics.unit_change import (
    EFFICIENCY,
    MILLION,
    VOLUME,
    Served,
    UnitSpend,
    Weighed,
    mean_of,
    mean_parts,
    served_parts,
)
from apps.economics.watch import WatchedDay
from apps.review.models import Measure
from apps.review.queries.series import Series
from apps.unit_economics.queries.measured import spend_of_days

DAYS_BEFORE = 28
DAYS_OF_IMPACT = 30


@dataclass(frozen=True, slots=True)
class Spans:
    """The days that are compared: those of the level before, and those since."""

    before: frozenset[date]
    after: frozenset[date]


@dataclass(frozen=True, slots=True)
class Story:
    """Before and after in the figure's own unit, parts in millionths of it, impact in micro-units.

    The parts sum to the difference exactly.
    """

    before: float
    after: float
    parts: Mapping[str, int]
    impact_micros: int | None

    @property
    def effect(self) -> float:
        """After ÷ before − 1."""
        return self.after / self.before - 1


def spans_of_step(days: Iterable[WatchedDay], edges: Collection[int], began: int) -> Spans:
    """From the change before it, but no more than 28 days, and from it to the next or the last."""
    since = max((edge for edge in edges if edge < began), default=0)
    until = min((edge for edge in edges if edge > began), default=10**7)
    ordinals = [day.day for day in days]
    return Spans(
        _dates_of(day for day in ordinals if max(since, began - DAYS_BEFORE) <= day < began),
        _dates_of(day for day in ordinals if began <= day < until),
    )


def spans_of_spike(days: Iterable[WatchedDay], day: int) -> Spans:
    """Return the spans of a spike: the same weekday of the four weeks before, and the day."""
    like = (day - WEEK * week for week in range(1, 5))
    known_days = {watched_day.day for watched_day in days}
    return Spans(_dates_of(weekday for weekday in like if weekday in known_days), _dates_of((day,)))


def story_of(series: Series, spans: Spans) -> Story | None:
    """Return what the change is made of; None where one of the spans is without a figure."""
    if not spans.before or not spans.after:
        return None
    if series.measure is Measure.COST_PER_1000_REQUESTS:
        return _of_cost(series, spans)
    if series.measure is Measure.TOKENS_PER_REQUEST:
        return _of_tokens(series, spans)
    return _of_training(series, spans)


def _of_cost(series: Series, spans: Spans) -> Story | None:
    spend = spend_of_days(series.workload_id, series.feature, spans.before | spans.after)
    before, after = (_span_served(series, spend, days) for days in (spans.before, spans.after))
    if before is None or after is None or before.thousand <= 0 or after.thousand <= 0:
        return None
    parts = served_parts(before, after)
    was, now = round(before.thousand * MILLION), round(after.thousand * MILLION)
    a_day = after.requests / len(spans.after)
    impact = round((now - was) * a_day / 1_000 * DAYS_OF_IMPACT)
    return Story(was / MILLION, now / MILLION, parts, impact)


def _span_served(
    series: Series, spend: Mapping[date, Mapping[str, UnitSpend]], days: Collection[date]
) -> Served | None:
    served_days = [
        served_day
        for served_day in series.served
        if served_day.feature == series.feature and served_day.day in days
    ]
    requests = sum(served_day.requests for served_day in served_days)
    if not requests:
        return None
    cells: dict[str, UnitSpend] = {}
    for day in days:
        for name, unit_spend in spend.get(day, {}).items():
            cells[name] = cells[name].plus(unit_spend) if name in cells else unit_spend
    return Served(cells, requests, sum_or_unknown(served_day.tokens for served_day in served_days))


def _of_tokens(series: Series, spans: Spans) -> Story | None:
    by_feature = {served.feature for served in series.served} - {""} or {""}
    features = {series.feature} if series.feature else by_feature
    cells = []
    for days in (spans.before, spans.after):
        tokens_by_feature: dict[str, Weighed] = {}
        for served_day in series.served:
            if (
                served_day.day in days
                and served_day.feature in features
                and served_day.tokens is not None
            ):
                tokens_by_feature[served_day.feature] = _weighed_more(
                    tokens_by_feature.get(served_day.feature),
                    served_day.tokens,
                    served_day.requests,
                )
        cells.append(tokens_by_feature)
    return _of_means(cells[0], cells[1], VOLUME, None)


def _of_training(series: Series, spans: Spans) -> Story | None:
    cells: list[dict[str, Weighed]] = []
    costs: list[int | None] = []
    for days in (spans.before, spans.after):
        cells_by_model: dict[str, Weighed] = {}
        for trained_day in series.trained:
            if trained_day.day in days:
                cell = cells_by_model.get(trained_day.gpu_model)
                cells_by_model[trained_day.gpu_model] = _weighed_more(
                    cell, trained_day.cell.amount, trained_day.cell.weight
                )
        cells.append(cells_by_model)
        costs.append(
            sum_or_unknown(trained.micros for trained in series.trained if trained.day in days)
        )
    a_month = None if costs[1] is None else costs[1] / len(spans.after) * DAYS_OF_IMPACT
    story = _of_means(cells[0], cells[1], EFFICIENCY, a_month)
    if story is None or a_month is None or series.measure is Measure.DATA_WAIT:
        return story
    # Work that needed this time would have needed less of it, by as much as MFU was higher.
    impact = round(a_month * (1 - story.after / story.before))
    return Story(story.before, story.after, story.parts, impact)


def _of_means(
    before: Mapping[str, Weighed], after: Mapping[str, Weighed], inner: str, month: float | None
) -> Story | None:
    was, now = mean_of(before), mean_of(after)
    if was is None or now is None or round(was * MILLION) <= 0:
        return None
    millionths = round(was * MILLION), round(now * MILLION)
    impact = None if month is None else round(month * (now - was))
    parts = mean_parts(before, after, inner)
    return Story(millionths[0] / MILLION, millionths[1] / MILLION, parts, impact)


def _weighed_more(cell: Weighed | None, amount: float, weight: float) -> Weighed:
    return (
        Weighed(amount, weight)
        if cell is None
        else Weighed(cell.amount + amount, cell.weight + weight)
    )


def _dates_of(ordinals: Iterable[int]) -> frozenset[date]:
    return frozenset(date.fromordinal(day) for day in ordinals)
