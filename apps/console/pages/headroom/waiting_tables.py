"""The tables of waiting and outages: what they cost, the jobs that waited longest, and the outages."""

from collections.abc import Callable
from dataclasses import dataclass

from django.urls import reverse
from django.utils.html import format_html

from apps.console.kit.cells import (
    COUNT,
    DAY_OR_INSTANT,
    DURATION,
    FIGURE,
    GPU_HOURS,
    MONEY,
    PROSE,
    UNKNOWN,
    Locale,
    linked,
)
from apps.console.kit.table import CURRENCY_COLUMN, Table
from apps.console.pages.fleet.nodes import OUTAGES
from apps.console.pages.team_work.tables import within
from apps.economics.priced_time import PricedTime, time_together
from apps.economics.waiting import WaitQuantile
from apps.planning.queries.job_waits import JobWait
from apps.planning.queries.outage_losses import OutageLoss
from apps.planning.queries.waiting_costs import WaitingCost
from apps.show.amounts import counted, gpu_hours
from apps.tables.column import Column
from apps.workloads.queries.jobs import JobFact


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """The cost of waiting and outages of a group, and what it is called; `href` leads to it, empty: nowhere."""

    cost: WaitingCost
    name: str
    team: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class WaitedJob:
    """A job that waited, by its scheduler's words."""

    wait: JobWait
    job: JobFact
    team: str
    pool: str | None


def _quantile_column(
    key: str, text: str, csv: str, of: Callable[[WaitingCost], WaitQuantile | None]
) -> Column[WaitingRow]:
    def said(row: WaitingRow) -> str | None:
        quantile = of(row.cost)
        return None if quantile is None else within(quantile)

    def seconds(row: WaitingRow) -> str:
        quantile = of(row.cost)
        known_seconds = None if quantile is None else quantile.known_seconds
        return "" if known_seconds is None else str(known_seconds)

    return Column(
        key,
        text,
        said,
        FIGURE,
        csv=csv,
        missing="–",
        order=lambda row: of(row.cost) and of(row.cost).length,  # type: ignore[union-attr]
        written=lambda row, _: seconds(row),
    )


def _waited_gpus(of: Callable[[WaitingCost], PricedTime]) -> Callable[[WaitingRow], int | None]:
    return lambda row: None if row.cost.waits_of_gpus is None else of(row.cost).milliseconds


def _partial_cost_note(row: WaitingRow) -> bool | str:
    unpriced = row.cost.wait_unpriced_ms if _wait_micros(row) is not None else 0
    return unpriced > 0 and f"At least: no policy prices {gpu_hours(unpriced)} GPU-hours of it"


def _redone_note(milliseconds: int) -> str:
    return f" {gpu_hours(milliseconds)} redone" if milliseconds else ""


def _for_outages(cost: WaitingCost) -> str:
    waited = cost.for_outages.milliseconds
    return f" {gpu_hours(waited)} for outages" if waited else ""


def _wait_micros(row: WaitingRow) -> int | None:
    return None if row.cost.waits_of_gpus is None else row.cost.waits_of_gpus.micros


def _named_link(row: WaitingRow, locale: Locale) -> str:
    name = linked(row.name, locale.onward(row.href)) if row.href else row.name
    return format_html("{}<small> {}</small>", name, row.team) if row.team else name


WAITING = Table[WaitingRow](
    "waiting",
    "Who waited, and what it cost",
    (
        Column("name", "Of", lambda row: row.name, PROSE, csv="of",
               shown=_named_link),
        Column("team", "", lambda row: row.team),
        Column("jobs", "Jobs", lambda row: row.cost.jobs, COUNT,
               note=lambda row: f" {row.cost.still_waiting:,} waiting" if row.cost.still_waiting else ""),
        Column("still_waiting", "", lambda row: row.cost.still_waiting),
        _quantile_column("p50", "p50", "median_wait_seconds", lambda cost: cost.median),
        _quantile_column("p90", "p90", "ninth_decile_wait_seconds", lambda cost: cost.ninth),
        Column("waited", "Waited", lambda row: row.cost.waited, DURATION, csv="waited_seconds"),
        Column("undated_jobs", "", lambda row: row.cost.undated_jobs),
        Column("unsized_jobs", "", lambda row: row.cost.unsized_jobs),
        Column("waits", "GPU-hours", lambda row: row.cost.waits_of_gpus
               and row.cost.waits_of_gpus.milliseconds, GPU_HOURS, csv="",
               note=lambda row: _for_outages(row.cost)),
        Column("capacity", "", _waited_gpus(lambda cost: cost.for_capacity), GPU_HOURS,
               csv="waited_for_capacity_gpu_hours"),
        Column("outage", "", _waited_gpus(lambda cost: cost.for_outages), GPU_HOURS,
               csv="waited_for_outages_gpu_hours"),
        Column("wait_cost", "Waits, cost", _wait_micros, MONEY,
               warns=_partial_cost_note),
        Column("unpriced", "", lambda row: row.cost.wait_unpriced_ms, GPU_HOURS,
               csv="unpriced_wait_gpu_hours"),
        Column("lost", "Out, GPU-hours", lambda row: row.cost.lost.milliseconds, GPU_HOURS,
               csv="lost_gpu_hours", note=lambda row: _redone_note(row.cost.redone.milliseconds)),
        Column("redone", "", lambda row: row.cost.redone.milliseconds, GPU_HOURS,
               csv="redone_gpu_hours"),
        Column("lost_held", "", lambda row: row.cost.lost_held.milliseconds, GPU_HOURS,
               csv="lost_held_gpu_hours"),
        Column("lost_cost", "Out, cost", lambda row: row.cost.lost.micros, MONEY),
        Column("cost", "Cost", lambda row: row.cost.micros, MONEY),
        CURRENCY_COLUMN,
    ),
    noun=("row", "rows"),
    about="p50 and p90 from submission to start, of jobs submitted in this time; waits at the cost of being short of the "
    "headroom policies; out: paid for and not usable, or to be done again, at what it cost",
    sort="waiting",
)  # fmt: skip


def _job_name(row: WaitedJob) -> str:
    return row.job.name or f"job {row.job.raw_id}"


WAITED_JOBS = Table[WaitedJob](
    "jobs",
    "Jobs that waited most",
    (
        Column("job", "Job", _job_name, PROSE, csv="name",
               href=lambda row: reverse("costs-job", args=[row.wait.job_id]),
               note=lambda row: f" {row.job.raw_id}" if row.job.name else ""),
        Column("raw_id", "", lambda row: row.job.raw_id),
        Column("team", "Team", lambda row: row.team),
        Column("pool", "Pool", lambda row: row.pool, missing="not started"),
        Column("submitted", "Submitted", lambda row: row.wait.submitted_at, DAY_OR_INSTANT,
               csv="submitted_at"),
        Column("waited", "Waited", lambda row: row.wait.length, DURATION, csv="waited_seconds"),
        Column("gpus", "GPUs", lambda row: row.wait.gpus, FIGURE, csv="gpus",
               shown=lambda row, _: UNKNOWN if row.wait.gpus is None else f"{row.wait.gpus:.3g}"),
        Column("hours", "GPU-hours", lambda row: None if row.wait.gpus is None
               else row.wait.gpu_span.milliseconds, GPU_HOURS, csv="gpu_hours"),
        Column("outage", "", lambda row: None if row.wait.gpus is None
               else row.wait.outage_ms, GPU_HOURS, csv="for_outages_gpu_hours"),
        Column("cost", "Cost", lambda row: _cost_of_wait(row.wait), MONEY),
        CURRENCY_COLUMN,
    ),
    noun=("job", "jobs"),
    about="{said}, by GPU-hours in the queue within this time",
    sort="jobs",
    per_page=20,
)  # fmt: skip


def _cost_of_wait(wait: JobWait) -> int | None:
    if wait.gpus is None:
        return None
    time = PricedTime()
    time.add(wait.gpu_span.milliseconds, wait.price)
    return time.micros


def _lost(row: OutageLoss) -> PricedTime:
    return time_together([*row.lost.values(), *row.redone.values()])


def _redone(row: OutageLoss) -> int:
    return time_together(row.redone.values()).milliseconds


def _lost_held(row: OutageLoss) -> int:
    return sum(time.milliseconds for owner, time in row.lost.items() if owner.job_id is not None)


def _describe_holders(row: OutageLoss) -> str:
    jobs = {owner.job_id for owner in (*row.lost, *row.redone)} - {None}
    return counted(len(jobs), "job") if jobs else "no job"


OUTAGE_TABLE = Table[OutageLoss](
    "outages",
    "Outages",
    (
        Column("node", "Node", lambda row: row.node, PROSE,
               href=lambda row: reverse("node", args=[row.outage.node_id]),
               note=lambda row: f" {row.outage.device_uuid or ''}".rstrip()),
        Column("kind", "What", lambda row: OUTAGES.get(row.outage.kind, row.outage.kind)),
        Column("from", "From", lambda row: row.outage.starts_at, DAY_OR_INSTANT, csv="starts_at"),
        Column("ends_at", "", lambda row: row.outage.ends_at, DAY_OR_INSTANT),
        Column("lasted", "Lasted", lambda row: row.outage.ends_at and row.outage.ends_at
               - row.outage.starts_at, DURATION, csv="", missing="ongoing"),
        Column("gpus", "GPUs", lambda row: row.gpus, COUNT),
        Column("held_by", "Held by", _describe_holders),
        Column("lost", "Lost, GPU-hours", lambda row: _lost(row).milliseconds, GPU_HOURS,
               csv="lost_gpu_hours", note=lambda row: _redone_note(_redone(row))),
        Column("redone", "", _redone, GPU_HOURS, csv="redone_gpu_hours"),
        Column("held", "", _lost_held, GPU_HOURS, csv="lost_held_gpu_hours"),
        Column("cost", "Cost", lambda row: _lost(row).micros, MONEY),
        CURRENCY_COLUMN,
    ),
    noun=("outage", "outages"),
    about="{said}, with what of their GPUs' time was paid for and not used: out of service, held and not active, or work to be done again",
    empty="No outage is on record in this time. Platform records one on the page of its node.",
    sort="outages",
    per_page=20,
)  # fmt: skip
