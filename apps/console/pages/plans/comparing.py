"""Plans beside each other: in all, and by week or month, with what each has more than the first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from django.urls import path, reverse

from apps.console.kit.cells import COUNT, ISO_DAY, PROSE, SIGNED_MONEY, WHOLE_MONEY, Format
from apps.console.kit.csv_file import csv_file
from apps.console.kit.filters import filter_of
from apps.console.kit.frame import EmptyState, Filter, Link, Step
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.kit.table import Table
from apps.console.pages.plans import words
from apps.console.pages.plans.tables import HOURS, WAIT, band_columns
from apps.economics.planned_work import PlanBand
from apps.planning.queries.plan_outcomes import PlanOutcome, PlanSpan, plan_outcome
from apps.planning.queries.plans import plans
from apps.show.amounts import counted
from apps.show.money import signed_amount
from apps.tables.column import CURRENCY_COLUMN, Column

PLACES = {"one": "First", "other": "Second", "third": "Third", "fourth": "Fourth"}
"""The parameters that name the plans, and what they are called."""
BY_MONTH, BY_WEEK = "month", "week"

SIGNED_HOURS = Format(
    lambda hours, _: words.signed_hours(hours), lambda hours, _: f"{hours:.6f}", "number-cell"
)
ROUNDED_SIGNED_MONEY = Format(
    lambda micros, locale: SIGNED_MONEY.shown(round(micros), locale),
    lambda micros, locale: SIGNED_MONEY.written(round(micros), locale),
    "number-cell",
)


@dataclass(frozen=True, slots=True)
class ComparedFigureOfPlans:
    """A figure that weeks or months of plans are compared by, and how a difference of it is shown."""

    label: str
    band_of: Callable[[PlanSpan], PlanBand | None]
    format: Format
    difference: Format


@dataclass(frozen=True, slots=True)
class ComparedPlan:
    """A plan beside the first of those that are compared."""

    outcome: PlanOutcome
    first: PlanOutcome

    def difference(self, band_of: Callable[[PlanOutcome], PlanBand | None]) -> float | None:
        """Return what is likely here − what is likely in the first plan."""
        band, there = band_of(self.outcome), band_of(self.first)
        return None if band is None or there is None else band.likely - there.likely


@dataclass(frozen=True, slots=True)
class ComparedSpan:
    """A week or month in each of the compared plans; None where a plan has no such day."""

    first_day: date
    spans: tuple[PlanSpan | None, ...]

    def likely(self, number: int, figure: ComparedFigureOfPlans) -> float | int | None:
        """The likely figure in one of the plans."""
        span = self.spans[number]
        band = None if span is None else figure.band_of(span)
        return (
            None
            if band is None
            else round(band.likely)
            if figure.format is WHOLE_MONEY
            else band.likely
        )

    def difference(self, number: int, figure: ComparedFigureOfPlans) -> float | int | None:
        """The plan's − the first's."""
        value, first = self.likely(number, figure), self.likely(0, figure)
        return None if value is None or first is None else value - first


FIGURES = {
    "cost": ComparedFigureOfPlans(
        "Cost with the plan", lambda span: span.total_cost, WHOLE_MONEY, SIGNED_MONEY
    ),
    "planned_cost": ComparedFigureOfPlans(
        "Planned cost", lambda span: span.planned_cost, WHOLE_MONEY, SIGNED_MONEY
    ),
    "hours": ComparedFigureOfPlans(
        "GPU-hours with the plan", lambda span: span.total, HOURS, SIGNED_HOURS
    ),
    "planned": ComparedFigureOfPlans(
        "GPU-hours planned", lambda span: span.planned, HOURS, SIGNED_HOURS
    ),
    "above": ComparedFigureOfPlans(
        "GPU-hours above owned and reserved", lambda span: span.above, HOURS, SIGNED_HOURS
    ),
    "waiting": ComparedFigureOfPlans(
        "GPU-hours waiting at the end", lambda span: span.waiting, HOURS, SIGNED_HOURS
    ),
}


def _difference_of(
    band_of: Callable[[PlanOutcome], PlanBand | None],
) -> Callable[[ComparedPlan], float | None]:
    return lambda row: None if row.outcome is row.first else row.difference(band_of)


COMPARED_PLANS = Table[ComparedPlan](
    "compared",
    "In all",
    (
        Column("name", "Plan", lambda row: row.outcome.plan.name, PROSE,
               href=lambda row: reverse("plan", args=[row.outcome.plan.id])),
        Column("where", "", lambda row: words.place_of(row.outcome.plan)),
        Column("from", "", lambda row: row.outcome.plan.first_day, ISO_DAY, csv="first_day"),
        Column("weeks", "", lambda row: row.outcome.plan.weeks, COUNT),
        *band_columns("cost", "Cost with what is expected", lambda row: row.outcome.whole.total_cost,
                      WHOLE_MONEY, "total_cost"),
        Column("cost_more", "More than the first",
               _difference_of(lambda outcome: outcome.whole.total_cost), ROUNDED_SIGNED_MONEY,
               csv="total_cost_difference", missing="–"),
        *band_columns("planned", "GPU-hours planned", lambda row: row.outcome.whole.planned,
                      csv="planned_gpu_hours"),
        *band_columns("hours", "GPU-hours with what is expected", lambda row: row.outcome.whole.total,
                      csv="total_gpu_hours"),
        *band_columns("above", "Above owned and reserved", lambda row: row.outcome.whole.above,
                      csv="above_gpu_hours"),
        *band_columns("wait", "Longest wait", lambda row: row.outcome.longest_wait, WAIT,
                      "longest_wait_hours"),
        *band_columns("planned_cost", "",
                      lambda row: row.outcome.whole.planned_cost, WHOLE_MONEY),
        Column("hours_more", "", _difference_of(lambda outcome: outcome.whole.total), SIGNED_HOURS,
               csv="total_gpu_hours_difference"),
        Column("above_more", "", _difference_of(lambda outcome: outcome.whole.above), SIGNED_HOURS,
               csv="above_gpu_hours_difference"),
        Column("wait_more", "", _difference_of(lambda outcome: outcome.longest_wait), SIGNED_HOURS,
               csv="longest_wait_hours_difference"),
        CURRENCY_COLUMN,
    ),
    noun=("plan", "plans"),
    about="{said}, each in its own weeks; a difference is of what is likely",
)  # fmt: skip


def compared_table(
    names: Sequence[str], figure: ComparedFigureOfPlans, *, by_week: bool
) -> Table[ComparedSpan]:
    """Weeks or months of so many plans by one figure, with what each has more than the first."""
    first: Column[ComparedSpan] = (
        Column("week", "Week from", lambda row: row.first_day, ISO_DAY)
        if by_week
        else Column("month", "Month", lambda row: f"{row.first_day:%Y-%m}")
    )
    values: list[Column[ComparedSpan]] = [
        Column(
            f"plan_{number + 1}",
            name,
            partial(_likely_of, number, figure),
            figure.format,
            missing="–",
        )
        for number, name in enumerate(names)
    ]
    differences: list[Column[ComparedSpan]] = [
        Column(
            f"difference_{number + 1}", f"{name} − first",
            partial(_more_of, number, figure), figure.difference, missing="–",
        )
        for number, name in enumerate(names)
        if number
    ]  # fmt: skip
    more = (CURRENCY_COLUMN,) if figure.format is WHOLE_MONEY else ()
    return Table(
        "weeks" if by_week else "months",
        f"{figure.label}, {'week by week' if by_week else 'month by month'}",
        (first, *values, *differences, *more),
        noun=("week", "weeks") if by_week else ("month", "months"),
        about="what is likely of the plans’ own days; months that a plan has in part are of that part",
        per_page=110,
    )


def _likely_of(number: int, figure: ComparedFigureOfPlans, row: ComparedSpan) -> float | int | None:
    return row.likely(number, figure)


def _more_of(number: int, figure: ComparedFigureOfPlans, row: ComparedSpan) -> float | int | None:
    return row.difference(number, figure)


@shown(SEES_EVERYTHING, "plans", carries=False)
def compare_plans(context: Context) -> ConsolePage:
    """Two to four plans: in all, and by month or week in one figure, with the differences from the first."""
    outcomes, to_plans = _requested_plans(context), Link("All plans", reverse("plans"))
    key, figure, span = _requested_figure(context)
    plans_file = COMPARED_PLANS.file("plans-compared", context, lambda: _compared_plans(outcomes))
    spans = compared_table(_names(outcomes), figure, by_week=span == BY_WEEK)
    spans_file = csv_file(
        "spans",
        context,
        lambda: spans.csv(_compared_spans(outcomes, span), context, f"plans-by-{span}"),
    )
    if len(outcomes) < 2:
        return ConsolePage(
            context=context,
            finding="There are no two plans to compare",
            csv_files=(plans_file, spans_file),
            main_table=COMPARED_PLANS.name,
            actions=(to_plans,),
            empty=EmptyState(
                "Plans are compared two to four at a time",
                "A copy of a plan is the quickest second one: change in it what is to be compared.",
                (Step("Go to the plans.", link=Link("Plans", reverse("plans"))),),
            ),
        )
    return ConsolePage(
        context=context,
        finding=_compared_finding(outcomes, context),
        under=("on the newest forecast, at the prices in force",),
        actions=(to_plans,),
        filters=(
            *_plan_filters(outcomes),
            filter_of(
                "figure",
                "Figure",
                {k: compared_figure.label for k, compared_figure in FIGURES.items()},
                {"figure": key},
            ),
            filter_of("by", "By", {BY_MONTH: "month", BY_WEEK: "week"}, {"by": span}),
        ),
        main_table=COMPARED_PLANS.name,
        sections=(
            COMPARED_PLANS.section(_compared_plans(outcomes), context, csv=plans_file),
            spans.section(
                _compared_spans(outcomes, span),
                context,
                csv=spans_file,
            ),
        ),
    )


def _requested_plans(context: Context) -> list[PlanOutcome]:
    """The plans that the address names, each once; the first ones of all where it names fewer than two."""
    plans_by_id = {str(plan.id): plan for plan in plans()}
    chosen_ids = dict.fromkeys(
        key for name in PLACES if (key := context.query.get(name, "")) in plans_by_id
    )
    ids = (
        [*chosen_ids] if len(chosen_ids) > 1 else [*dict.fromkeys([*chosen_ids, *plans_by_id])][:2]
    )
    return [plan_outcome(plans_by_id[key], context.at) for key in ids]


def _requested_figure(context: Context) -> tuple[str, ComparedFigureOfPlans, str]:
    key, span = context.query.get("figure", ""), context.query.get("by", "")
    key = key if key in FIGURES else next(iter(FIGURES))
    return key, FIGURES[key], BY_WEEK if span == BY_WEEK else BY_MONTH


def _plan_filters(outcomes: Sequence[PlanOutcome]) -> list[Filter]:
    names_by_id = {str(plan.id): plan.name for plan in plans()}
    chosen = [str(outcome.plan.id) for outcome in outcomes] + [""] * len(PLACES)
    filters = []
    for (name, label), key, number in zip(PLACES.items(), chosen, range(4), strict=False):
        choices: Mapping[str, str] = names_by_id if number < 2 else {"": "none", **names_by_id}
        filters.append(filter_of(name, label, choices, {name: key}))
    return filters


def _names(outcomes: Sequence[PlanOutcome]) -> list[str]:
    return [outcome.plan.name for outcome in outcomes]


def _compared_finding(outcomes: Sequence[PlanOutcome], context: Context) -> str:
    one, other, *more = outcomes
    names = f"{other.plan.name} against {one.plan.name}"
    more_text = f", and {counted(len(more), 'plan')} more" if more else ""
    if one.whole.total_cost is None or other.whole.total_cost is None:
        return f"{names}: what one of them costs is not known{more_text}"
    change = round(other.whole.total_cost.likely - one.whole.total_cost.likely)
    return f"{names}: {signed_amount(change, context.currency)} in their weeks{more_text}"


def _compared_plans(outcomes: Sequence[PlanOutcome]) -> list[ComparedPlan]:
    return [ComparedPlan(outcome, outcomes[0]) for outcome in outcomes]


def _compared_spans(outcomes: Sequence[PlanOutcome], span: str) -> list[ComparedSpan]:
    """Weeks by the day that they begin on (plans of other weekdays share none), months by their month."""
    by_day: list[dict[date, PlanSpan]] = [
        {week.first_day: week for week in outcome.weeks}
        if span == BY_WEEK
        else {month.first_day.replace(day=1): month for month in outcome.months}
        for outcome in outcomes
    ]
    days = sorted({day for spans in by_day for day in spans})
    return [ComparedSpan(day, tuple(spans.get(day) for spans in by_day)) for day in days]


urlpatterns = [
    path("plans/compare", compare_plans, name="compare-plans"),
]
