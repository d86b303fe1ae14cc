"""The report of a question of costs: computed once, then drawn as a page, a file or an answer of REST."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from apps.economics.gpu_meters import GpuMeters
from apps.ledger.queries.costs import settlement_status
from apps.ledger.queries.cube.days import Daily, costs_against, costs_by_day
from apps.ledger.queries.cube.groups import cost_groups
from apps.ledger.queries.cube.names import CubeNames, names_of
from apps.ledger.queries.cube.posted import NOTHING_APART, PostedApart, posted_apart
from apps.ledger.queries.cube.question import CubeQuestion, CubeRefusal, Key
from apps.ledger.queries.cube.states import DataQuality, data_quality
from apps.ledger.queries.cube.sums import CubeAnswer, CubeRow, explore
from apps.ledger.queries.cube.variance import CostVariance, variance_of
from apps.ledger.queries.gpu_meters import meters_by

NO_QUALITY = DataQuality(frozenset(), 0, 0, None, 0)
METERED = frozenset({"team", "pool", "workload"})
"""Dimensions that costs may be narrowed by where meters of teams stand beside them."""


@dataclass(frozen=True, slots=True)
class CostReport:
    """The costs of a question: its groups, what they are held against, how sure they are.

    `rows` sum to `total`; `names` has what their keys are called. `daily` has the days by state, none where
    they were not wanted. `variance`: what made the difference, None where nothing is compared or it is not
    kept by pool. `posted`: by how much days and books part. `meters`: how hard GPUs worked, by the keys of
    the rows and under `()` for all of them, as far as meters can be told apart so.
    """

    question: CubeQuestion
    rows: tuple[CubeRow, ...]
    total: CubeRow
    names: CubeNames
    quality: DataQuality = NO_QUALITY
    of_today: tuple[str, ...] = ()
    daily: Daily = Daily({})  # noqa: RUF009  (frozen)
    variance: CostVariance | None = None
    posted: PostedApart = NOTHING_APART
    meters: Mapping[tuple[Key, ...], GpuMeters] = field(default_factory=dict)


def group_report(question: CubeQuestion) -> CostReport:
    """The groups of a question by up to two dimensions, and nothing else; refuses as `refuse_unanswerable`."""
    answer = explore(question)
    return CostReport(
        question=question,
        rows=answer.rows,
        total=answer.total,
        names=names_of(answer),
        of_today=answer.of_today,
    )


def variance_where_kept(question: CubeQuestion) -> CostVariance | None:
    """Return what made the difference; None where nothing is compared, or what is asked for is not kept by pool."""
    try:
        return variance_of(question)
    except CubeRefusal:
        return None


def cost_report(question: CubeQuestion, at: datetime, *, of_days: bool = False) -> CostReport:
    """The groups of a question, with how sure they are and what made the difference; refuses as `refuse_unanswerable`.

    With `of_days` it has all that is asked about by days too, for however long, and meters by team.
    """
    report = group_report(question)
    daily, meters = Daily({}), {}
    if of_days:
        # Held against what the rows are, else against the span before.
        against, undivided = question.against, question.whole
        daily = costs_against(undivided, against) if against else costs_by_day(undivided, at)
        narrowed_by = {name for name in question.filters if not name.startswith("tag.")}
        if question.group_by == ("team",) and narrowed_by <= METERED:
            meters = meters_by(question)
    return replace(
        report,
        quality=data_quality(daily.states, question.window, at),
        daily=daily,
        variance=variance_where_kept(question),
        posted=posted_apart(question),
        meters=meters,
    )


def summed_report(question: CubeQuestion, at: datetime) -> CostReport:
    """The groups of a question by any number of dimensions: charged, loaded and shared cost side by side."""
    (total,) = cost_groups(question.by())
    by_status = cost_groups(question.by("status"))
    settled = settlement_status(question.window, at)
    rows = tuple(cost_groups(question))
    return CostReport(
        question=question,
        rows=rows,
        total=total,
        names=names_of(CubeAnswer(question, rows, total)),
        quality=DataQuality(
            statuses=frozenset(str(row.values[0]) for row in by_status),
            held_milliseconds=sum(row.sums.held_milliseconds for row in by_status),
            observed_milliseconds=sum(row.sums.observed_milliseconds for row in by_status),
            as_of=settled.as_of,
            pending_hours=settled.pending_hours,
            is_closed=settled.is_closed,
        ),
        meters=meters_by(question.by()) | meters_by(question),
    )
