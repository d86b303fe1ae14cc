"""Whether a team will stay within its budgets, and what it can do about what it costs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from django.urls import reverse

from apps.accounts.queries import Role
from apps.console.kit.cells import DAY, PROSE, WHOLE_MONEY
from apps.console.kit.chart import Figure, FigureRow, figure_or_unknown
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.frame import Choice, EmptyState, Link
from apps.console.kit.page import ConsolePage, Section, shown
from apps.console.kit.request import EVERYONE, SEES_EVERYTHING, Context
from apps.console.kit.table import Table
from apps.console.pages.budgets import words
from apps.console.pages.budgets.tables import BUDGETS
from apps.console.pages.costs.question import CostQuery, requested_cost_query
from apps.console.pages.managers import step_for
from apps.ledger.queries.calendar import local_day
from apps.planning.queries.budget_figures import BudgetFigures, figures_of
from apps.planning.queries.budgets import (
    ORGANISATION,
    RUNNING,
    SERVICE,
    TEAM,
    WORKLOAD,
    BudgetFact,
    budgets,
)
from apps.review.queries import finding_words
from apps.review.queries.alerts import ACKNOWLEDGED, OPEN, AlertsWanted, alerts
from apps.review.queries.findings import FindingsWanted, findings
from apps.review.queries.recommendations import open_recommendations
from apps.review.queries.verdicts import WAITING
from apps.show.amounts import counted
from apps.show.money import short_amount
from apps.tables.column import CURRENCY_COLUMN, Column
from apps.workloads import queries as workloads

LOOKED_BACK = timedelta(days=30)
MOST_ALERTS = 50
ABOVE = "none is of this team; its costs are a part of what these cover"
LOOKED_AT = "open alerts of its budgets and figures, anomalies of the last 30 days, and recommendations that are open or claimed"


@dataclass(frozen=True, slots=True)
class NextStep:
    """Something to look into or do; `micros` is what it is worth in a month, None where nobody knows."""

    kind: str
    what: str
    href: str
    since: date
    micros: int | None = None


STEPS = Table[NextStep](
    "next-steps",
    "What to do",
    (
        Column("what", "What", lambda step: step.what, PROSE, href=lambda step: step.href),
        Column("kind", "Kind", lambda step: step.kind),
        Column("worth", "Worth in a month", lambda step: step.micros, WHOLE_MONEY),
        CURRENCY_COLUMN,
        Column("since", "Since", lambda step: step.since, DAY),
    ),
    noun=("thing", "things"),
    about="{said}, those worth most first",
    sort="steps",
    default_sort="-worth",
)


def team_tabs(cost_query: CostQuery, team_id: int, chosen: str) -> tuple[Choice, ...]:
    """Return the tabs of a team: what it cost, and what comes of it."""
    tabs = {"costs-team": "Costs", "costs-team-outlook": "Budget and what to do"}
    return tuple(
        Choice(cost_query.down(name, team_id), text, name == chosen) for name, text in tabs.items()
    )


@shown(EVERYONE, "costs")
def outlook(context: Context, team_id: int) -> ConsolePage:
    """Its running budgets with what is expected of them, and what is open to be done."""
    cost_query = requested_cost_query(context)
    name = cost_query.team_name(team_id)
    running = _running_budgets(context, team_id)
    budgets_csv = BUDGETS.file(f"budgets of {name}", context, lambda: running)
    steps = _next_steps(context, team_id)
    return ConsolePage(
        context=context,
        finding=f"{name}: {_budget_words(running, context, team_id)}; {_steps_words(steps)}",
        under=(f"as of now, whatever the period; looked at: {LOOKED_AT}",),
        trail=(Link("Cost explorer", cost_query.down("costs")), *cost_query.team_link(team_id)),
        tabs=team_tabs(cost_query, team_id, "costs-team-outlook"),
        actions=(Link("Forecasts", reverse("forecasts")),),
        sections=(
            _key_figures(running, steps, context),
            _budget_section(running, budgets_csv, context, team_id),
            STEPS.section(
                steps, context, csv_name=f"what to do of {name}",
                empty=f"Nothing is open. Looked at: {LOOKED_AT}.",
            ),
        ),
        csv_files=(budgets_csv,),
    )  # fmt: skip


def _running_budgets(context: Context, team_id: int) -> list[BudgetFigures]:
    """Its own and of its workloads, and those of teams above it, as far as the viewer may see them, the most used first.

    Where it has none of its own, the organisation's too: it covers its costs.
    """
    today = local_day(context.at, context.organisation.zone)
    running = [
        budget for budget in budgets(context.seen_teams) if budget.status_on(today) == RUNNING
    ]
    has_own = any(_is_team_budget(budget, team_id) for budget in running)
    related = [
        budget
        for budget in running
        if _is_team_budget(budget, team_id)
        or team_id in budget.team_ids
        or (budget.scope == ORGANISATION and not has_own)
    ]
    figures = figures_of(related, context.at) if related else []
    return sorted(figures, key=lambda figure: -(figure.expected_share or figure.share_used or 0))


def _is_team_budget(budget: BudgetFact, team_id: int) -> bool:
    """Whether it is the team's or of its workloads, and not of a team above it or of the organisation."""
    if budget.scope == TEAM:
        return budget.key == str(team_id)
    if budget.scope in (WORKLOAD, SERVICE):
        workload = workloads.workloads().get(int(budget.key))
        return workload is not None and workload.team_id == team_id
    return False


def _next_steps(context: Context, team_id: int) -> list[NextStep]:
    """Of the team alone: alerts, anomalies and recommendations."""
    return [*_alert_steps(context, team_id), *_anomaly_steps(context, team_id), *_recommended_steps(context, team_id)]  # fmt: skip


def _alert_steps(context: Context, team_id: int) -> Iterator[NextStep]:
    wanted = AlertsWanted(frozenset({team_id}), states=(OPEN, ACKNOWLEDGED))
    zone = context.organisation.zone
    for alert in alerts(wanted, MOST_ALERTS):
        href = reverse("alert", args=[alert.id])
        yield NextStep("Alert", alert.title, href, local_day(alert.opened_at, zone))


def _anomaly_steps(context: Context, team_id: int) -> Iterator[NextStep]:
    since = context.calendar.today - LOOKED_BACK
    until = context.calendar.today + timedelta(days=1)
    named = workloads.workloads()
    wanted = FindingsWanted(frozenset({team_id}), since=since, until=until, states=WAITING)
    for finding in findings(wanted, context.at):
        if finding.is_worse:
            title = finding_words.title_of(finding, named[finding.workload_id].name)
            href = reverse("finding", args=[finding.id])
            yield NextStep("Anomaly", title, href, finding.changed_on, finding.impact_micros)


def _recommended_steps(context: Context, team_id: int) -> Iterator[NextStep]:
    for open_recommendation in open_recommendations(context.at, frozenset({team_id})):
        href = reverse("recommendation", args=[open_recommendation.id])
        yield NextStep(
            "Recommendation",
            open_recommendation.title,
            href,
            open_recommendation.first_week,
            open_recommendation.saving.likely,
        )


def _budget_words(running: Sequence[BudgetFigures], context: Context, team_id: int) -> str:
    """Return what comes of a team's budgets; where none is its own, of those above it that the viewer may see."""
    if not running:
        covers = "covers it" if context.seen_teams is None else "is of this team"
        return f"no budget {covers}, so nothing says what is too much"
    sentence = words.list_finding(running, context.currency)
    is_above = _are_above(running, team_id)
    return f"{'no budget is its own; above it ' if is_above else ''}{sentence[:1].lower()}{sentence[1:]}"


def _are_above(running: Sequence[BudgetFigures], team_id: int) -> bool:
    return not any(_is_team_budget(figure.budget, team_id) for figure in running)


def _steps_words(steps: Sequence[NextStep]) -> str:
    return f"{counted(len(steps), 'thing')} to do" if steps else "nothing is open to be done"


def _key_figures(
    running: Sequence[BudgetFigures], steps: Sequence[NextStep], context: Context
) -> FigureRow:
    """The budget that is nearest to its end, and what open steps are worth."""
    figures = []
    if running:
        most = running[0]
        left = words.figure_amount(most.budget, most.headroom, context.currency)
        figures.append(
            figure_or_unknown("Budget headroom", left, most.budget.name, href="#budgets")
        )
        spent = words.figure_amount(most.budget, most.spent.amount, context.currency)
        progress = words.progress_of(most, context.currency)
        figures.append(figure_or_unknown("So far", spent, progress, href="#budgets"))
    worth = [step.micros for step in steps if step.micros]
    figures.append(
        Figure(
            "Most to gain in a month",
            short_amount(max(worth), context.currency) if worth else "Nothing",
            f"largest of {counted(len(worth), 'thing')} with an amount; they overlap, and are not added"
            if worth
            else "no open thing has an amount",
            href="#next-steps",
        )
    )
    return FigureRow(tuple(figures))


def _budget_section(
    running: Sequence[BudgetFigures], file: CsvFile, context: Context, team_id: int
) -> Section:
    if running:
        is_above = _are_above(running, team_id)
        return BUDGETS.section(
            running,
            context,
            title="Budgets above it" if is_above else BUDGETS.title,
            about=ABOVE if is_above else BUDGETS.about,
            csv=file,
        )
    sees_all = context.seen_teams is None
    return EmptyState(
        f"No running budget {'covers' if sees_all else 'is of'} this team",
        "With one, its costs so far, the rest that is expected and the day on which it is exceeded stand here.",
        (
            step_for(
                "It needs a name, whose costs it is for, and an amount.",
                Link("Add a budget", reverse("add-budget")),
                "adds it",
                may=context.viewer.role in SEES_EVERYTHING,
                role=Role.FINANCE,
            ),
        ),
    )
