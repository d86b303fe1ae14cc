"""The tables of waiting and outages: what they cost, the jobs that waited longest, and the outages."""

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
from apps.console.kit.table import Table
from apps.console.pages.fleet.nodes import OUTAGES
from apps.console.pages.team_work.tables import within
from apps.economics.priced_time import PricedTime, time_together
from apps.economics.waiting import WaitQuantile
from apps.planning.queries.job_waits import JobWait
from apps.planning.queries.outage_losses import OutageLoss
from apps.planning.queries.waiting_costs import WaitingRow
from apps.planning.tables.waiting_costs import WAITING_COSTS, redone_note
from apps.show.amounts import counted
from apps.tables.column import CURRENCY_COLUMN, Column
from apps.workloads.queries.jobs import JobFact


@dataclass(frozen=True, slots=True)
class WaitedJob:
    """A job that waited, by its scheduler's words."""

    wait: JobWait
    job: JobFact
    team: str
    pool: str | None


def _quantile_words(quantile: WaitQuantile | None) -> str:
    return "–" if quantile is None else within(quantile)


def _group_href(row: WaitingRow) -> str:
    """The address of the costs of a team or a workload; empty of another group."""
    if row.workload is not None:
        return reverse("costs-workload", args=[row.workload.id])
    if row.team is not None and not row.beside:
        return reverse("costs-team", args=[row.team.id])
    return ""


def _named_link(row: WaitingRow, locale: Locale) -> str:
    href = _group_href(row)
    name = linked(row.of, locale.onward(href)) if href else row.of
    return format_html("{}<small> {}</small>", name, row.beside) if row.beside else name


WAITING = Table.of(
    WAITING_COSTS,
    dress={
        "of": {"shown": _named_link},
        "median_wait_seconds": {"shown": lambda row, _: _quantile_words(row.cost.median)},
        "ninth_decile_wait_seconds": {"shown": lambda row, _: _quantile_words(row.cost.ninth)},
    },
)


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
               csv="lost_gpu_hours", note=lambda row: redone_note(_redone(row))),
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
