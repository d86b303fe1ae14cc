"""The page of teams: cost, waste and units of their work, and how long it waited."""

from collections.abc import Mapping, Sequence

from django.http import QueryDict
from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.kit.chart import Figure
from apps.console.kit.filters import Reading, period_filter
from apps.console.kit.frame import EmptyState, Step
from apps.console.kit.periods import period_words, span
from apps.console.kit.request import Context
from apps.console.pages.listed import Asked, By, listed
from apps.console.pages.meters import Metered, MeterTable, meter_table
from apps.console.pages.overview.figures import NO_SPAN_BEFORE
from apps.console.pages.team_work.values import LeagueRow, TeamWorkPage, WaitRow, WorkRow
from apps.economics.money import sum_of_known
from apps.economics.waiting import WaitQuantile
from apps.ledger import queries as ledger
from apps.ledger.queries.comparison import compared_spans
from apps.ledger.queries.gpu_meters import meters_by
from apps.ledger.queries.league import League, league_of
from apps.ledger.queries.team_work import TeamWork, by_team, work_of_teams
from apps.ledger.queries.time_to_work import FirstWork, first_work, quantiles_of, waits_of
from apps.ledger.queries.waste import NOT_HELD, WastePart
from apps.show.amounts import change, counted, per_cent
from apps.show.money import short_amount, unit_cost, whole_amount
from apps.show.time import duration
from apps.show.waste_bars import Waste, waste_bars
from apps.workloads import queries as workloads

DEFAULTS = {"window": "30d"}
MOST_BARS = 10
NO_WORKLOAD = "No workload"
NOT_HELD_OR_NO_WORKLOAD = "Not held by a job, or no workload"
COLUMNS: Mapping[str, By[WorkRow]] = {
    "workload": By("Workload", lambda row: row.workload),
    "team": By("Team", lambda row: row.team),
    "cost": By("Cost", lambda row: row.work.micros, is_number=True),
    "change": By("Change", None, is_number=True),
    "active": By("Active", lambda row: row.work.active_ratio, is_number=True),
    "waste": By("Waste", lambda row: row.work.wasted_micros, is_number=True),
    "wasted": By("Share of cost", lambda row: row.work.wasted_ratio, is_number=True),
    "starved": By("Data wait", lambda row: row.work.starved_micros, is_number=True),
    "unit": By("Unit cost", None, is_number=True),
}


def asked_window(given: QueryDict, who: Context) -> tuple[ledger.Window, Reading]:
    """The window of the address, and what of it was not understood."""
    reading = Reading(given, DEFAULTS, {"window": "the last 30 days"})
    return reading.read("window", lambda text: ledger.window_of(text, who.calendar)), reading


def seen_teams(who: Context) -> frozenset[int] | None:
    """Whose work the viewer sees; None: everybody's."""
    return None if who.viewer.sees_everything else who.viewer.team_ids


def team_work_page(given: QueryDict, who: Context) -> TeamWorkPage:
    """What teams' work cost, what of it was waste, and how long it waited."""
    window, reading = asked_window(given, who)
    said = period_words(window, who.calendar.today)
    work = work_of_teams(window, seen_teams(who), who.at)
    began = first_work(window, seen_teams(who), who.at)
    league = league_of(window, who.viewer, who.at, work if who.viewer.sees_everything else None)
    asked = Asked(given, reverse("team-work"), part="table", noun=("workload", "workloads"))
    query = f"?window={reading.texts['window']}"
    currency = who.organisation.currency
    return TeamWorkPage(
        frame=who.frame,
        finding=_finding(by_team(work), said.within, currency),
        under=f"{said.days}, effective cost without shared-out idle, in {currency}; the parts of "
        "waste never overlap",
        currency=currency,
        filters=(period_filter(reading.texts, said),),
        problems=tuple(reading.problems),
        sort=asked.sort,
        figures=_figures(work, began, compared_spans(window, who.at), currency) if work else (),
        chart_title=_chart_title(league, currency),
        figure=_drawn(league, currency),
        league=league_rows(league),
        league_words=_league_words(league),
        work=listed(work_rows(work, currency), COLUMNS, asked),
        waits=wait_rows(began),
        csv_href=reverse("team-work-csv") + query,
        waste_href=reverse("team-work-waste") + query,
        waits_href=reverse("team-work-waits") + query,
        empty=None if work else _empty(said.within),
        meters=_meters(window, who),
    )


def _meters(window: ledger.Window, who: Context) -> MeterTable | None:
    """GPU utilization of what each workload of each team held."""
    facts, teams = workloads.workloads(), _team_names()
    chosen = ledger.CostFilter(window, team_ids=seen_teams(who))
    whole = meters_by(chosen, []).get(())
    if whole is None:
        return None
    rows = [
        Metered(
            f"{NO_WORKLOAD if workload_id is None else facts[workload_id].name} · {teams[team_id]}",
            meters,
            reverse("costs-team", args=[team_id])
            if workload_id is None
            else reverse("costs-workload", args=[workload_id]),
        )
        for (team_id, workload_id), meters in meters_by(chosen, ["team", "workload"]).items()
    ]
    return meter_table(rows, whole, "Workload")


def work_rows(work: Sequence[TeamWork], currency: str) -> list[WorkRow]:
    """Each workload of each team; what has none is a row of its own."""
    facts, teams = workloads.workloads(), _team_names()
    return [
        WorkRow(
            workload=_label(each) if each.workload_id is None else facts[each.workload_id].name,
            href=_href(each),
            team=teams[each.team_id],
            work=each,
            change=change(each.now_micros, each.before_micros),
            unit=unit_words(each, currency),
            **_parts(each),
        )
        for each in work
    ]


def _label(work: TeamWork) -> str:
    """Of what has no workload: whether some of it was not held by a job at all."""
    return NOT_HELD_OR_NO_WORKLOAD if work.wasted(*NOT_HELD) else NO_WORKLOAD


def league_rows(league: League) -> tuple[LeagueRow, ...]:
    """The ranks that the viewer may see."""
    teams = _team_names()
    return tuple(
        LeagueRow(each.place, teams[each.work.team_id], each.work, **_parts(each.work))
        for each in league.places
    )


def _parts(work: TeamWork) -> dict[str, int | None]:
    return {
        "failed_micros": work.wasted(WastePart.FAILED),
        "unasked_micros": work.wasted(WastePart.NO_REQUESTS),
        "idle_micros": work.wasted(WastePart.HELD_IDLE),
        "not_held_micros": work.wasted(*NOT_HELD),
    }


def wait_rows(began: Sequence[FirstWork]) -> tuple[WaitRow, ...]:
    """By workload, those that wait the longest first."""
    facts, teams = workloads.workloads(), _team_names()
    return tuple(
        WaitRow(
            workload=NO_WORKLOAD if each.workload_id is None else facts[each.workload_id].name,
            team="" if each.team_id is None else teams[each.team_id],
            waits=each,
            told_by=_told_by(each.told, each.count),
            median=within(each.median),
            ninth=within(each.ninth),
        )
        for each in waits_of(began)
    )


def unit_words(each: TeamWork, currency: str) -> str:
    """What its units cost, and of what."""
    if each.thousand_micros is not None:
        return f"{unit_cost(each.thousand_micros, currency)} for 1,000 requests"
    if each.million_micros is not None:
        return f"{unit_cost(each.million_micros, currency)} for 1 M tokens trained"
    return ""


def _team_names() -> dict[int, str]:
    return {team.id: team.name for team in accounts.teams()}


def _href(each: TeamWork) -> str:
    if each.workload_id is None:
        return reverse("costs-team", args=[each.team_id])
    return reverse("costs-workload", args=[each.workload_id])


def _told_by(told: int, count: int) -> str:
    if told == count:
        return "first step reported by its runs"
    seen = "first minute in which a GPU was active"
    return seen if not told else f"first step reported by {counted(told, 'run')}; else {seen}"


def _finding(teams: Sequence[TeamWork], within: str, currency: str) -> str:
    cost = sum_of_known(each.micros for each in teams)
    if cost is None:
        return f"No team’s work has a known cost {within}"
    wasted = sum_of_known(each.wasted_micros for each in teams)
    subject = "The team’s work" if len(teams) == 1 else f"The work of {counted(len(teams), 'team')}"
    said = f"{subject} cost {whole_amount(cost, currency)} {within}"
    if wasted is None or not cost:
        return f"{said}; what of it was waste is not known"
    if not wasted:
        return f"{said}; none of it is known to be waste"
    return f"{said}; {whole_amount(wasted, currency)} of it ({per_cent(wasted / cost)}) was waste"


def _figures(
    work: Sequence[TeamWork],
    began: Sequence[FirstWork],
    spans: tuple[ledger.Window, ledger.Window] | None,
    currency: str,
) -> tuple[Figure, ...]:
    cost = sum_of_known(each.micros for each in work)
    now = sum_of_known(each.now_micros for each in work)
    before = sum_of_known(each.before_micros for each in work)
    against = f"{span(spans[0])} against {span(spans[1])}" if spans else NO_SPAN_BEFORE
    wasted = sum_of_known(each.wasted_micros for each in work)
    observed = sum(each.observed_ms for each in work)
    active = sum(each.active_ms for each in work) / observed if observed else None
    status = "provisional" if any(each.is_provisional for each in work) else "estimated"
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
            "Active",
            "Unknown" if active is None else per_cent(active),
            "of the GPU time that was held and observed",
            status,
            is_unknown=active is None,
        ),
        Figure(
            "Waste",
            short_amount(wasted, currency),
            "failed or redone, no requests, idle while allocated, not held by a job",
            status,
            is_unknown=wasted is None,
        ),
        _wait(began),
    )


def within(found: WaitQuantile) -> str:
    """`12 min`, or `over 3 h` where it is not over yet."""
    return f"over {duration(found.length)}" if found.is_longer else duration(found.length)


def _wait(began: Sequence[FirstWork]) -> Figure:
    if not began:
        note = "no job reported when it was submitted"
        return Figure("Queue wait, p50", "Unknown", note, "", is_unknown=True)
    started, _, waiting, median, ninth = quantiles_of(began)
    note = f"until the first step, of {counted(started, 'run or job', 'runs and jobs')}"
    if waiting:
        note += f" and {waiting:,} still waiting"
    return Figure("Queue wait, p50", within(median), f"{note}; p90 {within(ninth)}", "")


def _chart_title(league: League, currency: str) -> str:
    most = max(league.places, key=lambda each: each.work.wasted_micros or 0, default=None)
    if most is None:
        return "Waste is not known of any team."
    name = _team_names()[most.work.team_id]
    return f"Most waste: {name}, {whole_amount(most.work.wasted_micros, currency)}."


def _drawn(league: League, currency: str) -> Mapping[str, object] | None:
    teams = _team_names()
    most_waste = sorted(league.places, key=lambda each: -(each.work.wasted_micros or 0))[:MOST_BARS]
    shown = [
        Waste(
            teams[each.work.team_id],
            tuple(_parts(each.work).values()),
        )
        for each in most_waste
        if each.work.wasted_micros
    ]
    return waste_bars(shown, currency) if shown else None


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


def _empty(within: str) -> EmptyState:
    return EmptyState(
        title=f"No team’s work cost anything {within}",
        sentence="Each team is here with its workloads: what they cost, what of that "
        "was waste, and how long work waits in the queue. It is filled by "
        "jobs and their owners.",
        steps=(
            Step(
                "Add an ownership rule, which says which jobs are whose:",
                command=".venv/bin/python manage.py add_rule --help",
            ),
        ),
    )
