"""Teams: cost, waste and units of their work, and how long it waited; with their CSV."""

from collections.abc import Mapping, Sequence

from django.urls import path, reverse

from apps.accounts import queries as accounts
from apps.console.kit.chart import UNKNOWN_NUMBER, Figure, FigureRow, LineChart
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.filters import (
    Reading,
    compare_filter,
    period_filter,
    requested_comparison,
    requested_window,
)
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, files_page, shown
from apps.console.kit.periods import NO_SPAN_BEFORE, compared_span_label, period_words, span
from apps.console.kit.request import EVERYONE, Context
from apps.console.kit.table import TableSection
from apps.console.pages.managers import step_for
from apps.console.pages.meters import Metered, meter_section
from apps.console.pages.team_work.tables import (
    LEAGUE,
    WAITS,
    WORK,
    WaitRow,
    WorkRow,
    waste_parts,
    within,
)
from apps.economics.gpu_meters import meters_together
from apps.economics.money import sum_of_known
from apps.ledger import queries as ledger
from apps.ledger.queries.comparison import Comparison, compared_spans
from apps.ledger.queries.cube import CubeQuestion
from apps.ledger.queries.gpu_meters import meters_by
from apps.show.amounts import change, counted, per_cent
from apps.show.money import rounded_amount, short_amount
from apps.show.waste_bars import WasteParts, waste_bars
from apps.unit_economics.queries.league import League, league_of
from apps.unit_economics.queries.team_work import TeamWork, by_team, work_of_teams
from apps.unit_economics.queries.time_to_work import FirstWork, first_work, quantiles_of, waits_of
from apps.unit_economics.queries.waste import NOT_HELD
from apps.workloads import queries as workloads

MOST_BARS = 10
NO_WORKLOAD = "No workload"
NOT_HELD_OR_NO_WORKLOAD = "Not held by a job, or no workload"


class WorkNames:
    """Teams and workloads by id, read once for a page."""

    def __init__(self) -> None:
        self.teams: Mapping[int, str] = {team.id: team.name for team in accounts.teams()}
        self._workloads = workloads.workloads()

    def workload(self, workload_id: int | None) -> str:
        """Its name; words for work without one."""
        return NO_WORKLOAD if workload_id is None else self._workloads[workload_id].name


@shown(EVERYONE, "team-work")
def team_work(context: Context) -> ConsolePage:
    """Show what teams' work cost, what of it was waste, and how long it waited."""
    window, reading = requested_window(context)
    comparison = requested_comparison(reading, context)
    period, names = period_words(window, context.calendar.today), WorkNames()
    work_csv, waste_csv, waits_csv = _files_of(context, window, comparison)
    if context.csv_table is not None:
        return files_page(context, work_csv, waste_csv, waits_csv, main=WORK.name)
    everybody = work_of_teams(window, None, context.at, comparison)
    work = [row for row in everybody if context.viewer.sees_team(row.team_id)]
    began = first_work(window, context.seen_teams, context.at)
    league = league_of(window, context.viewer, context.at, everybody)
    currency, spans = context.currency, compared_spans(window, context.at, comparison)
    ranked, meters = _ranked_teams(league, names), _utilization_meters(window, names, context)
    return ConsolePage(
        context=context,
        finding=_work_finding(by_team(work), period.within, currency),
        status=_status_of(work) if work else "",
        under=(
            f"{period.days}, effective cost without shared-out idle, in {currency}; the parts of "
            "waste never overlap",
        ),
        filters=(
            period_filter(reading.texts, period),
            compare_filter(comparison.text, comparison.own),
        ),
        problems=tuple(reading.problems),
        sections=(
            FigureRow(_key_metrics(work, began, spans, currency)),
            _waste_chart(ranked, currency),
            LEAGUE.section(
                ranked,
                context,
                about=f"{_league_words(league)}; the parts add up to the waste; data wait is "
                "overhead, and not part of it",
                csv=waste_csv,
            ),
            WORK.section(_work_rows(work, names, currency), context, csv=work_csv),
            meters,
            WAITS.section(_wait_rows(began, names), context, csv=waits_csv),
        ),
        empty=None if work else _no_work(period.within, reading, context),
    )


def _files_of(
    context: Context, window: ledger.Window, comparison: Comparison
) -> tuple[CsvFile, CsvFile, CsvFile]:
    """Every workload of the teams that the viewer sees, the ranking by waste, and how long work waited."""
    at, names = context.at, WorkNames()

    def work() -> list[WorkRow]:
        of_teams = work_of_teams(window, context.seen_teams, at, comparison)
        return _work_rows(of_teams, names, context.currency)

    return (
        WORK.file("team-work", context, work),
        LEAGUE.file(
            "team-work-waste",
            context,
            lambda: _ranked_teams(league_of(window, context.viewer, at), names),
        ),
        WAITS.file(
            "team-work-waits",
            context,
            lambda: _wait_rows(first_work(window, context.seen_teams, at), names),
        ),
    )


def _utilization_meters(
    window: ledger.Window, names: WorkNames, context: Context
) -> TableSection | None:
    """GPU utilization of what each workload of each team held."""
    question = CubeQuestion(window, team_ids=context.seen_teams)
    rows = [
        Metered(
            names.workload(workload_id),
            meters,
            reverse("costs-team", args=[team_id])
            if workload_id is None
            else reverse("costs-workload", args=[workload_id]),
            names.teams[team_id],
        )
        for (team_id, workload_id), meters in meters_by(question.by("team", "workload")).items()
    ]
    total = meters_together(row.meters for row in rows)
    return meter_section(rows, total, "Workload", context)


def _work_rows(work: Sequence[TeamWork], names: WorkNames, currency: str) -> list[WorkRow]:
    """Each workload of each team; what has none is a row of its own."""
    return [
        WorkRow(row, names.teams[row.team_id], _workload_label(row, names), currency)
        for row in work
    ]


def _workload_label(work: TeamWork, names: WorkNames) -> str:
    """Of what has no workload: whether some of it was not held by a job at all."""
    if work.workload_id is None and work.wasted(*NOT_HELD):
        return NOT_HELD_OR_NO_WORKLOAD
    return names.workload(work.workload_id)


def _ranked_teams(league: League, names: WorkNames) -> list[WorkRow]:
    """The ranks that the viewer may see."""
    return [
        WorkRow(place.work, names.teams[place.work.team_id], place=place.place)
        for place in league.places
    ]


def _wait_rows(began: Sequence[FirstWork], names: WorkNames) -> list[WaitRow]:
    """By workload, those that wait the longest first."""
    return [
        WaitRow(
            wait,
            names.workload(wait.workload_id),
            "" if wait.team_id is None else names.teams[wait.team_id],
        )
        for wait in waits_of(began)
    ]


def _work_finding(teams: Sequence[TeamWork], within: str, currency: str) -> str:
    cost = sum_of_known(team.micros for team in teams)
    if cost is None:
        return f"No team’s work has a known cost {within}"
    wasted = sum_of_known(team.wasted_micros for team in teams)
    subject = "The team’s work" if len(teams) == 1 else f"The work of {counted(len(teams), 'team')}"
    sentence = f"{subject} cost {rounded_amount(cost, currency)} {within}"
    if wasted is None or not cost:
        return f"{sentence}; what of it was waste is not known"
    if not wasted:
        return f"{sentence}; none of it is known to be waste"
    return f"{sentence}; {rounded_amount(wasted, currency)} of it ({per_cent(wasted / cost)}) was waste"


def _key_metrics(
    work: Sequence[TeamWork],
    began: Sequence[FirstWork],
    spans: tuple[ledger.Window, ledger.Window] | None,
    currency: str,
) -> tuple[Figure, ...]:
    cost = sum_of_known(row.micros for row in work)
    now = sum_of_known(row.now_micros for row in work)
    before = sum_of_known(row.before_micros for row in work)
    against = (
        f"{span(spans[0])} against {compared_span_label(spans[1], spans[0])}"
        if spans
        else NO_SPAN_BEFORE
    )
    wasted = sum_of_known(row.wasted_micros for row in work)
    observed = sum(row.observed_ms for row in work)
    active = sum(row.active_ms for row in work) / observed if observed else None
    status = _status_of(work)
    return (
        Figure(
            "Cost",
            short_amount(cost, currency),
            against,
            status,
            change="" if now is None or before is None else change(now, before),
            is_unknown=cost is None,
        ),
        Figure(
            "Active share of held time",
            UNKNOWN_NUMBER if active is None else per_cent(active),
            "a kernel was resident, of the GPU time that was observed",
            status,
            is_unknown=active is None,
        ),
        Figure(
            "Waste",
            short_amount(wasted, currency),
            "failed or redone, no requests, otherwise idle while allocated, not held by a job",
            status,
            is_unknown=wasted is None,
        ),
        _queue_wait(began),
    )


def _status_of(work: Sequence[TeamWork]) -> str:
    return "provisional" if any(row.is_provisional for row in work) else "estimated"


def _queue_wait(began: Sequence[FirstWork]) -> Figure:
    if not began:
        note = "no job reported when it was submitted"
        return Figure("Queue wait, p50", UNKNOWN_NUMBER, note, "", is_unknown=True)
    started, _, waiting, median, ninth = quantiles_of(began)
    note = f"until the first step, of {counted(started, 'run or job', 'runs and jobs')}"
    if waiting:
        note += f" and {waiting:,} still waiting"
    return Figure("Queue wait, p50", within(median), f"{note}; p90 {within(ninth)}", "")


def _waste_chart(ranked: Sequence[WorkRow], currency: str) -> LineChart | None:
    """The teams with the most waste, by its parts; None where there are no two to compare."""
    wasting = sorted(ranked, key=lambda row: -(row.work.wasted_micros or 0))[:MOST_BARS]
    bars = [
        WasteParts(row.team, waste_parts(row.work)) for row in wasting if row.work.wasted_micros
    ]
    if len(bars) < 2:
        return None
    most = wasting[0]
    return LineChart(
        name="waste-figure",
        title=f"Most waste: {most.team}, {rounded_amount(most.work.wasted_micros, currency)}.",
        unit=f"waste by its parts, in {currency}",
        figure=waste_bars(bars, currency),
    )


def _league_words(league: League) -> str:
    usual = (
        ""
        if league.median_ratio is None
        else f"; half of them {per_cent(league.median_ratio)} or less"
    )
    if league.is_published:
        return f"{counted(league.teams, 'team')}, ranked by the share of cost that was waste{usual}"
    return (
        f"your rank among {counted(league.teams, 'team')}, ranked by the share of cost that was waste{usual}; "
        "the others are shown where the organisation publishes them"
    )


def _no_work(within: str, reading: Reading, context: Context) -> EmptyState:
    longer = Link("Show the last 365 days", reading.href(context.path, window="365d"))
    return EmptyState(
        title=f"No team’s work cost anything {within}",
        sentence="Each team is here with its workloads: what they cost, what of that "
        "was waste, and how long work waits in the queue. It waits for jobs that are charged and "
        "have an owner.",
        steps=(
            Step("There may be work in a longer period.", link=longer),
            step_for(
                "A rule says which jobs are whose.",
                Link("Write a rule", reverse("new-rule")),
                "writes it",
                may=context.viewer.may_manage,
            ),
        ),
    )


urlpatterns = [
    path("team-work", team_work, name="team-work"),
]
