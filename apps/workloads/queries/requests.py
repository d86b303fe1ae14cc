"""What services answered: counts by hour and day, how long it took, what was promised, what changed."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

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
from apps.workloads.models import RequestDay, ServiceObjective, WorkloadChange
from apps.workloads.queries.promises import NewObjective

Span = tuple[datetime, datetime]
"""`[from, to)`."""
QUANTILES = (0.5, 0.9, 0.95, 0.99)

MOST_CHANGES = 500

SUMS = """
CASE WHEN bool_or(requests IS NULL) THEN NULL ELSE sum(requests) END,
CASE WHEN bool_or(succeeded IS NULL AND requests IS DISTINCT FROM 0) THEN NULL
     ELSE coalesce(sum(succeeded), 0) END,
CASE WHEN bool_or(prompt_tokens IS NULL) THEN NULL ELSE sum(prompt_tokens) END,
CASE WHEN bool_or(cached_tokens IS NULL AND prompt_tokens IS DISTINCT FROM 0) THEN NULL
     ELSE coalesce(sum(cached_tokens), 0) END,
CASE WHEN bool_or(output_tokens IS NULL) THEN NULL ELSE sum(output_tokens) END,
CASE WHEN bool_or(prefill_seconds IS NULL AND prompt_tokens IS DISTINCT FROM 0) THEN NULL
     ELSE coalesce(sum(prefill_seconds), 0) END,
CASE WHEN bool_or(decode_seconds IS NULL AND output_tokens IS DISTINCT FROM 0) THEN NULL
     ELSE coalesce(sum(decode_seconds), 0) END,
CASE WHEN bool_or(prefill_seconds IS NULL AND prompt_tokens IS DISTINCT FROM 0) THEN ''
     WHEN bool_or(split_kind = 'estimated') THEN 'estimated' ELSE max(split_kind) END
"""
"""The columns of Counts over several RequestHour: see there. What is a part of nothing is nothing,
told or not: no request succeeded of none."""

HISTOGRAMS = """
SELECT source, bounds, array_agg(requests ORDER BY place)
FROM (
    SELECT source, {measure}_bounds_seconds AS bounds, place, sum(count)::int8 AS requests
    FROM workloads_requesthour,
         unnest({measure}_counts) WITH ORDINALITY AS told (count, place)
    WHERE workload_id = %(workload)s AND hour >= %(from)s AND hour < %(to)s
      AND (%(feature)s::text IS NULL OR feature = %(feature)s)
    GROUP BY 1, 2, 3
) AS summed
GROUP BY 1, 2 ORDER BY 1, 2
"""
SUCCEEDED = """
SELECT source, sum(requests)::int8, sum(succeeded)::int8
FROM workloads_requesthour
WHERE workload_id = %(workload)s AND hour >= %(from)s AND hour < %(to)s
  AND (%(feature)s::text IS NULL OR feature = %(feature)s)
  AND requests IS NOT NULL AND succeeded IS NOT NULL
GROUP BY source ORDER BY source
"""
MEASURES = ("latency", "first_token")
WHOLE = ("requests", "succeeded", "prompt_tokens", "cached_tokens", "output_tokens")
COUNTED = (*WHOLE, "prefill_seconds", "decode_seconds", "split_kind")
"""The columns of SUMS, and the fields of Counts."""


@dataclass(frozen=True, slots=True)
class Counts:
    """None: not told by one of those who counted, so that a sum would be a part only.

    `prompt_tokens` include `cached_tokens`. `prefill_seconds` and `decode_seconds` are good for
    their ratio alone; `split_kind` is measured, estimated or "" (nobody told them).
    """

    requests: int | None
    succeeded: int | None
    prompt_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    prefill_seconds: float | None
    decode_seconds: float | None
    split_kind: str


@dataclass(frozen=True, slots=True)
class HourCount:
    """What was counted of a feature of a service in an hour; `source` is engine or gateway."""

    workload_id: int
    hour: datetime
    feature: str
    source: str
    counts: Counts


@dataclass(frozen=True, slots=True)
class DayCount:
    """What was counted of a feature of a service on a local day."""

    workload_id: int
    day: date
    feature: str
    source: str
    counts: Counts


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
    """What became of a promise: `met_ratio` of `requests` were answered in time, or without an error.

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
class ChangeFact:
    """Something that changed about a workload; `run_id` of the run that made a shipped model."""

    id: int
    workload_id: int
    feature: str
    kind: str
    name: str
    at: datetime
    run_id: int | None


def request_hours(workload_ids: Collection[int], span: Span) -> list[HourCount]:
    """Per hour, feature and source; by workload, hour, feature, source."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT workload_id, hour, feature, source, {SUMS}
            FROM workloads_requesthour
            WHERE workload_id = ANY(%s) AND hour >= %s AND hour < %s
            GROUP BY workload_id, hour, feature, source
            ORDER BY workload_id, hour, feature, source
            """,  # noqa: S608  # our own column names
            [list(workload_ids), *span],
        )
        return [
            HourCount(workload_id, hour, feature, source, counts_of(counts))
            for workload_id, hour, feature, source, *counts in cursor
        ]


def request_days(workload_ids: Collection[int], days: tuple[date, date]) -> list[DayCount]:
    """Per local day (first and last), feature and source; by workload, day, feature, source."""
    key = ("workload_id", "day", "feature", "source")
    rows = RequestDay.objects.filter(workload_id__in=workload_ids, day__range=days).order_by(*key)
    return [
        DayCount(workload_id, day, feature, source, counts_of(counts))
        for workload_id, day, feature, source, *counts in rows.values_list(*key, *COUNTED)
    ]


def latency(
    workload_id: int, feature: str | None, span: Span, measure: str = "latency"
) -> Latency | None:
    """Quantiles of the whole answer, or of `first_token`; `feature` None: of all.

    Linear within a bucket. None where nobody told a histogram.
    """
    told = _histogram_told(workload_id, feature, span, measure)
    if told is None:
        return None
    source, histogram = told
    return Latency(source, histogram.total, quantiles(histogram, QUANTILES))


def attainment(workload_id: int, span: Span) -> list[Attainment]:
    """Each objective in force in the span, over the hours of it in which it was; by id."""
    rows = ServiceObjective.objects.filter(workload_id=workload_id, period__overlap=span)
    return [_attained_objective(each, span) for each in rows.order_by("id")]


def attainment_if(wanted: NewObjective, span: Span) -> Attainment:
    """What would have become of a promise that is only thought of, had it been in force in the span."""
    thought = ServiceObjective(id=0, **wanted.columns, period=Range(None, None))
    return _attained_objective(thought, span)


def changes_of(workload_id: int, span: Span) -> list[ChangeFact]:
    """What changed about a workload in the span, by time."""
    rows = WorkloadChange.objects.filter(workload_id=workload_id, at__gte=span[0], at__lt=span[1])
    return [
        ChangeFact(*row) for row in rows.order_by("at", "id").values_list(*ChangeFact.__slots__)
    ]


def changes_within(span: Span) -> list[tuple[int, ChangeFact]]:
    """The newest MOST_CHANGES of the span, by the id of their workload, whose ever it is."""
    rows = WorkloadChange.objects.filter(at__gte=span[0], at__lt=span[1]).order_by("-at", "-id")
    told = rows.values_list("workload_id", *ChangeFact.__slots__)[:MOST_CHANGES]
    return [(row[0], ChangeFact(*row[1:])) for row in told]


def counts_of(row: Iterable[Any]) -> Counts:
    """Counts as the database sums them: its sums of integers are decimals."""
    told = dict(zip(COUNTED, row, strict=True))
    whole = {name: None if told[name] is None else int(told[name]) for name in WHOLE}
    return Counts(**{**told, **whole})


def _histogram_told(
    workload_id: int, feature: str | None, span: Span, measure: str
) -> tuple[str, Histogram] | None:
    """Of the source that told of more requests: engine and gateway see the same ones."""
    if measure not in MEASURES:
        raise ValueError(f"{measure!r} is none of {', '.join(MEASURES)}")
    asked = {"workload": workload_id, "feature": feature, "from": span[0], "to": span[1]}
    by_source: dict[str, list[Histogram]] = {}
    with connection.cursor() as cursor:
        cursor.execute(HISTOGRAMS.format(measure=measure), asked)
        for source, bounds, counts in cursor:
            by_source.setdefault(source, []).append(Histogram(tuple(bounds), tuple(counts)))
    found = [
        (source, histogram)
        for source, told in by_source.items()
        if (histogram := merged(told)) is not None
    ]
    # At a tie the gateway, who saw the whole answer; it comes last by name.
    return max(found, key=lambda one: (one[1].total, one[0]), default=None)


def _attained_objective(objective: ServiceObjective, span: Span) -> Attainment:
    total, likely, sure = _requests_met(objective, span)
    budget = span[1] - timedelta(days=objective.budget_days), span[1]
    of_budget = _requests_met(objective, budget)[1]
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
        budget_left_ratio=None if of_budget is None else budget_left(of_budget, target),
        ends_at=objective.period.upper,
    )


def _requests_met(
    objective: ServiceObjective, span: Span
) -> tuple[int, float | None, float | None]:
    """Requests of the hours of the span in which it was in force; what of them likely, surely met it."""
    since, until = objective.period.lower, objective.period.upper
    lived = (max(span[0], since) if since else span[0], min(span[1], until) if until else span[1])
    feature = objective.feature or None
    if objective.within_seconds is None:
        total, succeeded = _requests_succeeded(objective.workload_id, feature, lived)
        ratio = succeeded / total if total else None
        return total, ratio, ratio
    told = _histogram_told(objective.workload_id, feature, lived, objective.measure)
    if told is None or not told[1].total:
        return 0, None, None
    found = within(told[1], objective.within_seconds)
    return found.total, found.likely / found.total, found.sure / found.total


def _requests_succeeded(workload_id: int, feature: str | None, span: Span) -> tuple[int, int]:
    """Requests of which it is told how many succeeded, and these: of the source that told of more."""
    asked = {"workload": workload_id, "feature": feature, "from": span[0], "to": span[1]}
    with connection.cursor() as cursor:
        cursor.execute(SUCCEEDED, asked)
        return max(((total, good) for _, total, good in cursor), default=(0, 0))
