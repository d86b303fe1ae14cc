"""The key figures and the main picture of a page of Costs, from its days."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from apps.console.kit.chart import DailyChart, Figure
from apps.console.kit.periods import span
from apps.console.pages.costs.question import CostQuestion
from apps.console.pages.costs.words import LOADED
from apps.console.pages.overview.daily import DaysAsked, chart_of_days
from apps.console.pages.overview.figures import NO_SPAN_BEFORE, idle_parts, spark, together
from apps.console.pages.overview.sums import Sums, sums_of
from apps.ledger.queries import DaySum
from apps.ledger.queries.drill import Daily
from apps.show.amounts import change, gpu_hours, per_cent, points
from apps.show.money import short_amount


@dataclass(frozen=True, slots=True)
class Place:
    """A page of the way down: its name in addresses, what it is of, its first table, and whether
    it has a span before: a job runs but once.
    """

    name: str
    of: tuple[int, ...] = ()
    table: str = "by-job"
    is_compared: bool = True

    def rows(self, asked: CostQuestion, sort: str) -> str:
        """The rows behind a figure, in the order that shows it."""
        return f"{asked.href(self.name, *self.of, sort=sort)}#{self.table}"


@dataclass(frozen=True, slots=True)
class Picture:
    """What stands between the title and the tables."""

    figures: tuple[Figure, ...] = ()
    chart: DailyChart | None = None


def picture(asked: CostQuestion, place: Place, daily: Daily, status: str) -> Picture:
    """At most four figures and each day by state; nothing where nothing was charged."""
    sums = sums_of(each for of_day in daily.days for each in of_day.states)
    if not sums.by_state:
        return Picture()
    made = (
        _cost(asked, place, daily, sums),
        _worked(daily, sums),
        _not_worked(asked, daily, sums),
        _not_known(asked, sums),
    )
    sorts = ("-cost", "-bought", "-not_worked", "-cost")
    figures = tuple(
        replace(figure, status=status, href=place.rows(asked, sort))
        for figure, sort in zip(made, sorts, strict=True)
    )
    return Picture(figures, daily_chart(asked, place, daily.days))


def daily_chart(asked: CostQuestion, place: Place, days: Sequence[DaySum]) -> DailyChart | None:
    """What each day cost, by state; a day leads to the same page of that day."""
    sums = sums_of(each for of_day in days for each in of_day.states)
    chart = chart_of_days(
        DaysAsked(
            window=asked.drill.chosen.window,
            today=asked.today,
            basis=asked.drill.chosen.basis,
            currency=asked.currency,
            csv_href=asked.href(f"{place.name}-days", *place.of),
            on_day=lambda day: asked.href(place.name, *place.of, window=day.isoformat()),
        ),
        days,
        sums,
    )
    if chart and asked.drill.loading in LOADED:
        return replace(chart, unit=f"{chart.unit}{LOADED[asked.drill.loading]}")
    return chart


def _cost(asked: CostQuestion, place: Place, daily: Daily, sums: Sums) -> Figure:
    now, before = _compared(daily, lambda sums: sums.total)
    moved = "" if now is None or before is None else change(now, before)
    provisional = ""
    if sums.provisional_total:
        amount = short_amount(sums.provisional_total, asked.currency)
        provisional = f"{amount} of it is provisional"
    without = "" if moved or not place.is_compared else NO_SPAN_BEFORE
    note = [_on(daily, moved) or without, provisional]
    return Figure(
        title="Cost",
        number=short_amount(sums.total, asked.currency),
        note=together(note),
        status="",
        change=moved,
        sparkline=spark(daily.days, [sums_of(day.states).total for day in daily.days], "Cost"),
    )


def _worked(daily: Daily, sums: Sums) -> Figure:
    moved = ""
    if daily.against and daily.against.before_states and daily.against.now_states:
        now = sums_of(daily.against.now_states).worked_ratio
        before = sums_of(daily.against.before_states).worked_ratio
        moved = "" if now is None or before is None else points(now, before)
    ratios = [sums_of(day.states).worked_ratio for day in daily.days]
    return Figure(
        title="Active",
        number=per_cent(sums.worked_ratio),
        note=together([_on(daily, moved), "share of cost in which a kernel was resident"]),
        status="",
        change=moved,
        sparkline=spark(daily.days, [_float(each) for each in ratios], "Share that was active"),
    )


def _not_worked(asked: CostQuestion, daily: Daily, sums: Sums) -> Figure:
    now, before = _compared(daily, lambda sums: sums.not_worked)
    moved = "" if now is None or before is None else change(now, before)
    days = [sums_of(day.states).not_worked for day in daily.days]
    parts = idle_parts(sums, asked.currency) if sums.total is not None else ""
    return Figure(
        title="Idle or not held by a job",
        number=short_amount(sums.not_worked, asked.currency),
        note=together([_on(daily, moved), parts]),
        status="",
        change=moved,
        sparkline=spark(daily.days, days, "Idle or not held by a job"),
        tone="held_idle",
    )


def _not_known(asked: CostQuestion, sums: Sums) -> Figure:
    parts = []
    if sums.unpriced_milliseconds:
        hours = gpu_hours(sums.unpriced_milliseconds)
        parts.append((f"{hours} GPU-hours", "without a price, and in no sum here"))
    if sums.by_state.get("unobserved"):
        amount = short_amount(sums.by_state["unobserved"], asked.currency)
        parts.append((amount, "unobserved: no agent reported whether it was active"))
    if not parts:
        return Figure("Not known", "Nothing", "all of it is priced and observed", "")
    (number, first), *others = parts
    note = "; ".join([first, *(f"{amount} {words}" for amount, words in others)])
    return Figure("Not known", number, note, "", is_unknown=True)


def _compared(daily: Daily, amount: Callable[[Sums], int | None]) -> tuple[int | None, int | None]:
    """Now and before: 0 where nothing was charged, None where its cost is not known."""
    if daily.against is None:
        return None, None
    now, before = daily.against.now_states, daily.against.before_states
    return (
        amount(sums_of(now)) if now else 0,
        amount(sums_of(before)) if before else 0,
    )


def _on(daily: Daily, moved: str) -> str:
    return f"on {span(daily.against.before)}" if moved and daily.against else ""


def _float(ratio: Fraction | None) -> float | None:
    return None if ratio is None else float(ratio)
