"""Answers of services: counts by hour and by day, and what changed about them."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any

from django.db import connection

from apps.accounts.queries.facts import facts_of
from apps.show.entries import Entry
from apps.workloads.models import RequestDay, WorkloadChange

CHANGE_KINDS = {
    "deploy": "Deployment",
    "model": "Model",
    "prompt": "Prompt",
    "config": "Settings",
}

Span = tuple[datetime, datetime]
"""`[from, to)`."""

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
class FeatureCount:
    """The counts of a feature of a service; `source` is engine or gateway."""

    workload_id: int
    feature: str
    source: str
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class HourCount(FeatureCount):
    """The counts of a feature of a service in an hour."""

    hour: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCount(FeatureCount):
    """The counts of a feature of a service on a local day."""

    day: date


@dataclass(frozen=True, slots=True)
class EnteredChange:
    """Something that changed about a workload: deploy, model, prompt or config; `run_id` of the run that made a shipped model."""

    workload_id: int
    feature: Annotated[str, Entry("Of the feature", "Empty: of all of them.")]
    kind: Annotated[str, Entry("Kind", choices=CHANGE_KINDS, initial="deploy")]
    name: Annotated[
        str,
        Entry(
            "Name", "Such as a version.", "what it is called, such as a version",
            needed="Say what it is called.",
        ),
    ]  # fmt: skip
    at: Annotated[datetime, Entry("When", is_now=True)]
    run_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFact(EnteredChange):
    """A change as it was noted."""

    id: int


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
            HourCount(workload_id, feature, source, counts_of(counts), hour=hour)
            for workload_id, hour, feature, source, *counts in cursor
        ]


def request_days(workload_ids: Collection[int], days: tuple[date, date]) -> list[DayCount]:
    """Per local day (first and last), feature and source; by workload, day, feature, source."""
    key = ("workload_id", "day", "feature", "source")
    rows = RequestDay.objects.filter(workload_id__in=workload_ids, day__range=days).order_by(*key)
    return [
        DayCount(workload_id, feature, source, counts_of(counts), day=day)
        for workload_id, day, feature, source, *counts in rows.values_list(*key, *COUNTED)
    ]


def changes_of(workload_id: int, span: Span) -> list[ChangeFact]:
    """Return the changes of a workload in the span, by time."""
    rows = WorkloadChange.objects.filter(workload_id=workload_id, at__gte=span[0], at__lt=span[1])
    return list(facts_of(ChangeFact, rows.order_by("at", "id")))


def changes_within(span: Span) -> list[tuple[int, ChangeFact]]:
    """The newest MOST_CHANGES of the span, by the id of their workload, whose ever it is."""
    rows = WorkloadChange.objects.filter(at__gte=span[0], at__lt=span[1]).order_by("-at", "-id")
    return [(change.workload_id, change) for change in facts_of(ChangeFact, rows[:MOST_CHANGES])]


def counts_of(row: Iterable[Any]) -> Counts:
    """Counts as the database sums them: its sums of integers are decimals."""
    sums = dict(zip(COUNTED, row, strict=True))
    integers = {name: None if sums[name] is None else int(sums[name]) for name in WHOLE}
    return Counts(**{**sums, **integers})
