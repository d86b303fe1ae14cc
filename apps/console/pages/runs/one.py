"""The page of one run: its time as a picture, its money by bucket, its numbers, what to do."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta, tzinfo
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.html import format_html, format_html_join

from apps.console.kit.cells import linked, titled
from apps.console.kit.chart import Figure, FigureRow, figure_or_unknown
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, Include, Section, shown
from apps.console.kit.request import EVERYONE, Context, value_or_404
from apps.console.pages.runs.anatomy import RunFacts, anatomy_of, spent_of
from apps.console.pages.runs.listing import meters_of_listed
from apps.console.pages.runs.numbers import METRICS, metrics_of
from apps.console.pages.runs.one_tables import (
    ATTEMPTS,
    BUCKETS_OF_RUN,
    CHECKPOINTS,
    JOBS_OF_RUN,
    REPORTED,
    AttemptOfRun,
    BucketOfRun,
    JobOfRun,
)
from apps.console.pages.runs.picture import BucketSums, no_progress_parts, reported_words
from apps.console.pages.runs.verdicts import (
    Advice,
    bottleneck_verdicts,
    checkpoint_verdicts,
    straggler_verdicts,
)
from apps.console.pages.runs.words import span_of, status_of
from apps.economics.run_time import LEAST_TOLD, Bucket
from apps.show.amounts import counted, gpu_hours, per_cent, share
from apps.show.counts import short_count
from apps.show.money import rounded_amount, short_amount, unit_cost
from apps.show.run_buckets import BUCKETS
from apps.show.time import duration, instant
from apps.unit_economics.queries.runs.bottlenecks import run_time_breakdown
from apps.unit_economics.queries.runs.checkpoints import checkpoint_advice_of_run
from apps.unit_economics.queries.runs.costs import run_costs
from apps.unit_economics.queries.runs.page import usual_numbers
from apps.unit_economics.queries.runs.stragglers import slow_ranks
from apps.unit_economics.queries.runs.values import RunAmounts, RunAnatomy
from apps.workloads.queries.run_facts import clock_hours
from apps.workloads.queries.run_picture import MOST_NODES, RunRecord, run_record

DAY = timedelta(days=1)
EXACT = 1_000_000
"""Whole numbers below it are shown to the last digit."""


@shown(EVERYONE, "runs")
def run(context: Context, run_id: int) -> ConsolePage:
    """One run: where its time and money went, and what to do; of one not seen there is none."""
    anatomy = get_run_or_404(run_id, context)
    facts = _facts_of(anatomy, context)
    sums = sums_of_run(anatomy)
    return ConsolePage(
        context=context,
        finding=finding_of(anatomy, sums),
        status=anatomy.status or "",
        under=tuple(_under_title(anatomy, context)),
        back=Link("Runs", reverse("runs")),
        styles=("css/runs.css",),
        sections=tuple(_sections_of(anatomy, sums, facts, context)),
        empty=None
        if anatomy.buckets or facts.hours or facts.attempts
        else _empty_run_state(anatomy),
    )


def _sections_of(
    anatomy: RunAnatomy, sums: BucketSums, facts: RunFacts, context: Context
) -> Iterator[Section | None]:
    run_id, workload_id = anatomy.run.id, anatomy.run.workload_id
    nodes = _nodes_of(anatomy, context)
    usual = None if workload_id is None else usual_numbers(workload_id, without=run_id)
    yield FigureRow(_figures_of(anatomy, sums)) if anatomy.buckets else None
    yield anatomy_of(facts, context)
    spent = spent_of(facts.hours)
    parts = buckets_of(anatomy, spent)
    yield BUCKETS_OF_RUN.section(
        parts,
        context,
        about="every second of the run in one bucket; cost is that of the ledger’s lines, in "
        f"{anatomy.currency}",
        total=BucketOfRun(None, anatomy.amounts, _clock_time(sum(spent.values())), 1.0),
        csv_name=f"run-{run_id}-buckets",
        csv_rows=lambda: buckets_of(anatomy, {}),
        is_shown=bool(parts),
    )
    advice = {"verdicts": _verdicts_of(run_id, nodes), "note": _no_verdict(anatomy)}
    yield Include("runs/_verdicts.html", advice)
    yield METRICS.section(metrics_of(anatomy, usual, anatomy.currency), context)
    yield meters_of_listed({run_id: (anatomy.run.key, "")}, context)
    yield JOBS_OF_RUN.section(
        jobs_of(anatomy, context),
        context,
        csv_name=f"run-{run_id}-jobs",
        remark=_describe_nodes(nodes),
    )
    yield ATTEMPTS.section(_attempts_of(facts), context) if facts.attempts else None
    good = [moment for moment in reversed(facts.moments) if moment.kind == "good_checkpoint"]
    yield CHECKPOINTS.section(good, context)
    tags = _tags_of(run_record(run_id))
    yield REPORTED.section(tags, context) if tags else None


def get_run_or_404(run_id: int, context: Context) -> RunAnatomy:
    """The run, or the page that there is none."""
    return value_or_404(run_costs(run_id, context.viewer), "There is no such run.")


def sums_of_run(anatomy: RunAnatomy) -> BucketSums:
    """Its amounts by bucket."""
    return BucketSums(
        micros={bucket.bucket: bucket.amounts.effective_micros for bucket in anatomy.buckets},
        provisional={},
        milliseconds={
            bucket.bucket: bucket.amounts.unit_milliseconds for bucket in anatomy.buckets
        },
        unpriced_milliseconds=anatomy.amounts.unpriced_milliseconds,
        statuses=frozenset([anatomy.status] if anatomy.status else []),
    )


def finding_of(anatomy: RunAnatomy, sums: BucketSums) -> str:
    """Return what the run cost and how much of it was not productive, in one sentence."""
    run = anatomy.run
    how = {"failed": " failed", "interrupted": " was interrupted"}.get(run.status, "")
    if not anatomy.buckets:
        return f"{run.key}{how or ' is known'}; nothing of it is charged yet."
    if sums.total is None:
        return f"{run.key}{how}; what it cost is not known: no price covers it."
    cost = rounded_amount(sums.total, anatomy.currency)
    sentence = f"{run.key}{how}, and cost {cost}" if how else f"{run.key} cost {cost}"
    if run.wall_seconds:
        sentence += f" in {duration(span_of(run.wall_seconds))}"
    if run.gpus:
        sentence += f" on {counted(run.gpus, 'GPU')}"
    lost, untold = share(sums.no_progress, sums.total), share(sums.untold, sums.total)
    if untold == 1:
        return f"{sentence}; what it was spent on was not reported."
    if lost:
        return f"{sentence}; {per_cent(lost)} of it was not productive."
    return f"{sentence}."


def buckets_of(anatomy: RunAnatomy, spent: Mapping[Bucket, int]) -> list[BucketOfRun]:
    """Where its money went, and its time by the clock in `spent` (ms); no row where nothing was."""
    amounts = {bucket_cost.bucket: bucket_cost.amounts for bucket_cost in anatomy.buckets}
    nothing, rows = RunAmounts(effective_micros=0), []
    for bucket in BUCKETS:
        if bucket in amounts or spent.get(bucket):
            bucket_amounts = amounts.get(bucket, nothing)
            part = share(bucket_amounts.effective_micros, anatomy.amounts.effective_micros)
            wall = _clock_time(spent.get(bucket, 0)) if spent else None
            rows.append(BucketOfRun(bucket, bucket_amounts, wall, part))
    return rows


def _clock_time(milliseconds: int) -> timedelta:
    return span_of(milliseconds / 1000) or timedelta(0)


def _facts_of(anatomy: RunAnatomy, context: Context) -> RunFacts:
    record = run_record(anatomy.run.id)
    return RunFacts(
        hours=clock_hours([anatomy.run.id]),
        jobs=[job.carried for job in anatomy.held_by if job.carried is not None],
        attempts=record.attempts,
        moments=record.moments,
        at=context.at,
        zone=context.zone,
    )


def _under_title(anatomy: RunAnatomy, context: Context) -> Iterator[str]:
    run, ended_words = anatomy.run, status_of(anatomy.run.status)
    yield titled(ended_words.label, ended_words.explanation)
    if run.workload_id is not None:
        programme = context.onward(reverse("programme", args=[run.workload_id]))
        yield linked(run.workload or "Programme", programme)
    if run.began_at is not None:
        ended = f" to {instant(run.ended_at, context.zone)}" if run.ended_at else ""
        yield f"{instant(run.began_at, context.zone)}{ended}"
    if run.team:
        yield run.team
    if run.gpus:
        yield f"{run.gpus:,} × {run.gpu_model}" if run.gpu_model else counted(run.gpus, "GPU")
    if run.told_ratio is None:
        yield "how its time was spent was not reported"
    else:
        yield f"{per_cent(run.told_ratio)} of its GPU time reported"
        yield from _loss_words(run_record(run.id), context.zone)
    yield f"effective cost in {anatomy.currency}"
    if anatomy.pending_days:
        yield f"{counted(anatomy.pending_days, 'day')} being summed anew"


def _loss_words(record: RunRecord, zone: tzinfo) -> Iterator[str]:
    """When it was wrong by its loss; of a run that reports none that nobody knows."""
    if not record.has_loss:
        yield "no loss reported: whether it diverged is not known"
    for since, until in record.diverged:
        yield f"diverged from {instant(since, zone)}" + (
            "" if until is None else f" to {instant(until, zone)}"
        )


def _figures_of(anatomy: RunAnatomy, sums: BucketSums) -> tuple[Figure, ...]:
    run, currency = anatomy.run, anatomy.currency
    parts = no_progress_parts(sums, currency) if sums.total is not None else ""
    tokens = "" if run.tokens is None else f"{short_count(run.tokens)} tokens trained and kept"
    million = run.million_tokens_micros
    return (
        Figure(
            title="Cost",
            number=short_amount(sums.total, currency),
            note=f"{gpu_hours(anatomy.amounts.unit_milliseconds)} GPU-hours, {_unpriced_words(anatomy)}",
            status=sums.status,
            is_unknown=sums.total is None,
        ),
        Figure(
            title="Not productive",
            number=short_amount(sums.no_progress, currency),
            note=parts or reported_words(sums),
            status=sums.status,
            is_unknown=sums.no_progress is None or not sums.is_mostly_told,
        ),
        figure_or_unknown(
            "Goodput",
            None if run.known_goodput_ratio is None else per_cent(run.known_goodput_ratio),
            "kept training steps ÷ GPU time that it reported"
            if sums.is_mostly_told
            else f"it reported only {per_cent(run.told_ratio or 0)} of its GPU time",
            sums.status,
        ),
        figure_or_unknown(
            "Cost per million tokens",
            None if million is None else unit_cost(million, currency),
            tokens or "it reported no tokens",
            sums.status,
        ),
    )


def _unpriced_words(anatomy: RunAnatomy) -> str:
    if not anatomy.amounts.unpriced_milliseconds:
        return "all of them priced"
    return f"{gpu_hours(anatomy.amounts.unpriced_milliseconds)} of them without a price"


def _verdicts_of(run_id: int, nodes: Mapping[str, str]) -> tuple[Advice, ...]:
    return (
        *bottleneck_verdicts(run_time_breakdown(run_id)),
        *straggler_verdicts(slow_ranks(run_id), nodes),
        *checkpoint_verdicts(checkpoint_advice_of_run(run_id)),
    )


def _no_verdict(anatomy: RunAnatomy) -> str:
    """Return what is said where no verdict is."""
    ratio = anatomy.run.told_ratio
    if ratio is None or ratio < LEAST_TOLD:
        return (
            "The run reported too little of its time for a verdict. With the SDK’s run.phase(…) "
            "around data, checkpoints and communication it reports where the time goes."
        )
    return (
        "Nothing stands out: no bucket took more than is usual, no rank is known to be slow, and "
        "nothing says that checkpoints should be saved more or less often."
    )


def jobs_of(anatomy: RunAnatomy, context: Context) -> list[JobOfRun]:
    """The jobs that carried it; those that the viewer may know lead to their lines of that time."""
    rows = []
    for job in anatomy.jobs:
        href = ""
        if job.job_id is not None:
            href = reverse("costs-job", args=[job.job_id])
            if job.started_at is not None:
                first = job.started_at.astimezone(context.zone).date()
                last = (job.ended_at or context.at).astimezone(context.zone).date()
                href += f"?{urlencode({'window': f'{first}/{last + DAY}'})}"
        rows.append(JobOfRun(job, context.at, href))
    return rows


def _attempts_of(facts: RunFacts) -> list[AttemptOfRun]:
    named = {job.fact.id: job.fact.raw_id for job in facts.jobs if job.is_seen}
    return [
        AttemptOfRun(
            place, attempt, named.get(attempt.job_id) if attempt.job_id is not None else None
        )
        for place, attempt in enumerate(facts.attempts, start=1)
    ]


def _describe_nodes(nodes: Mapping[str, str]) -> str:
    if not nodes:
        return ""
    named = format_html_join(", ", "{}", ((linked(name, href),) for name, href in nodes.items()))
    return format_html("On {}.", named)


def _nodes_of(anatomy: RunAnatomy, context: Context) -> dict[str, str]:
    """The nodes of its jobs that the viewer may know: addresses by name, MOST_NODES at most."""
    job_nodes = {node for job in anatomy.held_by if job.is_seen for node in job.nodes}
    by_name = sorted(job_nodes, key=lambda node: (node[1], node[0]))[:MOST_NODES]
    return {name: context.onward(reverse("node", args=[node_id])) for node_id, name in by_name}


def _tags_of(record: RunRecord) -> list[tuple[str, str]]:
    named_values: Sequence[tuple[str, object]] = [*record.model.items(), *record.tags.items()]
    return [(name.replace("_", " "), _tag_text(value)) for name, value in named_values]


def _tag_text(value: object) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return (
            f"{value:,.0f}" if value == round(value) and abs(value) < EXACT else short_count(value)
        )
    return str(value)


def _empty_run_state(anatomy: RunAnatomy) -> EmptyState:
    return EmptyState(
        title="Nothing is known of this run but its name",
        sentence=f"A job reported that it is of {anatomy.run.key}; none of its time is charged yet, and "
        "the run itself has reported nothing.",
        steps=(
            Step("Say in its script where the run begins and ends; docs/guides/sdk.md shows how."),
        ),
    )
