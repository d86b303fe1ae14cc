"""The pages of what-if plans: all of them, one by week and month, and two beside each other."""

from collections.abc import Callable
from urllib.parse import urlencode

from django.urls import path, reverse

from apps.console.kit.chart import Figure, FigureRow, LineChart, figure_or_unknown
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.gates import gate_list, gate_notes
from apps.console.kit.page import ConsolePage, FactList, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.pages.people.trail import CHANGES, FIELDS
from apps.console.pages.plans import changes, comparing, item_changes, words
from apps.console.pages.plans.tables import (
    ITEMS,
    MONTHS,
    PLANS,
    WEEKS,
    ListedItem,
)
from apps.economics.planned_work import PlanBand
from apps.planning.queries.plan_items import KINDS
from apps.planning.queries.plan_outcomes import PlanOutcome, plan_outcome
from apps.planning.queries.plans import PlanFact, plan_history, plans
from apps.show.amounts import counted
from apps.show.money import short_amount
from apps.show.week_lines import WeekLine, week_lines


@shown(SEES_EVERYTHING, "plans")
def plan_list(context: Context) -> ConsolePage:
    """Every plan with what it adds, what that costs and how long its work waits."""
    outcomes = _outcomes(context)
    return ConsolePage(
        context=context,
        finding=_list_finding(outcomes),
        under=("on the newest forecast, at the prices in force",) if outcomes else (),
        actions=(
            Link("Make a plan", reverse("make-plan")),
            *((Link("Compare plans", reverse("compare-plans")),) if len(outcomes) > 1 else ()),
        ),
        sections=(PLANS.section(outcomes, context, csv_name="plans"),),
        empty=None if outcomes else _no_plans(),
    )


@shown(SEES_EVERYTHING, "plans")
def plan_page(context: Context, plan_id: int) -> ConsolePage:
    """One plan: what is planned, week by week against what is owned or reserved, and by month."""
    outcome = _outcome(context, plan_id)
    plan, history = outcome.plan, plan_history(outcome.plan.id)
    return ConsolePage(
        context=context,
        finding=words.finding_of(outcome, context.currency),
        under=(
            f"{words.place_of(plan)}, {words.span_of(plan)}; owned by {plan.owner}",
            *([plan.description] if plan.description else []),
        ),
        notes=gate_notes(outcome.gates),
        back=Link("Back to plans", reverse("plans")),
        actions=_ways_to_change(plan),
        sections=(
            FigureRow(_key_figures(outcome, context)),
            FactList(
                [
                    ("Price", words.price_words(outcome, context.currency)),
                    ("Forecast", words.forecast_words(outcome)),
                    ("Uncertainty", words.certainty_words(outcome)),
                    ("Owned or reserved", words.committed_words(outcome)),
                ]
            ),
            gate_list(outcome.gates),
            _chart(outcome),
            ITEMS.section(_listed_items(outcome), context, csv_name="planned-work"),
            WEEKS.section(outcome.weeks, context, csv_name="plan-by-week"),
            MONTHS.section(outcome.months, context, csv_name="plan-by-month"),
            CHANGES.section(
                history,
                context,
                title="History",
                about="who changed the plan and what is planned in it, from what to what",
                csv=FIELDS.file(
                    "plan-history",
                    context,
                    lambda: [(change, field) for change in history for field in change.fields],
                ),
            ),
        ),
    )


def _ways_to_change(plan: PlanFact) -> tuple[Link, ...]:
    adding = (
        Link(f"Add a {kind_name}", reverse(f"add-planned-{kind}", args=[plan.id]))
        for kind, kind_name in KINDS.items()
    )
    compare_href = (
        f"{reverse('compare-plans')}?{urlencode({'one': plan.variant_of, 'other': plan.id})}"
    )
    return (
        *adding,
        *((Link("Compare with its original", compare_href),) if plan.variant_of else ()),
        Link("Change the plan", reverse("change-plan", args=[plan.id])),
        Link("Copy as a variant", reverse("copy-plan", args=[plan.id])),
        Link("Remove this plan", reverse("remove-plan", args=[plan.id])),
    )


def _outcomes(context: Context) -> list[PlanOutcome]:
    return [plan_outcome(plan, context.at) for plan in plans()]


def _outcome(context: Context, plan_id: int) -> PlanOutcome:
    return plan_outcome(changes.get_plan_or_404(plan_id), context.at)


def _list_finding(outcomes: list[PlanOutcome]) -> str:
    if not outcomes:
        return "Nothing is planned yet"
    late = [outcome for outcome in outcomes if outcome.longest_wait and outcome.longest_wait.likely]
    sentence = f"{counted(len(outcomes), 'plan')} kept"
    if late:
        return f"{sentence}; {len(late)} of them ask for more than is owned or reserved"
    return f"{sentence}; none is likely to ask for more than is owned or reserved"


def _key_figures(outcome: PlanOutcome, context: Context) -> tuple[Figure, ...]:
    totals, wait = outcome.whole, outcome.longest_wait

    def amount(micros: float) -> str:
        return short_amount(round(micros), context.currency)

    def figure(
        title: str, band: PlanBand | None, formatter: Callable[[float], str], note: str
    ) -> Figure:
        ends = words.band_text(band, formatter)
        return figure_or_unknown(
            title, None if band is None else formatter(band.likely), ends or note
        )

    return (
        figure("Planned", totals.planned, words.hours_text, "GPU-hours in its weeks"),
        figure("Planned work costs", totals.planned_cost, amount, "GPU-hours × price"),
        figure("With what is expected", totals.total_cost, amount, "forecast and plan"),
        figure(
            "Longest wait",
            wait,
            words.wait_text,
            "no forecast, or nothing owned or reserved"
            if wait is None or totals.above is None
            else f"{words.hours_text(totals.above.likely)} GPU-hours are above owned and reserved",
        ),
    )


def _chart(outcome: PlanOutcome) -> LineChart:
    weeks = outcome.weeks
    lines = [
        WeekLine(
            "Owned, reserved", [week.capacity for week in weeks], "var(--ink-3)", is_dashed=True
        ),
        WeekLine("Expected", [_likely(week.expected) for week in weeks], "var(--ink-2)"),
        WeekLine("With the plan", [_likely(week.total) for week in weeks], "var(--accent)"),
    ]
    totals = [week.total for week in weeks]
    if outcome.whole.total is None:
        lines[1:] = [WeekLine("Planned", [week.planned.likely for week in weeks], "var(--accent)")]
        totals = [week.planned for week in weeks]
    band = [
        (total.low, total.high)
        for total in totals
        if total is not None and total.low is not None and total.high is not None
    ]
    shaded = "; the band is the 80 % interval" if band else ""
    return LineChart(
        name="plan",
        title=f"{outcome.plan.name}: GPU-hours by week, expected and with the plan, against what is owned or reserved{shaded}",
        unit="GPU-hours a week",
        figure=week_lines(
            outcome.plan.first_day,
            lines,
            lambda hours: f"{words.hours_text(hours)} GPU-hours",
            words.hours_text,
            band,
        ),
    )


def _likely(band: PlanBand | None) -> float | None:
    return None if band is None else band.likely


def _listed_items(outcome: PlanOutcome) -> list[ListedItem]:
    plan = outcome.plan
    return [
        ListedItem(
            item,
            outcome.by_item.get(item.name),
            reverse("change-planned-item", args=[plan.id, item.id]),
            reverse("remove-planned-item", args=[plan.id, item.id]),
        )
        for item in plan.items
    ]


def _no_plans() -> EmptyState:
    return EmptyState(
        "Nothing is planned yet",
        "A plan adds trainings, launches and price changes to the forecast of a pool or GPU model: week by week what is "
        "asked for, what it costs, and what waits because it is above what is owned or reserved.",
        (Step("Make one.", link=Link("Make a plan", reverse("make-plan"))),),
    )


urlpatterns = [
    path("plans", plan_list, name="plans"),
    path("plans/new", changes.make_plan, name="make-plan"),
    *comparing.urlpatterns,
    path("plans/<int:plan_id>", plan_page, name="plan"),
    *(
        path(
            f"plans/<int:plan_id>/{kind}",
            item_changes.add_item,
            {"kind": kind},
            name=f"add-planned-{kind}",
        )
        for kind in KINDS
    ),
    path("plans/<int:plan_id>/change", changes.change_plan, name="change-plan"),
    path("plans/<int:plan_id>/copy", changes.copy_plan, name="copy-plan"),
    path("plans/<int:plan_id>/remove", changes.remove, name="remove-plan"),
    path(
        "plans/<int:plan_id>/items/<int:item_id>/change",
        item_changes.change_item,
        name="change-planned-item",
    ),
    path(
        "plans/<int:plan_id>/items/<int:item_id>/remove",
        item_changes.remove_item,
        name="remove-planned-item",
    ),
]
