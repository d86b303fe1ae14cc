"""The pages of budgets: all that one may see, and one month by month."""

from collections.abc import Sequence

from django.urls import path, reverse

from apps.accounts.queries import Role
from apps.accounts.queries.trail import changes as trail_changes
from apps.console.kit.chart import Figure, FigureRow, LineChart, figure_or_unknown
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.frame import EmptyState, Link
from apps.console.kit.gates import gate_list, gate_notes
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import EVERYONE, SEES_EVERYTHING, Context
from apps.console.pages.budgets import changes, words
from apps.console.pages.budgets.tables import (
    BUDGETS,
    OTHERS,
    approved_request_table,
    month_table,
)
from apps.console.pages.forecasts.tables import MADE
from apps.console.pages.managers import step_for
from apps.console.pages.people.trail import CHANGES
from apps.console.pages.placement.admissions import limit_href
from apps.placement.queries.admission_limits import BUDGET_LIMIT
from apps.planning.queries import budget_words
from apps.planning.queries.budget_costs import unpriced_calls
from apps.planning.queries.budget_figures import (
    BudgetFigures,
    BudgetMonth,
    figures_of,
    months_of,
)
from apps.planning.queries.budgets import (
    MONEY,
    ORGANISATION,
    PROJECT,
    RUNNING,
    TAG,
    UNITS,
    BudgetFact,
    budgets,
)
from apps.show.amounts import counted, per_cent
from apps.show.budget_bars import BudgetBar, budget_bars

EACH_FOR_ITSELF = "effective cost as charged, in {currency}; GPU-hours that jobs held; today with what it has so far"
SHORT_MONTH = "%b %Y"


@shown(EVERYONE, "budgets")
def budget_list(context: Context) -> ConsolePage:
    """Every budget that the viewer may see, those that run before the others."""
    budget_figures = figures_of(budgets(context.seen_teams), context.at)
    running = [figure for figure in budget_figures if figure.status == RUNNING]
    others = [figure for figure in budget_figures if figure.status != RUNNING]
    every_file = BUDGETS.file("budgets", context, lambda: budget_figures)
    running.sort(key=lambda figure: -(figure.expected_share or figure.share_used or 0))
    return ConsolePage(
        context=context,
        finding=words.list_finding(running, context.currency)
        if budget_figures
        else _none_words(context),
        under=(EACH_FOR_ITSELF.format(currency=context.currency),) if budget_figures else (),
        actions=(Link("Add a budget", reverse("add-budget")),) if _may_change(context) else (),
        sections=(
            FigureRow(_list_figures(running, context.currency)) if running else None,
            BUDGETS.section(running, context, csv=every_file, is_shown=bool(running)),
            OTHERS.section(others, context, csv=None if running else every_file)
            if others
            else None,
        ),
        empty=None if budget_figures else _no_budget(context),
    )


@shown(EVERYONE, "budgets")
def budget_page(context: Context, budget_id: int) -> ConsolePage:
    """One budget: what came, what is expected, month by month, and how it was changed."""
    every = budgets(context.seen_teams)
    fact = changes.budget_among(every, budget_id)
    (figures,) = figures_of([fact], context.at)
    months = months_of(figures, context.at)
    months_file = month_table(fact).file(f"budget-{fact.id}", context, lambda: months)
    overlap = words.overlap_of(fact, every)
    return ConsolePage(
        context=context,
        finding=words.finding_of(figures, context.currency),
        under=(f"{budget_words.scope_of(fact)}, {words.period_of(figures)}",),
        notes=(
            *words.unpriced_of(figures),
            *words.unpriced_calls_of(unpriced_calls(fact, figures.window)),
            *words.unpriced_requests_of(figures),
            *gate_notes(figures.rest.gates),
        ),
        back=Link("All budgets", reverse("budgets")),
        actions=_ways_to_change(context, fact),
        sections=(
            FigureRow(_key_figures(figures, context)),
            _month_chart(figures, months, months_file, context) if months else None,
            approved_request_table(fact).section(figures.requested.shares, context)
            if figures.requested.shares
            else None,
            gate_list(figures.rest.gates),
            MADE.section(
                _facts(figures, overlap, context), context, title="How it came to be", about=""
            ),
            CHANGES.section(
                trail_changes(kind="budget", of=fact.id), context, title="History", about="who set it, and to what"
            ),
        ),
        csv_files=(months_file,),
    )  # fmt: skip


def _may_change(context: Context) -> bool:
    return context.viewer.role in SEES_EVERYTHING


def _ways_to_change(context: Context, fact: BudgetFact) -> tuple[Link, ...]:
    if not _may_change(context):
        return ()
    limit_link = Link("Jobs that asked", limit_href(BUDGET_LIMIT, fact.id))
    return (
        Link("Change", reverse("change-budget", args=[fact.id])),
        Link("Remove", reverse("remove-budget", args=[fact.id])),
        *((limit_link,) if fact.scope != TAG else ()),
    )


def _list_figures(running: Sequence[BudgetFigures], currency: str) -> tuple[Figure, ...]:
    exceeded = [
        figure
        for figure in running
        if figure.spent.amount is not None and figure.spent.amount > figure.amount
    ]
    exceeding = [figure for figure in running if figure.is_exceeding]
    unknown = [figure for figure in running if figure.headroom is None]
    figures = [
        Figure("Running budgets", str(len(running)), "each held against its own period"),
        Figure("Exceeded, or will be", str(len(exceeding)), f"{len(exceeded)} exceeded already"),
    ]
    measurable = [figure for figure in running if figure.expected_share is not None]
    if measurable:
        most = max(measurable, key=lambda figure: figure.expected_share or 0)
        figures.append(
            Figure("Most used at its end", per_cent(most.expected_share), most.budget.name)
        )
    organisation_budget = next(
        (figure for figure in running if _is_organisation_money(figure)), None
    )
    if organisation_budget is not None:
        number = words.figure_amount(
            organisation_budget.budget, organisation_budget.headroom, currency
        )
        figures.append(
            figure_or_unknown(
                "Budget headroom of the organisation", number, organisation_budget.budget.name
            )
        )
    elif unknown:
        figures.append(Figure("Not known yet", str(len(unknown)), "too little history to say"))
    return tuple(figures)  # fmt: skip


def _is_organisation_money(figures: BudgetFigures) -> bool:
    return figures.budget.scope == ORGANISATION and figures.budget.measure == MONEY


def _key_figures(figures: BudgetFigures, context: Context) -> tuple[Figure, ...]:
    fact, currency = figures.budget, context.currency
    chance = budget_words.chance_of(figures)
    exceeded = "no interval: no chance to tell"
    if chance:
        exceeded = chance if chance == budget_words.EXCEEDED else f"chance of exceeding: {chance}"
    return (
        figure_or_unknown(
            "Budget", words.figure_amount(fact, figures.amount, currency), _unit_of(fact)
        ),
        figure_or_unknown(
            "So far",
            words.figure_amount(fact, figures.spent.amount, currency),
            words.progress_of(figures, currency),
        ),
        figure_or_unknown(
            "Rest expected",
            words.figure_amount(fact, figures.rest.expected, currency),
            words.method_of(figures.rest, context.zone),
        ),
        figure_or_unknown(
            "Budget headroom", words.figure_amount(fact, figures.headroom, currency), exceeded
        ),
    )


def _unit_of(fact: BudgetFact) -> str:
    unit = "" if fact.measure == MONEY else "GPU-hours, "
    return f"{unit}{words.life_of(fact)}"


def _facts(figures: BudgetFigures, overlap: str, context: Context) -> list[tuple[str, str]]:
    fact, remainder, currency = figures.budget, figures.rest, context.currency
    interval = remainder.interval
    commitments = (
        "not known of this scope: nobody says whose use a commitment will cover"
        if figures.commitments is None
        else f"{budget_words.amount(fact, figures.commitments, currency)} of the rest, owed whatever runs"
    )
    return [
        ("Counts", "effective cost as charged" if fact.measure == MONEY else "GPU-hours that jobs held"),
        ("Of", budget_words.scope_of(fact)),
        ("Holds", words.life_of(fact)),
        ("Enforcement", words.jobs_over(fact)),
        ("Rest from", words.method_of(remainder, context.zone)),
        *([("Its series", remainder.source)] if remainder.spans else []),
        *(
            [("Its 80 % interval", f"{budget_words.amount(fact, interval[0], currency)} to "
              f"{budget_words.amount(fact, interval[1], currency)}, of whole paths; of several series conservative (errors assumed correlated)")]
            if interval
            else []
        ),
        *([("Commitments", commitments)] if fact.measure == MONEY else []),
        ("Approved requests", words.requested_of(figures, currency)),
        *([("Overlaps", overlap)] if overlap else []),
        *([("Note", fact.note)] if fact.note else []),
    ]  # fmt: skip


def _month_chart(
    figures: BudgetFigures, months: Sequence[BudgetMonth], months_file: CsvFile, context: Context
) -> LineChart:
    fact, currency = figures.budget, context.currency
    unit = UNITS[fact.measure]
    sums = (
        "since its beginning, by the end of each month"
        if fact.recurrence == PROJECT
        else "by month"
    )
    until = "; the rest is that until its last day" if fact.recurrence == PROJECT else ""
    return LineChart(
        name="months",
        title=f"{fact.name} {sums}: what came, what is expected, and the budget",
        unit=f"{currency if fact.measure == MONEY else 'GPU-hours'}; {counted(len(months), 'month')}{until}",
        figure=budget_bars(
            [
                BudgetBar(
                    f"{month.month:{SHORT_MONTH}}",
                    month.amount / unit,
                    None if month.spent.amount is None else month.spent.amount / unit,
                    month.spent.provisional / unit,
                    None if month.rest is None else month.rest / unit,
                    (month.requested or 0) / unit,
                )
                for month in months
            ],
            lambda value: budget_words.amount(fact, round(value * unit), currency),
            lambda value: words.tick_amount(fact, value, currency),
        ),
        behind=month_table(fact).section(months, context),
        csv=months_file,
    )  # fmt: skip


def _none_words(context: Context) -> str:
    """Who sees a part of the organisation is not told that there is none."""
    return "No budget yet" if context.seen_teams is None else "No budget of your teams"


def _no_budget(context: Context) -> EmptyState:
    return EmptyState(
        title=_none_words(context),
        sentence="A budget says what a team, a workload, a tag or the whole organisation may spend, in money or "
        "in GPU-hours, each month or over a project’s life. Here it stands against what came, what is "
        "expected of the rest of its period, and how likely it is exceeded.",
        steps=(
            step_for(
                "The first one needs a name, whose costs it is for, and an amount.",
                Link("Add a budget", reverse("add-budget")),
                "adds it",
                may=_may_change(context),
                role=Role.FINANCE,
            ),
        ),
    )


urlpatterns = [
    path("budgets", budget_list, name="budgets"),
    *changes.CHANGES.urlpatterns,
    path("budgets/<int:budget_id>", budget_page, name="budget"),
]
