"""The tables of what-if plans."""

from dataclasses import dataclass
from datetime import date

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.console.kit.cells import (
    COUNT,
    INSTANT,
    ISO_DAY,
    MONEY,
    PROSE,
    RATIO,
    Format,
    Locale,
    linked,
)
from apps.console.kit.table import CURRENCY_COLUMN, Column, Table
from apps.console.pages.plans import words
from apps.planning.queries.plan_items import KINDS
from apps.planning.queries.plans import MonthOfPlan, PlannedItemFact, PlanOutcome, PlanWeek

HOURS = Format(
    lambda hours, _: words.hours_text(hours), lambda hours, _: f"{hours:.6f}", "number-cell"
)
WAIT = Format(
    lambda hours, _: words.wait_text(hours) or "", lambda hours, _: f"{hours:.6f}", "number-cell"
)
FACTOR = Format(lambda factor, _: f"{factor:.3g}", lambda factor, _: f"{factor:.6f}", "number-cell")


@dataclass(frozen=True, slots=True)
class ListedItem:
    """An item, the GPU-hours of it in the plan's weeks (None of a price change), and where it is changed and removed."""

    item: PlannedItemFact
    gpu_hours: float | None
    change: str
    removal: str


def _ways_to_change(row: ListedItem, _: Locale) -> SafeString:
    return format_html("{} {}", linked("Change", row.change), linked("Remove", row.removal))


@dataclass(frozen=True, slots=True)
class ComparedWeek:
    """A week in two plans; None where one of them does not know, or has no such week."""

    first_day: date
    one: PlanWeek | None
    other: PlanWeek | None

    def value(self, name: str, *, of_other: bool) -> float | int | None:
        """A figure of one of the two."""
        week = self.other if of_other else self.one
        return None if week is None else getattr(week, name)

    def difference(self, name: str) -> float | int | None:
        """The other's − the one's."""
        one, other = self.value(name, of_other=False), self.value(name, of_other=True)
        return None if one is None or other is None else other - one


PLANS = Table[PlanOutcome](
    "plans",
    "Plans",
    (
        Column("name", "Plan", lambda row: row.plan.name, PROSE,
               href=lambda row: reverse("plan", args=[row.plan.id])),
        Column("owner", "Owner", lambda row: row.plan.owner),
        Column("where", "Where", lambda row: words.place_of(row.plan)),
        Column("first_day", "From", lambda row: row.plan.first_day, ISO_DAY),
        Column("weeks", "", lambda row: row.plan.weeks, COUNT),
        Column("items", "", lambda row: len(row.plan.items), COUNT),
        Column("planned", "GPU-hours planned", lambda row: row.planned, HOURS,
               csv="planned_gpu_hours"),
        Column("cost", "They cost", lambda row: row.planned_micros, MONEY, csv="planned_cost"),
        Column("wait", "Longest wait", lambda row: row.longest_wait, WAIT,
               csv="longest_wait_hours"),
        Column("total", "", lambda row: row.total_micros, MONEY, csv="total_cost"),
        CURRENCY_COLUMN,
        Column("changed_at", "", lambda row: row.plan.changed_at, INSTANT),
    ),
    noun=("plan", "plans"),
    sort="sort",
)  # fmt: skip
ITEMS = Table[ListedItem](
    "items",
    "Planned work",
    (
        Column("name", "What", lambda row: row.item.name, PROSE),
        Column("kind", "Kind", lambda row: KINDS[row.item.kind]),
        Column("starts_on", "From", lambda row: row.item.starts_on, ISO_DAY),
        Column("hours", "GPU-hours in its weeks", lambda row: row.gpu_hours, HOURS,
               csv="gpu_hours", missing="–"),
        Column("inputs", "Computed from", lambda row: words.inputs_of(row.item), PROSE),
        Column("change", "Change", lambda row: row, csv="", sorts=False, shown=_ways_to_change),
    ),
    noun=("item", "items"),
    empty="Nothing is planned yet: this is the forecast alone.",
)  # fmt: skip
WEEKS = Table[PlanWeek](
    "weeks",
    "Week by week",
    (
        Column("week", "Week from", lambda week: week.first_day, ISO_DAY),
        Column("expected", "Expected", lambda week: week.expected, HOURS),
        Column("share", "", lambda week: week.forecast_share, RATIO, csv="forecast_share"),
        Column("planned", "Planned", lambda week: week.planned, HOURS),
        Column("total", "With the plan", lambda week: week.total, HOURS),
        Column("above", "Above owned and reserved",
               lambda week: None if week.queue is None else week.queue.above, HOURS),
        Column("backlog", "Waiting at its end",
               lambda week: None if week.queue is None else week.queue.backlog, HOURS),
        Column("wait", "For", lambda week: None if week.queue is None else week.queue.wait_hours,
               WAIT, csv="wait_hours"),
        Column("factor", "", lambda week: week.price_factor, FACTOR, csv="price_factor"),
        Column("planned_cost", "Planned cost", lambda week: week.planned_micros, MONEY),
        Column("cost", "Cost with the plan", lambda week: week.total_micros, MONEY,
               csv="total_cost"),
        CURRENCY_COLUMN,
    ),
    noun=("week", "weeks"),
    about="GPU-hours; what waits is the least that does, as a fluid that is taken in order",
    sort="weeks",
    per_page=26,
)  # fmt: skip
MONTHS = Table[MonthOfPlan](
    "months",
    "Cost by month",
    (
        Column("month", "Month", lambda row: f"{row.month:%Y-%m}"),
        Column("planned", "Planned work", lambda row: row.planned_micros, MONEY,
               csv="planned_cost"),
        Column("total", "With what is expected", lambda row: row.total_micros, MONEY,
               csv="total_cost"),
        CURRENCY_COLUMN,
    ),
    about="of the plan’s own weeks, a seventh of a week to each day",
)  # fmt: skip
COMPARED = Table[ComparedWeek](
    "compared",
    "Week by week",
    (
        Column("week", "Week from", lambda row: row.first_day, ISO_DAY),
        *(
            Column(f"{name}_{which}", f"{label}, {said}", value, format_)
            for name, label, format_ in (
                ("total", "GPU-hours", HOURS), ("total_micros", "Cost", MONEY),
            )
            for which, said, value in (
                ("one", "first", lambda row, name=name: row.value(name, of_other=False)),
                ("other", "second", lambda row, name=name: row.value(name, of_other=True)),
                ("difference", "difference", lambda row, name=name: row.difference(name)),
            )
        ),
        CURRENCY_COLUMN,
    ),
    noun=("week", "weeks"),
    about="{said}; the difference is the second − the first",
)  # fmt: skip
