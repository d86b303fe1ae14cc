"""The page of one run: its time as a picture, its money by bucket, its numbers, what to do."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from urllib.parse import urlencode

from django.http import Http404
from django.urls import reverse

from apps.console.kit.chart import Figure
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.request import Context
from apps.console.pages.runs.anatomy import RunFacts, anatomy_of, spent_of
from apps.console.pages.runs.listing import meters_of_listed
from apps.console.pages.runs.numbers import number_rows
from apps.console.pages.runs.picture import BucketSums, no_progress_parts
from apps.console.pages.runs.values import (
    AttemptRow,
    BucketRow,
    CheckpointRow,
    JobRow,
    RunPage,
    Verdict,
)
from apps.console.pages.runs.verdicts import (
    bottleneck_verdicts,
    checkpoint_verdicts,
    straggler_verdicts,
)
from apps.console.pages.runs.words import span_of, status_of
from apps.economics.run_time import Bucket
from apps.show.amounts import counted, gpu_hours, per_cent, share
from apps.show.counts import energy, short_count
from apps.show.money import short_amount, unit_cost, whole_amount
from apps.show.run_buckets import BUCKETS
from apps.show.time import duration, instant
from apps.unit_economics.queries.runs.bottlenecks import where_time_of_run_went
from apps.unit_economics.queries.runs.checkpoints import checkpoint_advice_of_run
from apps.unit_economics.queries.runs.costs import run_costs
from apps.unit_economics.queries.runs.page import usual_numbers
from apps.unit_economics.queries.runs.stragglers import slow_ranks
from apps.unit_economics.queries.runs.values import RunAnatomy, RunBucket
from apps.workloads.queries.run_facts import clock_hours, run_summaries
from apps.workloads.queries.run_picture import (
    PicturedAttempt,
    attempts_of_run,
    carrying_jobs,
    moments_of_run,
    nodes_of_jobs,
)

MOST_NODES = 16
MOST_CHECKPOINTS = 50
DAY = timedelta(days=1)
LEAST_TOLD = 0.5
EXACT = 1_000_000
"""Whole numbers below it are shown to the last digit."""


def run_page_of(run_id: int, who: Context) -> RunPage:
    """Everything of a run that the viewer sees; of any other there is none."""
    told = known_run(run_id, who)
    facts = _facts(told, who)
    currency = told.currency
    sums = sums_of_run(told)
    workload_id = told.run.workload_id
    usual = None if workload_id is None else usual_numbers(workload_id, without=run_id)
    nodes = nodes_of_jobs(sorted(facts.seen), MOST_NODES)
    links = {name: reverse("node", args=[node_id]) for node_id, name in nodes}
    buckets, total = bucket_rows(told, facts)
    return RunPage(
        frame=who.frame,
        finding=finding_of(told, sums),
        name=told.run.key,
        status=told.status or "",
        ended=status_of(told.run.status),
        under=tuple(_under(told, who)),
        currency=currency,
        zone=who.zone,
        trail=_trail(told),
        figures=_figures(told, sums),
        anatomy=anatomy_of(facts),
        buckets=buckets,
        total=total,
        numbers=number_rows(told, usual, currency),
        verdicts=_verdicts(run_id, links),
        verdict_note=_no_verdict(told),
        jobs=tuple(_job_rows(told, who)),
        attempts=tuple(_attempt_rows(facts)),
        checkpoints=tuple(
            CheckpointRow(each.at, each.step, each.metric)
            for each in reversed(facts.moments)
            if each.kind == "good_checkpoint"
        )[:MOST_CHECKPOINTS],
        good_checkpoints=told.run.good_checkpoints,
        nodes=tuple(Link(name, href) for name, href in links.items()),
        tags=_tags(run_id),
        buckets_href=reverse("run-buckets", args=[run_id]),
        jobs_href=reverse("run-jobs", args=[run_id]),
        empty=None if told.buckets or facts.hours or facts.attempts else _empty(told),
        meters=meters_of_listed({run_id: (told.run.key, "")}),
    )


def known_run(run_id: int, who: Context) -> RunAnatomy:
    """The run, or the page that there is none."""
    found = run_costs(run_id, who.viewer)
    if found is None:
        raise Http404("There is no such run.")
    return found


def sums_of_run(told: RunAnatomy) -> BucketSums:
    """Its amounts by bucket."""
    return BucketSums(
        micros={each.bucket: each.amounts.effective_micros for each in told.buckets},
        provisional={},
        milliseconds={each.bucket: each.amounts.unit_milliseconds for each in told.buckets},
        unpriced_milliseconds=told.amounts.unpriced_milliseconds,
        statuses=frozenset([told.status] if told.status else []),
    )


def finding_of(told: RunAnatomy, sums: BucketSums) -> str:
    """What the run cost and how much of it was not productive, in one sentence."""
    run = told.run
    how = {"failed": " failed", "interrupted": " was interrupted"}.get(run.status, "")
    if not told.buckets:
        return f"{run.key}{how or ' is known'}; nothing of it is charged yet."
    if sums.total is None:
        return f"{run.key}{how}; what it cost is not known: no price covers it."
    cost = whole_amount(sums.total, told.currency)
    said = f"{run.key}{how}, and cost {cost}" if how else f"{run.key} cost {cost}"
    if run.wall_seconds:
        said += f" in {duration(span_of(run.wall_seconds))}"
    if run.gpus:
        said += f" on {counted(run.gpus, 'GPU')}"
    lost, untold = share(sums.no_progress, sums.total), share(sums.untold, sums.total)
    if untold == 1:
        return f"{said}; what it was spent on was not reported."
    if lost:
        return f"{said}; {per_cent(lost)} of it was not productive."
    return f"{said}."


def bucket_rows(
    told: RunAnatomy, facts: RunFacts
) -> tuple[tuple[BucketRow, ...], BucketRow | None]:
    """Where its time and money went, and their sums; no row where nothing was."""
    spent = spent_of(facts.hours)
    of = {each.bucket: each for each in told.buckets}
    rows = tuple(
        _bucket_row(bucket, of.get(bucket), spent, told)
        for bucket in BUCKETS
        if bucket in of or spent.get(bucket)
    )
    if not rows:
        return (), None
    whole = BucketRow(
        words=None,
        wall=_clock(sum(spent.values())),
        unit_milliseconds=told.amounts.unit_milliseconds,
        energy=energy(told.amounts.energy_joules),
        micros=told.amounts.effective_micros,
        share=1.0 if told.amounts.effective_micros else None,
    )
    return rows, whole


def _bucket_row(
    bucket: Bucket, found: RunBucket | None, spent: dict[Bucket, int], told: RunAnatomy
) -> BucketRow:
    amounts = None if found is None else found.amounts
    micros = None if amounts is None else amounts.effective_micros
    part = share(0 if amounts is None else micros, told.amounts.effective_micros)
    return BucketRow(
        words=BUCKETS[bucket],
        wall=_clock(spent.get(bucket, 0)) if spent else None,
        unit_milliseconds=0 if amounts is None else amounts.unit_milliseconds,
        energy=energy(None if amounts is None else amounts.energy_joules),
        micros=0 if amounts is None else micros,
        share=None if part is None else float(part),
    )


def _clock(milliseconds: int) -> timedelta:
    return span_of(milliseconds / 1000) or timedelta(0)


def _facts(told: RunAnatomy, who: Context) -> RunFacts:
    run_id = told.run.id
    return RunFacts(
        hours=clock_hours([run_id]),
        jobs=carrying_jobs(run_id),
        attempts=attempts_of_run(run_id),
        moments=moments_of_run(run_id),
        seen=frozenset(each.job_id for each in told.jobs if each.job_id is not None),
        at=who.at,
        zone=who.zone,
    )


def _trail(told: RunAnatomy) -> tuple[Link, ...]:
    trail = [Link("Runs", reverse("runs"))]
    if told.run.workload_id is not None:
        name = told.run.workload or "Programme"
        trail.append(Link(name, reverse("programme", args=[told.run.workload_id])))
    return tuple(trail)


def _under(told: RunAnatomy, who: Context) -> Iterator[str]:
    run = told.run
    if run.began_at is not None:
        ended = f" to {instant(run.ended_at, who.zone)}" if run.ended_at else ""
        yield f"{instant(run.began_at, who.zone)}{ended}"
    if run.team:
        yield run.team
    if run.gpus:
        yield f"{run.gpus:,} × {run.gpu_model}" if run.gpu_model else counted(run.gpus, "GPU")
    if run.told_ratio is None:
        yield "how its time was spent was not reported"
    else:
        yield f"{per_cent(run.told_ratio)} of its GPU time reported"
    yield f"effective cost in {told.currency}"
    if told.pending_days:
        yield f"{counted(told.pending_days, 'day')} being summed anew"


def _figures(told: RunAnatomy, sums: BucketSums) -> tuple[Figure, ...]:
    if not told.buckets:
        return ()
    run, currency = told.run, told.currency
    parts = no_progress_parts(sums, currency) if sums.total is not None else ""
    tokens = "" if run.tokens is None else f"{short_count(run.tokens)} tokens trained and kept"
    million = run.million_tokens_micros
    return (
        Figure(
            title="Cost",
            number=short_amount(sums.total, currency),
            note=f"{gpu_hours(told.amounts.unit_milliseconds)} GPU-hours, {_unpriced(told)}",
            status=sums.status,
            is_unknown=sums.total is None,
        ),
        Figure(
            title="Not productive",
            number=short_amount(sums.no_progress, currency),
            note=parts or "all that was reported was productive",
            status=sums.status,
            is_unknown=sums.no_progress is None,
        ),
        Figure(
            title="Goodput",
            number="Not known" if run.goodput_ratio is None else per_cent(run.goodput_ratio),
            note="kept training steps ÷ GPU time that it reported",
            status=sums.status,
            is_unknown=run.goodput_ratio is None,
        ),
        Figure(
            title="Cost per million tokens",
            number="Not known" if million is None else unit_cost(million, currency),
            note=tokens or "it reported no tokens",
            status=sums.status,
            is_unknown=million is None,
        ),
    )


def _unpriced(told: RunAnatomy) -> str:
    if not told.amounts.unpriced_milliseconds:
        return "all of them priced"
    return f"{gpu_hours(told.amounts.unpriced_milliseconds)} of them without a price"


def _verdicts(run_id: int, nodes: dict[str, str]) -> tuple[Verdict, ...]:
    return (
        *bottleneck_verdicts(where_time_of_run_went(run_id)),
        *straggler_verdicts(slow_ranks(run_id), nodes),
        *checkpoint_verdicts(checkpoint_advice_of_run(run_id)),
    )


def _no_verdict(told: RunAnatomy) -> str:
    """What is said where no verdict is."""
    ratio = told.run.told_ratio
    if ratio is None or ratio < LEAST_TOLD:
        return (
            "The run reported too little of its time for a verdict. With the SDK’s run.phase(…) "
            "around data, checkpoints and communication it reports where the time goes."
        )
    return (
        "Nothing stands out: no bucket took more than is usual, no rank is known to be slow, and "
        "nothing says that checkpoints should be saved more or less often."
    )


def _job_rows(told: RunAnatomy, who: Context) -> Iterator[JobRow]:
    for each in told.jobs:
        href = ""
        if each.job_id is not None:
            href = reverse("costs-job", args=[each.job_id])
            if each.started_at is not None:
                first = each.started_at.astimezone(who.zone).date()
                last = (each.ended_at or who.at).astimezone(who.zone).date()
                href += f"?{urlencode({'window': f'{first}/{last + DAY}'})}"
        lived = (each.ended_at or who.at) - each.started_at if each.started_at else None
        yield JobRow(
            name=each.raw_id or "Another team’s job",
            restarts=each.restart_count,
            href=href,
            state=each.state.capitalize(),
            starts_at=each.started_at,
            ends_at=each.ended_at,
            lasted=lived,
            micros=each.amounts.effective_micros,
            unit_milliseconds=each.amounts.unit_milliseconds,
        )


def _attempt_rows(facts: RunFacts) -> Iterator[AttemptRow]:
    named = {each.job_id: each.raw_id for each in facts.jobs if each.job_id in facts.seen}
    for place, each in enumerate(facts.attempts, start=1):
        yield AttemptRow(
            name=f"{place}",
            job=_job_link(each, named),
            status=status_of(each.status),
            starts_at=each.starts_at,
            ends_at=each.ends_at,
            lasted=(each.ends_at or each.heard_at) - each.starts_at,
            steps=_steps(each),
            processes=each.processes,
            dropped=each.dropped,
        )


def _job_link(each: PicturedAttempt, named: dict[int, str]) -> Link | None:
    if each.job_id is None or each.job_id not in named:
        return None
    return Link(named[each.job_id], reverse("costs-job", args=[each.job_id]))


def _steps(each: PicturedAttempt) -> str:
    if each.first_step is None or each.last_step is None:
        return ""
    return f"{each.first_step:,} to {each.last_step:,}"


def _tags(run_id: int) -> tuple[tuple[str, str], ...]:
    summary = run_summaries([run_id]).get(run_id)
    if summary is None:
        return ()
    told: Sequence[tuple[str, object]] = [*summary.model.items(), *summary.tags.items()]
    return tuple((name.replace("_", " "), _text(value)) for name, value in told)


def _text(value: object) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return (
            f"{value:,.0f}" if value == round(value) and abs(value) < EXACT else short_count(value)
        )
    return str(value)


def _empty(told: RunAnatomy) -> EmptyState:
    return EmptyState(
        title="Nothing is known of this run but its name",
        sentence=f"A job reported that it is of {told.run.key}; none of its time is charged yet, and "
        "the run itself has reported nothing.",
        steps=(Step("Say in its script where the run begins and ends; docs/runs.md shows how."),),
    )
