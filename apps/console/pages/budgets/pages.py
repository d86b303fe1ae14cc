"""The pages of budgets: all that one may see, and one month by month."""

from collections.abc import Sequence

from django.http import HttpResponse
from django.urls import path, reverse

from apps.accounts.queries import Role
from apps.accounts.queries.trail import changes as trail_changes
from apps.console.kit.chart import Figure, FigureRow, LineChart, known_figure
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
    found = figures_of(budgets(context.seen_teams), context.at)
    running = [each for each in found if each.status == RUNNING]
    others = [each for each in found if each.status != RUNNING]
    running.sort(key=lambda each: -(each.expected_share or each.share_used or 0))
    csv_href = reverse("budgets-csv")
    return ConsolePage(
        context=context,
        finding=words.list_finding(running, context.currency) if found else _none_words(context),
        under=(EACH_FOR_ITSELF.format(currency=context.currency),) if found else (),
        actions=(Link("Add a budget", reverse("add-budget")),) if _may_change(context) else (),
        sections=(
            FigureRow(_list_figures(running, context.currency)) if running else None,
            BUDGETS.section(running, context, csv_href=csv_href) if running else None,
            OTHERS.section(others, context, csv_href="" if running else csv_href)
            if others
            else None,
        ),
        empty=None if found else _no_budget(context),
    )


@shown(EVERYONE, "budgets")
def budget_list_csv(context: Context) -> HttpResponse:
    """The same as a table."""
    return BUDGETS.csv(figures_of(budgets(context.seen_teams), context.at), context, "budgets")


@shown(EVERYONE, "budgets")
def budget_page(context: Context, budget_id: int) -> ConsolePage:
    """One budget: what came, what is expected, month by month, and how it was changed."""
    every = budgets(context.seen_teams)
    fact = changes.budget_among(every, budget_id)
    (found,) = figures_of([fact], context.at)
    months = months_of(found, context.at)
    overlap = words.overlap_of(fact, every)
    return ConsolePage(
        context=context,
        finding=words.finding_of(found, context.currency),
        under=(f"{budget_words.scope_of(fact)}, {words.period_of(found)}",),
        notes=(
            *words.unpriced_of(found),
            *words.unpriced_calls_of(unpriced_calls(fact, found.window)),
            *words.unpriced_requests_of(found),
            *gate_notes(found.rest.gates),
        ),
        back=Link("All budgets", reverse("budgets")),
        actions=_ways_to_change(context, fact),
        sections=(
            FigureRow(_key_figures(found, context)),
            _month_chart(found, months, context) if months else None,
            approved_request_table(fact).section(found.requested.shares, context)
            if found.requested.shares
            else None,
            gate_list(found.rest.gates),
            MADE.section(
                _facts(found, overlap, context), context, title="How it came to be", about=""
            ),
            CHANGES.section(
                trail_changes(kind="budget", of=fact.id), context, title="History", about="who set it, and to what"
            ),
        ),
    )  # fmt: skip


@shown(EVERYONE, "budgets")
def budget_csv(context: Context, budget_id: int) -> HttpResponse:
    """The months of one budget."""
    fact = changes.known_budget(context, budget_id)
    (found,) = figures_of([fact], context.at)
    return month_table(fact).csv(months_of(found, context.at), context, f"budget-{fact.id}")


def _may_change(context: Context) -> bool:
    return context.viewer.role in SEES_EVERYTHING


def _ways_to_change(context: Context, fact: BudgetFact) -> tuple[Link, ...]:
    if not _may_change(context):
        return ()
    asked = Link("Jobs that asked", limit_href(BUDGET_LIMIT, fact.id))
    return (
        Link("Change", reverse("change-budget", args=[fact.id])),
        Link("Remove", reverse("remove-budget", args=[fact.id])),
        *((asked,) if fact.scope != TAG else ()),
    )


def _list_figures(running: Sequence[BudgetFigures], currency: str) -> tuple[Figure, ...]:
    exceeded = [
        each
        for each in running
        if each.spent.amount is not None and each.spent.amount > each.amount
    ]
    exceeding = [each for each in running if each.is_exceeding]
    unknown = [each for each in running if each.headroom is None]
    figures = [
        Figure("Running budgets", str(len(running)), "each held against its own period"),
        Figure("Exceeded, or will be", str(len(exceeding)), f"{len(exceeded)} exceeded already"),
    ]
    known = [each for each in running if each.expected_share is not None]
    if known:
        most = max(known, key=lambda each: each.expected_share or 0)
        figures.append(
            Figure("Most used at its end", per_cent(most.expected_share), most.budget.name)
        )
    whole = next((each for each in running if _is_whole_money(each)), None)
    if whole is not None:
        number = words.figure_amount(whole.budget, whole.headroom, currency)
        figures.append(
            known_figure("Budget headroom of the organisation", number, whole.budget.name)
        )
    elif unknown:
        figures.append(Figure("Not known yet", str(len(unknown)), "too little history to say"))
    return tuple(figures)  # fmt: skip


def _is_whole_money(each: BudgetFigures) -> bool:
    return each.budget.scope == ORGANISATION and each.budget.measure == MONEY


def _key_figures(found: BudgetFigures, context: Context) -> tuple[Figure, ...]:
    fact, currency = found.budget, context.currency
    chance = budget_words.chance_of(found)
    exceeded = "no interval: no chance to tell"
    if chance:
        exceeded = chance if chance == budget_words.EXCEEDED else f"chance of exceeding: {chance}"
    return (
        known_figure("Budget", words.figure_amount(fact, found.amount, currency), _unit_of(fact)),
        known_figure(
            "So far",
            words.figure_amount(fact, found.spent.amount, currency),
            words.progress_of(found, currency),
        ),
        known_figure(
            "Rest expected",
            words.figure_amount(fact, found.rest.expected, currency),
            words.method_of(found.rest, context.zone),
        ),
        known_figure(
            "Budget headroom", words.figure_amount(fact, found.headroom, currency), exceeded
        ),
    )


def _unit_of(fact: BudgetFact) -> str:
    unit = "" if fact.measure == MONEY else "GPU-hours, "
    return f"{unit}{words.life_of(fact)}"


def _facts(found: BudgetFigures, overlap: str, context: Context) -> list[tuple[str, str]]:
    fact, rest, currency = found.budget, found.rest, context.currency
    interval = rest.interval
    commitments = (
        "not known of this scope: nobody says whose use a commitment will cover"
        if found.commitments is None
        else f"{budget_words.amount(fact, found.commitments, currency)} of the rest, owed whatever runs"
    )
    return [
        ("Counts", "effective cost as charged" if fact.measure == MONEY else "GPU-hours that jobs held"),
        ("Of", budget_words.scope_of(fact)),
        ("Holds", words.life_of(fact)),
        ("Enforcement", words.jobs_over(fact)),
        ("Rest from", words.method_of(rest, context.zone)),
        *([("Its series", rest.source)] if rest.spans else []),
        *(
            [("Its 80 % interval", f"{budget_words.amount(fact, interval[0], currency)} to "
              f"{budget_words.amount(fact, interval[1], currency)}, of whole paths; of several series conservative (errors assumed correlated)")]
            if interval
            else []
        ),
        *([("Commitments", commitments)] if fact.measure == MONEY else []),
        ("Approved requests", words.requested_of(found, currency)),
        *([("Overlaps", overlap)] if overlap else []),
        *([("Note", fact.note)] if fact.note else []),
    ]  # fmt: skip


def _month_chart(
    found: BudgetFigures, months: Sequence[BudgetMonth], context: Context
) -> LineChart:
    fact, currency = found.budget, context.currency
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
                    f"{each.month:{SHORT_MONTH}}",
                    each.amount / unit,
                    None if each.spent.amount is None else each.spent.amount / unit,
                    each.spent.provisional / unit,
                    None if each.rest is None else each.rest / unit,
                    (each.requested or 0) / unit,
                )
                for each in months
            ],
            lambda value: budget_words.amount(fact, round(value * unit), currency),
            lambda value: words.tick_amount(fact, value, currency),
        ),
        behind=month_table(fact).section(months, context),
        csv_href=reverse("budget-csv", args=[fact.id]),
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
    path("budgets.csv", budget_list_csv, name="budgets-csv"),
    path("budgets/new", changes.add_budget, name="add-budget"),
    path("budgets/<int:budget_id>", budget_page, name="budget"),
    path("budgets/<int:budget_id>.csv", budget_csv, name="budget-csv"),
    path("budgets/<int:budget_id>/change", changes.change_budget, name="change-budget"),
    path("budgets/<int:budget_id>/remove", changes.remove_budget, name="remove-budget"),
]
