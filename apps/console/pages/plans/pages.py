"""The pages of what-if plans: all of them, one by week and month, and two beside each other."""

from typing import Any

from django.http import HttpResponse
from django.urls import path, reverse

from apps.console.kit.chart import FigureRow, LineChart, known_figure
from apps.console.kit.filters import filter_of
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, FactList, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.pages.people.trail import CHANGES, FIELDS
from apps.console.pages.plans import changes, item_changes, words
from apps.console.pages.plans.tables import (
    COMPARED,
    ITEMS,
    MONTHS,
    PLANS,
    WEEKS,
    ComparedWeek,
    ListedItem,
)
from apps.planning.queries.plan_items import KINDS
from apps.planning.queries.plans import PlanFact, PlanOutcome, plan_history, plan_outcome, plans
from apps.show.amounts import counted
from apps.show.money import short_amount, signed_amount
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
            *((Link("Compare two", reverse("compare-plans")),) if len(outcomes) > 1 else ()),
        ),
        sections=(PLANS.section(outcomes, context, csv_href=reverse("plans-csv")),),
        empty=None if outcomes else _no_plans(),
    )


@shown(SEES_EVERYTHING, "plans")
def plan_list_csv(context: Context) -> HttpResponse:
    """The same as a table."""
    return PLANS.csv(_outcomes(context), context, "plans")


@shown(SEES_EVERYTHING, "plans")
def plan_page(context: Context, plan_id: int) -> ConsolePage:
    """One plan: what is planned, week by week against what is owned or reserved, and by month."""
    outcome = _outcome(context, plan_id)
    plan = outcome.plan
    return ConsolePage(
        context=context,
        finding=words.finding_of(outcome, context.currency),
        under=(
            f"{words.place_of(plan)}, {words.span_of(plan)}; owned by {plan.owner}",
            *([plan.description] if plan.description else []),
        ),
        back=Link("Back to plans", reverse("plans")),
        actions=_ways_to_change(plan),
        sections=(
            FigureRow(_key_figures(outcome, context)),
            FactList(
                [
                    ("Price", words.price_words(outcome, context.currency)),
                    ("Forecast", words.forecast_words(outcome, context.zone)),
                    (
                        "Owned or reserved",
                        f"{counted(outcome.committed_gpus, 'GPU')}: {words.hours_text(outcome.committed_hours)} "
                        "GPU-hours a week",
                    ),
                ]
            ),
            _chart(outcome),
            ITEMS.section(
                _listed_items(outcome), context, csv_href=reverse("plan-items-csv", args=[plan.id])
            ),
            WEEKS.section(
                outcome.weeks, context, csv_href=reverse("plan-weeks-csv", args=[plan.id])
            ),
            MONTHS.section(
                outcome.months, context, csv_href=reverse("plan-months-csv", args=[plan.id])
            ),
            CHANGES.section(
                plan_history(plan.id),
                context,
                title="History",
                about="who changed the plan and what is planned in it, from what to what",
                csv_href=reverse("plan-history-csv", args=[plan.id]),
            ),
        ),
    )


@shown(SEES_EVERYTHING, "plans")
def plan_items_csv(context: Context, plan_id: int) -> HttpResponse:
    """What is planned."""
    return ITEMS.csv(_listed_items(_outcome(context, plan_id)), context, "planned-work")


@shown(SEES_EVERYTHING, "plans")
def plan_weeks_csv(context: Context, plan_id: int) -> HttpResponse:
    """Every week."""
    return WEEKS.csv(_outcome(context, plan_id).weeks, context, "plan-by-week")


@shown(SEES_EVERYTHING, "plans")
def plan_months_csv(context: Context, plan_id: int) -> HttpResponse:
    """Costs by month."""
    return MONTHS.csv(_outcome(context, plan_id).months, context, "plan-by-month")


@shown(SEES_EVERYTHING, "plans")
def plan_history_csv(context: Context, plan_id: int) -> HttpResponse:
    """A row for each field that changed."""
    changed = plan_history(changes.known_plan(plan_id).id)
    return FIELDS.csv(
        [(change, field) for change in changed for field in change.fields], context, "plan-history"
    )


@shown(SEES_EVERYTHING, "plans", carries=False)
def compare_plans(context: Context) -> ConsolePage:
    """Two plans week by week: what each asks for and costs, and the difference."""
    pair = _asked_pair(context)
    back = Link("Back to plans", reverse("plans"))
    if pair is None:
        return ConsolePage(
            context=context,
            finding="There are no two plans to compare",
            back=back,
            empty=_no_plans(),
        )
    known = {str(plan.id): plan.name for plan in plans()}
    texts = {
        name: str(outcome.plan.id) for name, outcome in zip(("one", "other"), pair, strict=True)
    }
    return ConsolePage(
        context=context,
        finding=_compared_finding(pair, context),
        back=back,
        filters=(
            filter_of("one", "First", known, texts),
            filter_of("other", "Second", known, texts),
        ),
        sections=(
            COMPARED.section(
                _compared_weeks(*pair), context, csv_href=reverse("compare-plans-csv")
            ),
        ),
    )


@shown(SEES_EVERYTHING, "plans", carries=False)
def compare_plans_csv(context: Context) -> HttpResponse:
    """The same as a table."""
    pair = _asked_pair(context)
    return COMPARED.csv([] if pair is None else _compared_weeks(*pair), context, "two-plans")


def _ways_to_change(plan: PlanFact) -> tuple[Link, ...]:
    adding = (
        Link(f"Add a {said}", reverse(f"add-planned-{kind}", args=[plan.id]))
        for kind, said in KINDS.items()
    )
    return (
        *adding,
        Link("Change the plan", reverse("change-plan", args=[plan.id])),
        Link("Copy as a variant", reverse("copy-plan", args=[plan.id])),
        Link("Remove this plan", reverse("remove-plan", args=[plan.id])),
    )


def _outcomes(context: Context) -> list[PlanOutcome]:
    return [plan_outcome(plan, context.at) for plan in plans()]


def _outcome(context: Context, plan_id: int) -> PlanOutcome:
    return plan_outcome(changes.known_plan(plan_id), context.at)


def _list_finding(outcomes: list[PlanOutcome]) -> str:
    if not outcomes:
        return "Nothing is planned yet"
    late = [outcome for outcome in outcomes if outcome.longest_wait]
    said = f"{counted(len(outcomes), 'plan')} kept"
    if late:
        return f"{said}; {len(late)} of them ask for more than is owned or reserved"
    return f"{said}; none is known to ask for more than is owned or reserved"


def _key_figures(outcome: PlanOutcome, context: Context) -> tuple[Any, ...]:
    def amount(micros: int | None) -> str | None:
        return None if micros is None else short_amount(micros, context.currency)

    has_queue = outcome.longest_wait is not None
    above = sum(week.queue.above for week in outcome.weeks if week.queue is not None)
    return (
        known_figure("Planned", words.hours_text(outcome.planned), "GPU-hours in its weeks"),
        known_figure("Planned work costs", amount(outcome.planned_micros), "GPU-hours × price"),
        known_figure("With what is expected", amount(outcome.total_micros), "forecast and plan"),
        known_figure(
            "Longest wait",
            words.wait_text(outcome.longest_wait),
            f"{words.hours_text(above)} GPU-hours are above owned and reserved"
            if has_queue
            else "no forecast, or nothing owned or reserved",
        ),
    )


def _chart(outcome: PlanOutcome) -> LineChart | None:
    lines = [
        WeekLine(
            "Owned, reserved",
            [outcome.committed_hours] * len(outcome.weeks),
            "var(--ink-3)",
            is_dashed=True,
        ),
        WeekLine("Expected", [week.expected for week in outcome.weeks], "var(--ink-2)"),
        WeekLine("With the plan", [week.total for week in outcome.weeks], "var(--accent)"),
    ]
    if outcome.forecast_from is None:
        lines[1:] = [WeekLine("Planned", [week.planned for week in outcome.weeks], "var(--accent)")]
    return LineChart(
        name="plan",
        title=f"{outcome.plan.name}: GPU-hours by week, expected and with the plan, against what is owned or reserved",
        unit="GPU-hours a week",
        figure=week_lines(
            outcome.plan.first_day,
            lines,
            lambda hours: f"{words.hours_text(hours)} GPU-hours",
            words.hours_text,
        ),
    )


def _listed_items(outcome: PlanOutcome) -> list[ListedItem]:
    plan = outcome.plan
    return [
        ListedItem(
            item,
            sum(outcome.by_item[item.name]) if item.name in outcome.by_item else None,
            reverse("change-planned-item", args=[plan.id, item.id]),
            reverse("remove-planned-item", args=[plan.id, item.id]),
        )
        for item in plan.items
    ]


def _asked_pair(context: Context) -> tuple[PlanOutcome, PlanOutcome] | None:
    """The two plans that the address names, else the first two; None where there are not two."""
    known = {str(plan.id): plan for plan in plans()}
    asked = [key for name in ("one", "other") if (key := context.query.get(name, "")) in known]
    ids = [*dict.fromkeys([*asked, *known])][:2] if len(asked) < 2 else asked
    if len(ids) < 2:
        return None
    one, other = (plan_outcome(known[key], context.at) for key in ids)
    return one, other


def _compared_finding(pair: tuple[PlanOutcome, PlanOutcome], context: Context) -> str:
    one, other = pair
    names = f"{other.plan.name} against {one.plan.name}"
    if one.total_micros is None or other.total_micros is None:
        return f"{names}: what one of them costs is not known"
    change = signed_amount(other.total_micros - one.total_micros, context.currency)
    return f"{names}: {change} in their weeks"


def _compared_weeks(one: PlanOutcome, other: PlanOutcome) -> list[ComparedWeek]:
    """Weeks by the day that they begin on; plans that begin on other weekdays share none."""
    of_one = {week.first_day: week for week in one.weeks}
    of_other = {week.first_day: week for week in other.weeks}
    return [
        ComparedWeek(day, of_one.get(day), of_other.get(day))
        for day in sorted({*of_one, *of_other})
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
    path("plans.csv", plan_list_csv, name="plans-csv"),
    path("plans/new", changes.make_plan, name="make-plan"),
    path("plans/compare", compare_plans, name="compare-plans"),
    path("plans/compare.csv", compare_plans_csv, name="compare-plans-csv"),
    path("plans/<int:plan_id>", plan_page, name="plan"),
    path("plans/<int:plan_id>/items.csv", plan_items_csv, name="plan-items-csv"),
    path("plans/<int:plan_id>/weeks.csv", plan_weeks_csv, name="plan-weeks-csv"),
    path("plans/<int:plan_id>/months.csv", plan_months_csv, name="plan-months-csv"),
    path("plans/<int:plan_id>/history.csv", plan_history_csv, name="plan-history-csv"),
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
