"""The Overview and its tables as CSV: parse the address, ask once, answer."""

from dataclasses import replace

from django.urls import path

from apps.accounts import queries as accounts
from apps.console.kit.cells import MONEY
from apps.console.kit.chart import Figure, FigureRow
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.filters import name_filter, period_filter
from apps.console.kit.frame import Filter
from apps.console.kit.page import ConsolePage, Include, SideBySide, files_page, shown
from apps.console.kit.periods import NO_SPAN_BEFORE, compared_span_label, span
from apps.console.kit.request import EVERYONE, Context
from apps.console.kit.table import Table
from apps.console.pages.costs.days import day_chart
from apps.console.pages.costs.figures import (
    active_figure,
    against_words,
    cost_figure,
    largest_parts,
    spark_of,
    together,
    unknown_figure,
)
from apps.console.pages.costs.question import CostPlace, CostQuery, requested_charged_cost_query
from apps.console.pages.costs.sums import SummedDays, Sums, summed_days, sums_of
from apps.console.pages.costs.tables import (
    CHANGE_COLUMNS,
    COST_COLUMN,
    NOTES,
    OWNER_KEYS,
    STRIP_COLUMN,
    CostRow,
    key_columns,
    name_column,
    same_column,
    time_columns,
)
from apps.console.pages.costs.words import under_words
from apps.console.pages.overview.empty import first_steps, no_team, nothing_charged
from apps.console.pages.overview.finding import finding
from apps.console.pages.overview.notices import amount_words, notices
from apps.console.pages.recommendations.related import to_do_section
from apps.fleet import queries as fleet
from apps.ledger.queries import OverviewFacts, States, overview_facts
from apps.ledger.queries.costs import least_sure
from apps.ledger.queries.cube.days import PeriodComparison
from apps.show.amounts import change, gpu_hours
from apps.show.money import short_amount
from apps.show.words import WASTE_WORDS
from apps.tables.column import CURRENCY_COLUMN, Column
from apps.unit_economics.queries.waste import Waste, WasteOfWindow, waste_of_window

REFRESH_SECONDS = 20
"""While a demo's earlier weeks are still being filled in."""


@shown(EVERYONE, "overview")
def overview(context: Context) -> ConsolePage:
    """The whole page, also where htmx wants a part: it takes out what it needs."""
    cost_query = requested_charged_cost_query(context)
    teams_csv, days_csv = _files_of(cost_query)
    if context.csv_table is not None:
        return files_page(context, teams_csv, days_csv, main=teams_csv.table)
    facts = _facts_of(cost_query)
    if not facts.daily.days:
        return _empty_page(cost_query, facts)
    summed = summed_days(facts.daily)
    sums = summed.whole
    waste = waste_of_window(cost_query.question, facts.daily.against)
    status, page_notices = least_sure(facts.known.statuses), notices(cost_query, facts)
    chart = day_chart(cost_query, CostPlace("overview"), facts.daily.days, days_csv)
    aloud = Include("overview/_not_known.html", page_notices) if page_notices else None
    return ConsolePage(
        context=context,
        finding=finding(cost_query, sums, waste.total),
        filters=_filter_bar(cost_query),
        problems=cost_query.problems,
        status=status,
        under=under_words(cost_query, facts.known),
        refresh_seconds=REFRESH_SECONDS if context.frame.filling else 0,
        sections=(
            FigureRow(_key_figures(cost_query, facts, summed, waste, status)),
            SideBySide([part for part in (chart, aloud) if part is not None], "cols"),
            _overview_table(cost_query, "Team", OWNER_KEYS).section(
                _team_rows(cost_query, facts, waste),
                context,
                about=f"cost of each team’s GPU time, by state; per GPU-hour is Cost ÷ GPU-hours;"
                f" {_compared_words(facts.daily.against)}",
                total=_total_row(facts, sums, waste),
                states=sums.states,
                csv=teams_csv,
            ),
            to_do_section(context),
        ),
    )


def _files_of(cost_query: CostQuery) -> tuple[CsvFile, CsvFile]:
    """By team, and the table behind the chart: a row for each day with a charge, a column for each state."""

    def days() -> list[CostRow]:
        days = _facts_of(cost_query).daily.days
        return [CostRow((day.isoformat(),), sums_of(states)) for day, states in days.items()]

    day_table = replace(
        _overview_table(cost_query, "Day", ("day",)), name="by-day", sort="", default_sort=""
    )
    return (
        _overview_table(cost_query, "Team", OWNER_KEYS).file(
            "costs by team",
            cost_query.context,
            lambda: _team_rows(cost_query, _facts_of(cost_query), WasteOfWindow()),
        ),
        day_table.file("costs by day", cost_query.context, days),
    )


def _facts_of(cost_query: CostQuery) -> OverviewFacts:
    every_team = {team.id: team for team in accounts.teams()}
    at, pools = cost_query.context.at, fleet.pools()
    return overview_facts(cost_query.question, at, pools, every_team, cost_query.comparison)


def _filter_bar(cost_query: CostQuery) -> tuple[Filter, ...]:
    teams = sorted(team.name for team in cost_query.teams.values())
    pools = [pool.name for pool in fleet.pools_by_name()]
    return (
        period_filter(cost_query.texts, cost_query.words),
        name_filter("team", "Team", teams, cost_query.texts),
        name_filter("pool", "Pool", pools, cost_query.texts),
        cost_query.compare_filter(),
        cost_query.basis_filter(),
    )


def _empty_page(cost_query: CostQuery, facts: OverviewFacts) -> ConsolePage:
    since = fleet.first_node_started_at()
    if not cost_query.context.viewer.team_ids:
        sentence, empty = "Nothing here is yours to see yet.", no_team()
    elif since is None:
        sentence, empty = "Nothing has cost anything yet.", first_steps(cost_query.context)
    else:
        sentence = finding(cost_query, None, Waste())
        empty = nothing_charged(cost_query, facts, since)
    is_asked = since is not None and bool(cost_query.context.viewer.team_ids)
    return ConsolePage(
        context=cost_query.context,
        finding=sentence,
        filters=_filter_bar(cost_query) if is_asked else (),
        problems=cost_query.problems if is_asked else (),
        empty=empty,
    )


def _key_figures(
    cost_query: CostQuery,
    facts: OverviewFacts,
    summed: SummedDays,
    waste: WasteOfWindow,
    status: str,
) -> tuple[Figure, ...]:
    """Each with its change against the same days before, and the rows that it sums."""

    def rows(sort: str) -> str:
        return f"{cost_query.href('overview', sort=sort)}#by-team"

    return (
        cost_figure("Spend", summed, cost_query.currency, status, rows("-cost")),
        active_figure("spend", summed, status, rows("-bought")),
        _waste_figure(cost_query, summed, waste, status, rows("-waste")),
        _unknown_figure(cost_query, facts, summed.whole, status),
    )


def _waste_figure(
    cost_query: CostQuery,
    summed: SummedDays,
    waste: WasteOfWindow,
    status: str,
    href: str,
) -> Figure:
    moved = ""
    if waste.compared is not None:
        now, before = (compared_waste.micros or 0 for compared_waste in waste.compared)
        moved = change(now, before)
    parts = {part.name.lower(): micros for part, micros in waste.total.parts.items() if micros}
    parts_text = largest_parts(parts, cost_query.currency, WASTE_WORDS) or "none is known"
    return Figure(
        "Waste",
        short_amount(
            waste.total.micros or 0 if summed.whole.total is not None else None, cost_query.currency
        ),
        together([against_words(summed.against) if moved else "", parts_text]),
        status,
        change=moved,
        sparkline=spark_of(
            summed.days,
            [
                None if sums.total is None else waste.days.get(day, Waste()).micros or 0
                for day, sums in summed.days.items()
            ],
            "Waste, day by day",
        ),
        tone="held_idle",
        href=href,
    )


def _unknown_figure(cost_query: CostQuery, facts: OverviewFacts, sums: Sums, status: str) -> Figure:
    parts = [
        (amount_words(part, short_amount, cost_query.currency), words)
        for part, words in ((facts.unobserved, "unobserved"), (facts.unowned, "without an owner"))
        if part.gpu_milliseconds or part.micros
    ]
    if sums.unpriced_milliseconds:
        parts.insert(0, (f"{gpu_hours(sums.unpriced_milliseconds)} GPU-hours", "without a price"))
    none = "all of it is priced, owned and observed"
    href = "#not-known" if parts else ""
    return unknown_figure(parts, none, status, href, "Not priced, observed or owned")


def _team_rows(cost_query: CostQuery, facts: OverviewFacts, waste: WasteOfWindow) -> list[CostRow]:
    """A row for each team with GPU time or cost."""
    teams = {team.id: team for team in accounts.teams()}
    rows = []
    for team_id, states in facts.teams.items():
        sums, team = sums_of(states), teams[team_id]
        wasted = waste.teams.get(team_id, Waste()).micros or 0
        rows.append(
            CostRow(
                (team.name, team.cost_centre),
                sums,
                team.name,
                cost_query.down("costs-team", team_id),
                NOTES.get(team.kind, ""),
                changed=facts.compared.get(team_id, (None, None)),
                waste_micros=None if sums.total is None else wasted,
            )
        )
    return sorted(rows, key=lambda row: row.name.casefold())


def _total_row(facts: OverviewFacts, sums: Sums, waste: WasteOfWindow) -> CostRow:
    against = facts.daily.against
    now, before = (
        (None, None)
        if against is None
        else (_total_of(against.now_states), _total_of(against.before_states))
    )
    wasted = None if sums.total is None else waste.total.micros or 0
    return CostRow(("", ""), sums, "Total", changed=(now, before), waste_micros=wasted)


def _total_of(states: States) -> int | None:
    """Where nothing was charged, nothing was spent; None is what has no price."""
    return sums_of(states).total if states else 0


def _compared_words(against: PeriodComparison | None) -> str:
    if against is None:
        return NO_SPAN_BEFORE
    return (
        f"change is from {compared_span_label(against.before, against.now)} to {span(against.now)}"
    )


def _overview_table(cost_query: CostQuery, first: str, keys: tuple[str, ...]) -> Table[CostRow]:
    return Table(
        name=f"by-{first.lower()}",
        title=f"By {first.lower()}",
        sort="sort",
        default_sort="-cost",
        per_page=200,
        columns=(
            name_column(first.lower(), first),
            *key_columns(keys),
            COST_COLUMN,
            Column("provisional", "", lambda row: row.sums.provisional_total, MONEY),
            CURRENCY_COLUMN,
            same_column("basis", str(cost_query.question.basis)),
            *CHANGE_COLUMNS,
            STRIP_COLUMN,
            Column(
                "waste", "Waste", lambda row: row.waste_micros, MONEY, csv="",
                href=lambda row: row.href,
            ),
            *time_columns(cost_query),
        ),
    )  # fmt: skip


urlpatterns = [
    path("", overview, name="overview"),
]
