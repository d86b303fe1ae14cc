"""Returns of workloads, as stated and reported: values of a unit, and scores."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, LiteralString

from django.db import connection
from django.db.models import QuerySet

from apps.accounts.queries import Viewer
from apps.accounts.queries.facts import facts_of, field_names
from apps.accounts.queries.paging import Page, PageRequest, page_of
from apps.show.entries import Entry
from apps.workloads.models import ValueUnit, WorkloadScore, WorkloadValue

VALUE_UNITS = dict(ValueUnit.choices)
OWNER, SDK = "owner", "sdk"
LONGEST_NOTE = 500


@dataclass(frozen=True, slots=True)
class EnteredValue:
    """The worth of one `unit` from a day on, in the organisation's currency; both ends None: no value any more."""

    workload_id: int
    unit: Annotated[str, Entry("Unit", choices=VALUE_UNITS)]
    low: Annotated[
        Decimal | None,
        Entry("Worth at least, in {currency}", "Both ends empty: no value any more."),
    ]
    high: Annotated[
        Decimal | None, Entry("Worth at most, in {currency}", "The same where you are sure.")
    ]
    valid_from: Annotated[date, Entry("From")]
    note: Annotated[
        str, Entry("Why", "How you know, for whoever reads it.", longest=LONGEST_NOTE)
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueFact(EnteredValue):
    """A worth as it was stated."""

    id: int
    stated_by_id: int | None
    stated_name: str
    stated_at: datetime


@dataclass(frozen=True, slots=True)
class EnteredScore:
    """A measure of how good a workload's results were on a day."""

    workload_id: int
    name: Annotated[
        str, Entry("Score", "Such as accuracy, or tickets solved.", needed="Say which score.")
    ]
    value: float
    higher_is_better: bool
    day: Annotated[date, Entry("Day")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreFact(EnteredScore):
    """A score by an owner's word."""

    id: int
    stated_name: str
    stated_at: datetime


@dataclass(frozen=True, slots=True)
class ScoreReading:
    """A score as it was last reported at a moment: of a workload by its owner, of a run by itself."""

    name: str
    value: float
    higher_is_better: bool
    at: datetime
    source: str
    run: str = ""


def values_on(day: date, known_at: datetime | None = None) -> dict[int, ValueFact]:
    """Return the values that count on a day, by workload, of those stated until `known_at` (None: ever); workloads without one are left out."""
    stated = WorkloadValue.objects.filter(valid_from__lte=day)
    if known_at is not None:
        stated = stated.filter(stated_at__lte=known_at)
    newest = stated.order_by("workload_id", "-valid_from", "-id").distinct("workload_id")
    facts = facts_of(ValueFact, newest)
    return {fact.workload_id: fact for fact in facts if fact.low is not None}


def values_of(workload_id: int) -> list[ValueFact]:
    """All that was ever stated of one, the newest first."""
    rows = WorkloadValue.objects.filter(workload_id=workload_id)
    return list(facts_of(ValueFact, rows.order_by("-valid_from", "-id")))


def value_page(
    viewer: Viewer, workload_ids: Collection[int] | None, page_request: PageRequest
) -> Page[dict[str, Any]]:
    """Return what was stated of workloads that the viewer may see, the newest statement first."""
    rows = _visible_rows(WorkloadValue.objects.all(), viewer, workload_ids)
    return page_of(rows.values(*_VALUE), page_request, "-id")


def value_row(value_id: int) -> dict[str, Any]:
    """One statement, whoever asks."""
    row: dict[str, Any] = WorkloadValue.objects.values(*_VALUE).get(id=value_id)
    return row


def scores_of(workload_id: int) -> list[ScoreFact]:
    """All that owners said of one, the newest first."""
    rows = WorkloadScore.objects.filter(workload_id=workload_id)
    return list(facts_of(ScoreFact, rows.order_by("-day", "-id")))


def score_page(
    viewer: Viewer, workload_ids: Collection[int] | None, page_request: PageRequest
) -> Page[dict[str, Any]]:
    """Scores by owners' word of workloads that the viewer may see, the newest statement first."""
    rows = _visible_rows(WorkloadScore.objects.all(), viewer, workload_ids)
    return page_of(rows.values(*_SCORE), page_request, "-id")


def score_row(score_id: int) -> dict[str, Any]:
    """One, whoever asks."""
    row: dict[str, Any] = WorkloadScore.objects.values(*_SCORE).get(id=score_id)
    return row


def owner_readings(
    since: datetime, begins: datetime, until: datetime, zone: str, known_at: datetime | None = None
) -> dict[int, list[ScoreReading]]:
    """By workload, of each name the newest before `until` and the newest before `begins`, since `since`.

    Of what was stated until `known_at` (None: ever). An owner's score is of its day's end.
    """
    span = {"since": since, "begins": begins, "until": until}
    return _readings(OWNERS, span | {"zone": zone, "known_at": known_at}, OWNER)


def run_readings(
    since: datetime, begins: datetime, until: datetime
) -> dict[int, list[ScoreReading]]:
    """Return the readings of scores that runs reported, by run; values that were no finite number are left out."""
    return _readings(RUNS, {"since": since, "begins": begins, "until": until}, SDK)


def _readings(
    query: LiteralString, params: dict[str, Any], source: str
) -> dict[int, list[ScoreReading]]:
    readings_by_key: dict[int, list[ScoreReading]] = {}
    with connection.cursor() as cursor:
        cursor.execute(query, params)
        for key, name, value, is_higher, at, run in cursor.fetchall():
            reading = ScoreReading(name, value, is_higher, at, source, run)
            readings_by_key.setdefault(key, []).append(reading)
    return readings_by_key


def runs_with_losses(begins: datetime, until: datetime) -> set[int]:
    """The runs that reported a measure that is better lower in `[begins, until)`, a number or not."""
    with connection.cursor() as cursor:
        cursor.execute(WITH_LOSSES, {"begins": begins, "until": until})
        return {run_id for (run_id,) in cursor.fetchall()}


def _visible_rows(
    rows: QuerySet[Any], viewer: Viewer, workload_ids: Collection[int] | None
) -> QuerySet[Any]:
    if not viewer.sees_everything:
        rows = rows.filter(workload__team_id__in=viewer.team_ids)
    return rows if workload_ids is None else rows.filter(workload_id__in=workload_ids)


_VALUE = tuple(field_names(ValueFact))
_SCORE = tuple(field_names(ScoreFact))
OWNERS: LiteralString = """
SELECT DISTINCT ON (workload_id, name, at >= %(begins)s)
       workload_id, name, value, higher_is_better, at, ''
FROM (
    SELECT score.*, ((day + 1)::timestamp AT TIME ZONE %(zone)s) - interval '1 second' AS at
    FROM workloads_workloadscore AS score
) AS told
WHERE at >= %(since)s AND at < %(until)s
  AND (%(known_at)s::timestamptz IS NULL OR stated_at <= %(known_at)s)
ORDER BY workload_id, name, at >= %(begins)s, at DESC, id DESC
"""
RUNS: LiteralString = """
SELECT DISTINCT ON (run.id, score.name, score.at >= %(begins)s)
       run.id, score.name, score.value, score.higher_is_better, score.at, run.key
FROM workloads_runscore AS score
JOIN workloads_runattempt AS attempt ON attempt.id = score.attempt_id
JOIN workloads_run AS run ON run.id = attempt.run_id
WHERE score.at >= %(since)s AND score.at < %(until)s AND score.value IS NOT NULL
ORDER BY run.id, score.name, score.at >= %(begins)s, score.at DESC
"""
WITH_LOSSES: LiteralString = """
SELECT DISTINCT attempt.run_id FROM workloads_runattempt AS attempt
WHERE attempt.began_at < %(until)s AND attempt.heard_at >= %(begins)s AND EXISTS (
    SELECT FROM workloads_runscore AS score
    WHERE score.attempt_id = attempt.id AND NOT score.higher_is_better
      AND score.at >= %(begins)s AND score.at < %(until)s
)
"""
