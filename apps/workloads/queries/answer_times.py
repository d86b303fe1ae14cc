"""How long services took to answer, and what became of what was promised of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection
from psycopg.types.range import Range

from apps.economics.latency import (
    Histogram,
    Quantile,
    budget_left,
    merged,
    quantiles,
    within,
)
from apps.workloads.models import ServiceObjective
from apps.workloads.queries.promises import EnteredObjective
from apps.workloads.queries.requests import Span

QUANTILES = (0.5, 0.9, 0.95, 0.99)

HISTOGRAMS = """
SELECT asked, source, bounds, array_agg(requests ORDER BY place)
FROM (
    SELECT asked.number AS asked, source, told.bounds, counted.place,
           sum(counted.count)::int8 AS requests
    FROM unnest(%(measures)s::text[], %(features)s::text[], %(from)s::timestamptz[],
                %(to)s::timestamptz[])
        WITH ORDINALITY AS asked (measure, feature, starts_at, ends_at, number)
    JOIN workloads_requesthour AS reported
        ON reported.hour >= asked.starts_at AND reported.hour < asked.ends_at
        AND (asked.feature IS NULL OR reported.feature = asked.feature)
    CROSS JOIN LATERAL (
        SELECT CASE asked.measure WHEN 'latency' THEN reported.latency_bounds_seconds
                   ELSE reported.first_token_bounds_seconds END AS bounds,
               CASE asked.measure WHEN 'latency' THEN reported.latency_counts
                   ELSE reported.first_token_counts END AS counts
    ) AS told
    CROSS JOIN LATERAL unnest(told.counts) WITH ORDINALITY AS counted (count, place)
    WHERE reported.workload_id = %(workload)s
    GROUP BY 1, 2, 3, 4
) AS summed
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""

SUCCEEDED = """
SELECT asked.number, reported.source, sum(reported.requests)::int8, sum(reported.succeeded)::int8
FROM unnest(%(measures)s::text[], %(features)s::text[], %(from)s::timestamptz[],
            %(to)s::timestamptz[])
    WITH ORDINALITY AS asked (measure, feature, starts_at, ends_at, number)
JOIN workloads_requesthour AS reported
    ON reported.hour >= asked.starts_at AND reported.hour < asked.ends_at
    AND (asked.feature IS NULL OR reported.feature = asked.feature)
WHERE reported.workload_id = %(workload)s
  AND reported.requests IS NOT NULL AND reported.succeeded IS NOT NULL
GROUP BY asked.number, reported.source ORDER BY asked.number, reported.source
"""

MEASURES = ("latency", "first_token")

SUCCEEDING = "succeeding"
"""What is asked of hours of which it matters how many requests succeeded."""


@dataclass(frozen=True, slots=True)
class Latency:
    """How long answers took: histograms merged, of the `source` that told of more requests.

    No quantiles: nothing was answered, or the histograms share no bound.
    """

    source: str
    requests: int
    quantiles: tuple[Quantile, ...]


@dataclass(frozen=True, slots=True)
class Attainment:
    """The attainment of a promise: `met_ratio` of `requests` were answered in time, or without an error.

    `budget_left_ratio` is the part of the misses allowed in the `budget_days` up to the end of the
    span that is left: 1 none used, 0 all, below it more than all. `at_least_ratio` is the same promise by whole buckets: what is sure whatever
    lies inside the bucket that the promise cuts. None: nobody told of any request what it asks.
    """

    objective_id: int
    workload_id: int
    feature: str
    measure: str
    within_seconds: float | None
    target_ratio: float
    budget_days: int
    requests: int
    met_ratio: float | None
    at_least_ratio: float | None
    budget_left_ratio: float | None
    ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class HowAnswered:
    """How long whole answers took and first tokens, and what became of each objective."""

    latency: Latency | None
    first_token: Latency | None
    objectives: list[Attainment]


def latency(
    workload_id: int, feature: str | None, span: Span, measure: str = "latency"
) -> Latency | None:
    """Quantiles of the whole answer, or of `first_token`; `feature` None: of all.

    Linear within a bucket. None where nobody told a histogram.
    """
    if measure not in MEASURES:
        raise ValueError(f"{measure!r} is none of {', '.join(MEASURES)}")
    hours = _HoursQuery(measure, feature, *span)
    return _latency_of(_fetch_histograms(workload_id, [hours]).get(hours))


def attainment(workload_id: int, span: Span) -> list[Attainment]:
    """Each objective in force in the span, over the hours of it in which it was; by id."""
    return how_answered(workload_id, span, times=False).objectives


def how_answered(workload_id: int, span: Span, *, times: bool = True) -> HowAnswered:
    """Return how fast all features answered in the span, and what became of each objective, by id.

    In three statements however many objectives there are; without `times` only the objectives.
    """
    rows = ServiceObjective.objects.filter(workload_id=workload_id, period__overlap=span)
    objectives = list(rows.order_by("id"))
    overall = [_HoursQuery(measure, None, *span) for measure in MEASURES] if times else []
    wanted_hours = [
        *overall,
        *(hours for objective in objectives for hours in _hours_queries(objective, span)),
    ]
    reported = _Reported.of(workload_id, wanted_hours)
    latencies = [_latency_of(reported.histograms.get(hours)) for hours in overall]
    answered, began = latencies or (None, None)
    attained = [_attained_objective(objective, span, reported) for objective in objectives]
    return HowAnswered(answered, began, attained)


def attainment_if(wanted: EnteredObjective, span: Span) -> Attainment:
    """Return what would have become of a promise that is only thought of, had it been in force in the span."""
    thought = ServiceObjective(id=0, **wanted.columns, period=Range(None, None))
    reported = _Reported.of(wanted.workload_id, _hours_queries(thought, span))
    return _attained_objective(thought, span, reported)


class _HoursQuery(NamedTuple):
    """Hours whose requests are asked for; a measure of neither MEASURES asks how many succeeded."""

    measure: str
    feature: str | None
    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class _Reported:
    """The reports of the hours that were asked for: nothing of those of which nobody reported."""

    histograms: Mapping[_HoursQuery, tuple[str, Histogram]]
    succeeded: Mapping[_HoursQuery, tuple[int, int]]

    @classmethod
    def of(cls, workload_id: int, wanted_hours: Collection[_HoursQuery]) -> "_Reported":
        """Each statement at most once."""
        timed = [hours for hours in dict.fromkeys(wanted_hours) if hours.measure in MEASURES]
        counted = [hours for hours in dict.fromkeys(wanted_hours) if hours.measure not in MEASURES]
        return cls(
            _fetch_histograms(workload_id, timed) if timed else {},
            _requests_succeeded(workload_id, counted) if counted else {},
        )


def _latency_of(source_histogram: tuple[str, Histogram] | None) -> Latency | None:
    if source_histogram is None:
        return None
    source, histogram = source_histogram
    return Latency(source, histogram.total, quantiles(histogram, QUANTILES))


def _fetch_histograms(
    workload_id: int, wanted_hours: Sequence[_HoursQuery]
) -> dict[_HoursQuery, tuple[str, Histogram]]:
    """Of the source that told of more requests: engine and gateway see the same ones."""
    by_source: dict[_HoursQuery, dict[str, list[Histogram]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(HISTOGRAMS, _columns_of(workload_id, wanted_hours))
        for number, source, bounds, counts in cursor:
            histograms = by_source.setdefault(wanted_hours[number - 1], {})
            histograms.setdefault(source, []).append(Histogram(tuple(bounds), tuple(counts)))
    best_by_hours: dict[_HoursQuery, tuple[str, Histogram]] = {}
    for hours, of_source in by_source.items():
        merged_histograms = [
            (source, histogram)
            for source, source_histograms in of_source.items()
            if (histogram := merged(source_histograms)) is not None
        ]
        if merged_histograms:
            # At a tie the gateway, who saw the whole answer; it comes last by name.
            best_by_hours[hours] = max(merged_histograms, key=lambda one: (one[1].total, one[0]))
    return best_by_hours


def _columns_of(workload_id: int, wanted_hours: Sequence[_HoursQuery]) -> dict[str, Any]:
    measures, features, starts, ends = (list(column) for column in zip(*wanted_hours, strict=True))
    return {
        "workload": workload_id,
        "measures": measures,
        "features": features,
        "from": starts,
        "to": ends,
    }


def _hours_queries(objective: ServiceObjective, span: Span) -> tuple[_HoursQuery, _HoursQuery]:
    """The hours of the span in which it was in force, and those of its budget."""
    budget = span[1] - timedelta(days=objective.budget_days), span[1]
    since, until = objective.period.lower, objective.period.upper
    feature = objective.feature or None
    measure = SUCCEEDING if objective.within_seconds is None else objective.measure
    within_span, of_budget = (
        _HoursQuery(
            measure,
            feature,
            max(part[0], since) if since else part[0],
            min(part[1], until) if until else part[1],
        )
        for part in (span, budget)
    )
    return within_span, of_budget


def _attained_objective(objective: ServiceObjective, span: Span, reported: _Reported) -> Attainment:
    within_span, of_budget = (
        _requests_met(objective, hours, reported) for hours in _hours_queries(objective, span)
    )
    total, likely, sure = within_span
    target = objective.target_ratio
    return Attainment(
        objective_id=objective.id,
        workload_id=objective.workload_id,
        feature=objective.feature,
        measure=objective.measure,
        within_seconds=objective.within_seconds,
        target_ratio=target,
        budget_days=objective.budget_days,
        requests=total,
        met_ratio=likely,
        at_least_ratio=sure,
        budget_left_ratio=None if of_budget[1] is None else budget_left(of_budget[1], target),
        ends_at=objective.period.upper,
    )


def _requests_met(
    objective: ServiceObjective, hours: _HoursQuery, reported: _Reported
) -> tuple[int, float | None, float | None]:
    """Requests of the hours; what of them likely, surely met it."""
    if objective.within_seconds is None:
        total, succeeded = reported.succeeded.get(hours, (0, 0))
        ratio = succeeded / total if total else None
        return total, ratio, ratio
    source_histogram = reported.histograms.get(hours)
    if source_histogram is None or not source_histogram[1].total:
        return 0, None, None
    share_within = within(source_histogram[1], objective.within_seconds)
    return (
        share_within.total,
        share_within.likely / share_within.total,
        share_within.sure / share_within.total,
    )


def _requests_succeeded(
    workload_id: int, wanted_hours: Sequence[_HoursQuery]
) -> dict[_HoursQuery, tuple[int, int]]:
    """Requests of which it is told how many succeeded, and these: of the source that told of more."""
    counts_by_hours: dict[_HoursQuery, tuple[int, int]] = {}
    with connection.cursor() as cursor:
        cursor.execute(SUCCEEDED, _columns_of(workload_id, wanted_hours))
        for number, _, total, good in cursor:
            hours = wanted_hours[number - 1]
            counts_by_hours[hours] = max(counts_by_hours.get(hours, (0, 0)), (total, good))
    return counts_by_hours
