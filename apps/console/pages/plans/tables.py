"""The tables of what-if plans."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.console.kit.cells import (
    COUNT,
    INSTANT,
    ISO_DAY,
    PROSE,
    RATIO,
    WHOLE_MONEY,
    Format,
    Locale,
    linked,
)
from apps.console.kit.table import Table
from apps.console.pages.plans import words
from apps.economics.planned_work import PlanBand
from apps.planning.queries.plan_items import KINDS
from apps.planning.queries.plan_outcomes import PlanOutcome, PlanSpan
from apps.planning.queries.plans import PlannedItemFact
from apps.show.unknown import UNKNOWN
from apps.tables.column import CURRENCY_COLUMN, Column

Row = TypeVar("Row")

HOURS = Format(
    lambda hours, _: words.hours_text(hours), lambda hours, _: f"{hours:.6f}", "number-cell"
)
WAIT = Format(
    lambda hours, _: words.wait_text(hours), lambda hours, _: f"{hours:.6f}", "number-cell"
)
FACTOR = Format(lambda factor, _: f"{factor:.3g}", lambda factor, _: f"{factor:.6f}", "number-cell")


@dataclass(frozen=True, slots=True)
class ListedItem:
    """An item, the GPU-hours of it in the plan's weeks (None of a price change), and where it is changed and removed."""

    item: PlannedItemFact
    gpu_hours: PlanBand | None
    change: str
    removal: str


def _ways_to_change(row: ListedItem, _: Locale) -> SafeString:
    return format_html("{} {}", linked("Change", row.change), linked("Remove", row.removal))


def band_columns(
    key: str,
    text: str,
    band_of: Callable[[Row], PlanBand | None],
    format_: Format = HOURS,
    csv: str | None = None,
) -> tuple[Column[Row], ...]:
    """Return the columns of what is likely, with the low and the high under it; in CSV three columns, without a text in CSV alone."""

    def level(name: str) -> Callable[[Row], float | int | None]:
        def value(row: Row) -> float | int | None:
            band = band_of(row)
            amount = None if band is None else getattr(band, name)
            return round(amount) if format_ is WHOLE_MONEY and amount is not None else amount

        return value

    def cell(row: Row, locale: Locale) -> str:
        low, likely, high = (level(name)(row) for name in ("low", "likely", "high"))
        if likely is None:
            return UNKNOWN
        likely_text = format_.shown(likely, locale)
        if low is None or high is None or low == high:
            return likely_text
        ends = [format_.shown(end, locale) for end in (low, high)]
        return format_html("{}<br><small>{} to {}</small>", likely_text, *ends)

    name = key if csv is None else csv
    likely = Column(key, text, level("likely"), format_, csv=name, shown=cell)
    return (
        likely,
        *(
            Column(f"{key}_{end}", "", level(end), format_, csv=f"{name}_{end}")
            for end in ("low", "high")
        ),
    )


def _span_columns(first: Column[PlanSpan]) -> tuple[Column[PlanSpan], ...]:
    """A week's, or a month's."""
    return (
        first,
        Column("days", "", lambda span: span.days, COUNT),
        *band_columns("expected", "Expected", lambda span: span.expected),
        Column("share", "", lambda span: span.forecast_share, RATIO, csv="forecast_share"),
        *band_columns("planned", "Planned", lambda span: span.planned),
        *band_columns("total", "With the plan", lambda span: span.total),
        Column("capacity", "", lambda span: span.capacity, HOURS, csv="owned_and_reserved"),
        *band_columns("above", "Above owned and reserved", lambda span: span.above),
        *band_columns("backlog", "", lambda span: span.waiting),
        *band_columns("wait", "Wait at its end", lambda span: span.wait_hours, WAIT, "wait_hours"),
        Column("factor", "", lambda span: span.price_factor, FACTOR, csv="price_factor"),
        *band_columns("planned_cost", "", lambda span: span.planned_cost, WHOLE_MONEY),
        *band_columns(
            "cost", "Cost with the plan", lambda span: span.total_cost, WHOLE_MONEY, "total_cost"
        ),
        CURRENCY_COLUMN,
    )


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
        *band_columns("planned", "GPU-hours planned", lambda row: row.whole.planned,
                      csv="planned_gpu_hours"),
        *band_columns("cost", "They cost", lambda row: row.whole.planned_cost, WHOLE_MONEY,
                      "planned_cost"),
        *band_columns("wait", "Longest wait", lambda row: row.longest_wait, WAIT,
                      "longest_wait_hours"),
        *band_columns("total", "", lambda row: row.whole.total_cost,
                      WHOLE_MONEY, "total_cost"),
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
        *band_columns("hours", "GPU-hours in its weeks", lambda row: row.gpu_hours,
                      csv="gpu_hours"),
        Column("low", "", lambda row: row.item.spread and row.item.spread.low, FACTOR),
        Column("high", "", lambda row: row.item.spread and row.item.spread.high, FACTOR),
        Column("inputs", "Computed from", lambda row: words.inputs_of(row.item), PROSE),
        Column("change", "Change", lambda row: row, csv="", sorts=False, shown=_ways_to_change),
    ),
    noun=("item", "items"),
    empty="Nothing is planned yet: this is the forecast alone.",
)  # fmt: skip
WEEKS = Table[PlanSpan](
    "weeks",
    "Week by week",
    _span_columns(Column("week", "Week from", lambda span: span.first_day, ISO_DAY)),
    noun=("week", "weeks"),
    about="GPU-hours; backlog at the least (fluid FIFO approximation)",
    sort="weeks",
    per_page=26,
)
MONTHS = Table[PlanSpan](
    "months",
    "Month by month",
    _span_columns(Column("month", "Month", lambda span: f"{span.first_day:%Y-%m}")),
    about="of the plan’s own days; each line’s low and high are of its own scenarios, and do not add up to the plan’s",
)
