"""Waiting and outages: what they cost those who waited, by team, workload, pool or GPU model."""

from collections.abc import Sequence
from dataclasses import replace

from django.urls import path, reverse

from apps.accounts import queries as accounts
from apps.accounts.queries import Role, teams_below
from apps.console.kit.chart import Figure, FigureRow, LineChart, figure_or_unknown
from apps.console.kit.filters import (
    Reading,
    filter_of,
    key_parser,
    name_filter,
    named_in,
    period_filter,
)
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.periods import DEFAULT_PERIOD, DEFAULT_PERIOD_WORDS, period_words
from apps.console.kit.request import EVERYONE, Context
from apps.console.pages.headroom.switch import headroom_tabs
from apps.console.pages.headroom.waiting_tables import (
    OUTAGE_TABLE,
    WAITED_JOBS,
    WAITING,
    WaitedJob,
)
from apps.console.pages.managers import step_for
from apps.console.pages.team_work.tables import within
from apps.economics.hours import HOUR_MS
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.planning.queries.waiting_costs import (
    GPU_MODEL,
    POOL,
    TEAM,
    WORKLOAD,
    WaitingCost,
    WaitingFacts,
    WaitingRow,
    waiting_facts,
    waiting_rows,
    waiting_total,
)
from apps.show.amounts import counted, gpu_hours
from apps.show.charts import Json
from apps.show.money import rounded_amount, short_amount
from apps.show.part_bars import BarPart, PartedBar, part_bars
from apps.show.words import joined
from apps.workloads import queries as workloads

BY = {TEAM: "Team", WORKLOAD: "Workload", POOL: "Pool", GPU_MODEL: "GPU model"}
DEFAULTS = {"window": DEFAULT_PERIOD, "by": TEAM, "team": ""}
DEFAULT_WORDS = {"window": DEFAULT_PERIOD_WORDS, "by": "by team", "team": "all teams"}
MOST_BARS, MOST_JOBS, MOST_NAMED = 10, 100, 3
PARTS = (
    BarPart("Waited for capacity", "var(--state-held-idle)"),
    BarPart("Waited for outages", "var(--state-stranded)", "/"),
    BarPart("Lost in outages", "var(--state-out-of-service)", "\\"),
)


class WaitingQuery:
    """The question that the address asks of waiting, and the facts that answer it."""

    def __init__(self, context: Context) -> None:
        reading = Reading(context.query, DEFAULTS, DEFAULT_WORDS)
        self.context, self.reading = context, reading
        self.teams = {
            team.name: team.id for team in accounts.teams() if context.viewer.sees_team(team.id)
        }
        self.window: ledger.Window = reading.read(
            "window", lambda text: ledger.window_of(text, context.calendar)
        )
        self.by: str = reading.read("by", key_parser(BY, "There is no table by {!r}."))
        chosen = reading.read("team", lambda text: named_in(text, self.teams, "team"))
        below = frozenset[int]().union(*map(teams_below, chosen))
        seen_teams = context.seen_teams
        team_ids = seen_teams if not chosen else below if seen_teams is None else below & seen_teams
        self.facts: WaitingFacts = waiting_facts(self.window, team_ids, context.at)

    @property
    def rows(self) -> list[WaitingRow]:
        """The groups that are asked for, those that cost most first."""
        return waiting_rows(self.facts, self.by)

    @property
    def jobs(self) -> list[WaitedJob]:
        """The jobs that waited most, in GPU-hours, those of unknown GPUs after them by the clock."""
        waited = [wait for wait in self.facts.waits if wait.length]
        waited.sort(key=lambda wait: (-wait.gpu_span.milliseconds, -wait.length, wait.job_id))
        most = waited[:MOST_JOBS]
        jobs = workloads.jobs([wait.job_id for wait in most])
        names = {team_id: name for name, team_id in self.teams.items()}
        pools = fleet.pools()
        return [
            WaitedJob(
                wait,
                jobs[wait.job_id],
                names[wait.team_id],
                None if wait.pool_id is None else pools[wait.pool_id].name,
            )
            for wait in most
        ]


@shown(EVERYONE, "headroom")
def waiting_page(context: Context) -> ConsolePage:
    """Show what waiting and outages cost, who waited, and what for."""
    question = WaitingQuery(context)
    period_text = period_words(question.window, context.calendar.today)
    texts, total, rows = question.reading.texts, waiting_total(question.facts), question.rows
    is_empty = question.facts.is_empty
    return ConsolePage(
        context=context,
        finding=_finding(total, period_text.within, context.currency)
        if not is_empty
        else f"Nothing waited, and nothing was out, {period_text.within}",
        under=(
            f"{period_text.days}; jobs that were submitted and not started, and GPUs that were out",
        ),
        tabs=headroom_tabs("waiting-costs") if context.viewer.sees_everything else (),
        filters=(
            period_filter(texts, period_text),
            filter_of("by", "By", BY, texts),
            name_filter("team", "Team", sorted(question.teams), texts, "All teams"),
        ),
        problems=tuple(question.reading.problems),
        notes=() if is_empty else _notes(question, total),
        actions=(Link("Add a policy", reverse("add-headroom-policy")),)
        if context.viewer.sees_everything and total.wait_unpriced_ms
        else (),
        main_table="waiting",
        sections=(
            FigureRow(_key_figures(total, context.currency)),
            _part_chart(rows),
            replace(
                WAITING,
                title=f"{WAITING.title}, by {BY[question.by].lower() if question.by != GPU_MODEL else BY[question.by]}",
            ).section(rows, context, csv_name="waiting-costs"),
            WAITED_JOBS.section(question.jobs, context, csv_name="waited-jobs"),
            OUTAGE_TABLE.section(list(question.facts.outages), context, csv_name="outages"),
        ),
        empty=_nothing_waited(question, period_text.within) if is_empty else None,
    )


def _finding(total: WaitingCost, within_words: str, currency: str) -> str:
    waits, lost = total.waits_of_gpus, total.lost
    hours = (
        "for how many GPU-hours jobs waited is not known"
        if waits is None
        else f"jobs waited {gpu_hours(waits.milliseconds)} GPU-hours"
    )
    sentence = f"{hours} {within_words}"
    if waits is not None and waits.milliseconds:
        sentence += ", " + _worth(waits.micros, waits.unpriced_ms, currency)
    if lost.milliseconds:
        sentence += f"; outages took {gpu_hours(lost.milliseconds)} GPU-hours"
        cost = None if lost.micros is None else rounded_amount(lost.micros, currency)
        sentence += f", which cost {cost}" if cost else ", at a cost that is not known"
    return sentence[0].upper() + sentence[1:]


def _worth(micros: int | None, unpriced_ms: int, currency: str) -> str:
    if micros is None:
        return "and no policy says what an hour of it costs"
    at_least = "at least " if unpriced_ms else ""
    return f"worth {at_least}{rounded_amount(micros, currency)}"


def _key_figures(total: WaitingCost, currency: str) -> tuple[Figure, ...]:
    waits, lost = total.waits_of_gpus, total.lost
    wait_note = "at the cost of being short that headroom policies state"
    if total.wait_unpriced_ms:
        wait_note += f"; {gpu_hours(total.wait_unpriced_ms)} GPU-hours have no policy"
    p50 = None if total.median is None else within(total.median)
    p90 = "" if total.ninth is None else f"p90 {within(total.ninth)}; "
    wait_cost = (
        None if waits is None or waits.micros is None else short_amount(waits.micros, currency)
    )
    lost_cost = None if lost.micros is None else short_amount(lost.micros, currency)
    return (
        figure_or_unknown("Waits, cost", wait_cost, wait_note),
        figure_or_unknown(
            "Waited, GPU-hours",
            None if waits is None else gpu_hours(waits.milliseconds),
            f"{gpu_hours(total.for_outages.milliseconds)} of them for GPUs that were out",
        ),
        figure_or_unknown(
            "Queue wait, p50",
            p50,
            f"{p90}from submission to start, of {counted(total.jobs, 'job')}",
        ),
        figure_or_unknown(
            "Lost in outages, cost",
            lost_cost,
            f"{gpu_hours(lost.milliseconds)} GPU-hours: {gpu_hours(total.lost_held.milliseconds)} held by jobs, "
            f"{gpu_hours(total.lost_free.milliseconds)} by none, {gpu_hours(total.redone.milliseconds)} redone",
        ),
    )


def _notes(question: WaitingQuery, total: WaitingCost) -> tuple[str, ...]:
    """Return what is not known of the costs of waiting, and what would make it known."""
    notes = []
    if total.wait_unpriced_ms:
        pools = fleet.pools()
        ids = {
            wait.pool_id
            for wait in question.facts.waits
            if wait.price is None and wait.gpu_span.milliseconds
        }
        names = sorted(pools[pool_id].name for pool_id in ids if pool_id is not None)
        more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
        notes.append(
            f"What {gpu_hours(total.wait_unpriced_ms)} GPU-hours of waiting cost is not known: no headroom policy says what "
            f"an hour of being short costs in {joined([*names[:MOST_NAMED], *more])}."
        )
    if total.unsized_jobs:
        notes.append(
            f"{counted(total.unsized_jobs, 'job')} never started, so nobody says for how many GPUs: in no GPU-hours and no cost."
        )
    if total.undated_jobs:
        notes.append(
            f"Of {counted(total.undated_jobs, 'job')} nobody said when they were submitted: how long they waited is not known."
        )
    return tuple(notes)


def _part_chart(rows: Sequence[WaitingRow]) -> LineChart | None:
    """The rows with the most GPU-hours by part; None where there are no two to compare."""
    most = sorted(rows, key=lambda row: -row.cost.milliseconds)[:MOST_BARS]
    bars = [
        PartedBar(
            row.of,
            tuple(
                part.milliseconds / HOUR_MS
                for part in (row.cost.for_capacity, row.cost.for_outages, row.cost.lost)
            ),
        )
        for row in most
        if row.cost.milliseconds
    ]
    if len(bars) < 2:
        return None
    return LineChart(
        name="waiting-figure",
        title=f"Most waited and lost: {most[0].of}, {gpu_hours(most[0].cost.milliseconds)} GPU-hours.",
        unit="GPU-hours",
        figure=_drawn(bars),
    )


def _drawn(bars: Sequence[PartedBar]) -> Json:
    def said(hours: float | None) -> str:
        return f"{gpu_hours(round((hours or 0) * HOUR_MS))} GPU-hours"

    return part_bars(bars, PARTS, said, lambda at: f"{at:,f}")


def _nothing_waited(question: WaitingQuery, within_words: str) -> EmptyState:
    longer = Link(
        "Show the last 90 days", question.reading.href(question.context.path, window="90d")
    )
    return EmptyState(
        title=f"Nothing waited, and nothing was out, {within_words}",
        sentence="Here is what it cost that jobs waited for GPUs, and that GPUs were out: by team, workload, pool and GPU model. "
        "It needs jobs with the time at which they were submitted, outages on record, and headroom policies that say what an hour of "
        "being short costs.",
        steps=(
            Step("There may be some in a longer period.", link=longer),
            step_for(
                "A policy says what waiting costs.",
                Link("Add a policy", reverse("add-headroom-policy")),
                "adds it",
                may=question.context.viewer.sees_everything,
                role=Role.FINANCE,
            ),
        ),
    )


urlpatterns = [
    path("headroom/waiting", waiting_page, name="waiting-costs"),
]
