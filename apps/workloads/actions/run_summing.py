"""A run as a whole, summed up from its hours, attempts and jobs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Sum
from psycopg.types.range import Range

from apps.economics.run_divergence import WrongSpan
from apps.workloads.models import RunHour, RunStatus, RunSummary
from apps.workloads.queries import run_fold_facts as facts
from apps.workloads.queries.run_fold_facts import CarriedSpan, EventRow, FoldAttemptRow, FoldJobRow

STATUS_OF_STATE = {
    "COMPLETED": RunStatus.FINISHED,
    "SUCCEEDED": RunStatus.FINISHED,
    "FAILED": RunStatus.FAILED,
    "OUT_OF_MEMORY": RunStatus.FAILED,
    "BOOT_FAIL": RunStatus.INTERRUPTED,
    "NODE_FAIL": RunStatus.INTERRUPTED,
    "PREEMPTED": RunStatus.INTERRUPTED,
    "TIMEOUT": RunStatus.INTERRUPTED,
    "DEADLINE": RunStatus.INTERRUPTED,
    "CANCELLED": RunStatus.INTERRUPTED,
    "REQUEUED": RunStatus.INTERRUPTED,
    "REVOKED": RunStatus.INTERRUPTED,
}
SUMMED = ("steps", "tokens", "redone_tokens", "examples", "flops")


@dataclass(frozen=True, slots=True)
class RunSummaryInput:
    """The parts that a summary of a run is made of; `lead` are the attempts of the run's lowest rank.

    `diverged` is when the run was wrong by its own loss.
    """

    attempts: Sequence[FoldAttemptRow]
    lead: Sequence[FoldAttemptRow]
    jobs: Mapping[int, FoldJobRow]
    spans: Sequence[CarriedSpan]
    good: Sequence[EventRow]
    status: str
    diverged: Sequence[WrongSpan]


def status_of(lead: Sequence[FoldAttemptRow], jobs: Mapping[int, FoldJobRow]) -> str:
    """How the run's last attempt ended, else its job, else its last job; empty while nobody said."""
    if lead and lead[-1].ended_at is not None:
        return lead[-1].status
    last = jobs.get(lead[-1].job_id or 0) if lead else next(reversed(list(jobs.values())), None)
    if last is None or last.ended_at is None:
        return RunStatus.UNTOLD
    return STATUS_OF_STATE.get(last.state.partition(" ")[0], RunStatus.UNTOLD)


def keep_summary(summary: RunSummary, run: RunSummaryInput, at: datetime) -> None:
    """Write what the run came to, as of `at`."""
    sums = RunHour.objects.filter(run_id=summary.run_id).aggregate(
        **{f"all_{name}": Sum(name) for name in SUMMED}
    )
    for name in SUMMED:
        setattr(summary, name, sums[f"all_{name}"] or 0)
    carrying = {span.job_id for span in run.spans}
    submitted = [job.submitted_at for job in run.jobs.values() if job.submitted_at is not None]
    summary.submitted_at = min(submitted, default=None)
    summary.began_at = _began_at(run)
    summary.ended_at = _ended_at(run)
    summary.status = run.status
    summary.attempts = len(run.lead)
    summary.jobs = len(carrying)
    worlds = [attempt.world_size for attempt in run.lead]
    summary.gpus = facts.most_gpus(carrying) or max(worlds, default=None)
    summary.model = next((attempt.model for attempt in reversed(run.lead) if attempt.model), {})
    summary.tags = next((attempt.tags for attempt in reversed(run.lead) if attempt.tags), {})
    summary.good_checkpoints = len(run.good)
    summary.first_good_at = min((checkpoint.at for checkpoint in run.good), default=None)
    steps = [checkpoint.step for checkpoint in run.good if checkpoint.step is not None]
    summary.last_good_step = steps[-1] if steps else None
    summary.diverged = [Range(since, until) for since, until in run.diverged]
    summary.dropped = sum(attempt.dropped for attempt in run.attempts)
    summary.folded_at = at
    summary.changed_from = None
    summary.save()


def _began_at(run: RunSummaryInput) -> datetime | None:
    moments = [span.starts_at for span in run.spans]
    return min([*moments, *(attempt.began_at for attempt in run.lead)], default=None)


def _ended_at(run: RunSummaryInput) -> datetime | None:
    """When its last attempt ended, by its own word or with its job; of a run without, its jobs."""
    if not run.lead:
        ends = [span.ends_at for span in run.spans]
        return None if None in ends else max((end for end in ends if end), default=None)
    last = run.lead[-1]
    job = run.jobs.get(last.job_id or 0)
    return last.ended_at or (job.ended_at if job is not None else None)
