"""The tables of one run: where its time and money went, its jobs, attempts and checkpoints."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.urls import reverse

from apps.console.kit.cells import (
    COUNT,
    DURATION,
    FIGURE,
    GPU_HOURS,
    INSTANT,
    MONEY,
    PROSE,
    RATIO,
    quiet,
    titled,
    warned,
)
from apps.console.kit.table import Table
from apps.console.pages.runs.words import WHY, bucket_cell, status_of
from apps.economics.run_time import Bucket
from apps.show.amounts import Ratio
from apps.show.counts import energy
from apps.show.run_buckets import BUCKETS
from apps.tables.column import CURRENCY_COLUMN, Column
from apps.unit_economics.queries.runs.values import RunAmounts, RunJobCost
from apps.workloads.queries.run_picture import PicturedAttempt, PicturedMoment

CHECKPOINTS_AT_ONCE = 10


class BucketOfRun(NamedTuple):
    """A part of a run, None where not known: `wall` is by the clock; no `bucket`: all of it."""

    bucket: Bucket | None
    amounts: RunAmounts
    wall: timedelta | None
    share: Ratio | None


class JobOfRun(NamedTuple):
    """A job in its part in a run, looked at `at`; `href` leads to its lines."""

    cost: RunJobCost
    at: datetime
    href: str

    @property
    def lasted(self) -> timedelta | None:
        """Until it ended, or so far."""
        started_at = self.cost.started_at
        return None if started_at is None else (self.cost.ended_at or self.at) - started_at


class AttemptOfRun(NamedTuple):
    """The processes of one start, in their order; `job` is None where the viewer may not know it."""

    place: int
    attempt: PicturedAttempt
    job: str | None


def _bucket_shown(row: BucketOfRun) -> str:
    return "Total" if row.bucket is None else bucket_cell(BUCKETS[row.bucket])


def _joules_written(row: BucketOfRun) -> str:
    joules = row.amounts.energy_joules
    return "" if joules is None else f"{joules:.0f}"


def _restarts_note(row: JobOfRun) -> str:
    return f"restarted {row.cost.restart_count} ×" if row.cost.restart_count else ""


def _how_ended(row: AttemptOfRun) -> str:
    status = status_of(row.attempt.status)
    status_text = status.label.lower()
    is_cut = status.key in ("failed", "interrupted")
    return (
        warned(status_text, status.explanation)
        if is_cut
        else titled(status_text, status.explanation)
    )


def _steps_done(row: AttemptOfRun) -> str | None:
    first, last = row.attempt.first_step, row.attempt.last_step
    return None if first is None or last is None else f"{first:,} to {last:,}"


def _reports_lost(row: AttemptOfRun) -> str:
    return f"{row.attempt.dropped:,} reports lost" if row.attempt.dropped else ""


def _metric_text(row: PicturedMoment) -> str | None:
    return None if row.metric is None else f"{row.metric:.4f}"


BUCKETS_OF_RUN = Table[BucketOfRun](
    "buckets",
    "Cost by bucket",
    (
        Column("bucket", "Bucket", lambda row: row.bucket.name.lower() if row.bucket else "",
               shown=lambda row, _: _bucket_shown(row)),
        Column("cost", "Cost", lambda row: row.amounts.effective_micros, MONEY),
        Column("share", "Share of cost", lambda row: row.share, RATIO, csv=""),
        Column("gpu_hours", "GPU-hours", lambda row: row.amounts.unit_milliseconds, GPU_HOURS),
        Column("wall", "Wall time", lambda row: row.wall, DURATION, csv=""),
        Column("energy_joules", "Energy", lambda row: row.amounts.energy_joules, FIGURE,
               shown=lambda row, _: energy(row.amounts.energy_joules),
               written=lambda row, _: _joules_written(row)),
        Column("meaning", "What it is",
               lambda row: BUCKETS[row.bucket].explanation if row.bucket else "", WHY, csv=""),
        Column("unpriced_hours", "", lambda row: row.amounts.unpriced_milliseconds, GPU_HOURS),
        Column("list_cost", "", lambda row: row.amounts.list_micros, MONEY),
        Column("contracted_cost", "", lambda row: row.amounts.contracted_micros, MONEY),
        Column("billed_cost", "", lambda row: row.amounts.billed_micros, MONEY),
        CURRENCY_COLUMN,
    ),
    csv_first=("bucket", "gpu_hours", "unpriced_hours", "energy_joules", "list_cost",
               "contracted_cost", "cost", "billed_cost"),
)  # fmt: skip
JOBS_OF_RUN = Table[JobOfRun](
    "jobs",
    "Jobs of the run",
    (
        Column("raw_id", "Job", lambda row: row.cost.raw_id, missing="Another team’s job",
               href=lambda row: row.href, note=_restarts_note),
        Column("state", "State", lambda row: row.cost.state,
               shown=lambda row, _: row.cost.state.capitalize()),
        Column("restart_count", "", lambda row: row.cost.restart_count, COUNT),
        Column("started_at", "From", lambda row: row.cost.started_at, INSTANT),
        Column("ended_at", "To", lambda row: row.cost.ended_at, INSTANT, missing="ongoing"),
        Column("lasted", "For", lambda row: row.lasted, DURATION, csv=""),
        Column("gpu_hours", "GPU-hours in the run",
               lambda row: row.cost.amounts.unit_milliseconds, GPU_HOURS),
        Column("cost", "Cost in the run",
               lambda row: row.cost.amounts.effective_micros, MONEY),
        CURRENCY_COLUMN,
    ),
    about="each links to its lines in the cost explorer",
    empty="No job of this run is known, so it has no cost: its reports name none, or one that no "
    "scheduler reported.",
)  # fmt: skip
"""One that the viewer may not know has no name."""
ATTEMPTS = Table[AttemptOfRun](
    "attempts",
    "Attempts",
    (
        Column("attempt", "Attempt", lambda row: row.place),
        Column("job", "Job", lambda row: row.job, missing=quiet("not known"),
               href=lambda row: reverse("costs-job", args=[row.attempt.job_id]) if row.job else ""),
        Column("status", "Ended", lambda row: row.attempt.status,
               shown=lambda row, _: _how_ended(row)),
        Column("from", "From", lambda row: row.attempt.starts_at, INSTANT),
        Column("to", "To", lambda row: row.attempt.ends_at, INSTANT, missing=quiet("not reported")),
        Column("lasted", "For",
               lambda row: (row.attempt.ends_at or row.attempt.heard_at) - row.attempt.starts_at,
               DURATION),
        Column("steps", "Steps", _steps_done, missing=quiet("none reported")),
        Column("processes", "Processes reporting", lambda row: row.attempt.processes, COUNT,
               note=_reports_lost),
    ),
    about="each start of the training process, as it reported itself",
)  # fmt: skip
CHECKPOINTS = Table[PicturedMoment](
    "checkpoints",
    "Good checkpoints",
    (
        Column("at", "At", lambda row: row.at, INSTANT),
        Column("step", "Step", lambda row: row.step, COUNT),
        Column("metric", "Metric", _metric_text, FIGURE, order=lambda row: row.metric,
               missing=quiet("not reported")),
    ),
    noun=("checkpoint", "checkpoints"),
    about="{said} that passed, the latest first",
    empty="None passed, or none reported: a script reports one with run.good_checkpoint(step, "
    "metric).",
    sort="checkpoints",
    per_page=CHECKPOINTS_AT_ONCE,
)  # fmt: skip
REPORTED = Table[tuple[str, str]](
    "told",
    "Reported by the run",
    (
        Column("name", "What", lambda row: row[0]),
        Column("value", "Value", lambda row: row[1], PROSE),
    ),
    about="its model and its tags",
)
