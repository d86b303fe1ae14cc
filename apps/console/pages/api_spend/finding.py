"""What a month of calls comes down to: a sentence, four figures, and the days."""

from collections.abc import Sequence
from datetime import date

from apps.console.pages.api_spend.rows import errors_of
from apps.console.pages.api_spend.values import ModelRow
from apps.console.pages.overview.values import DailyChart, DayRow, Figure
from apps.ledger.queries.api_spend import Spend
from apps.show.amounts import count, counted, per_cent, share
from apps.show.charts import DailySeries, daily_cost_by_state
from apps.show.money import short_amount, unit_cost, whole_amount
from apps.show.time import weekday
from apps.show.words import StateWords

COLOURS = ("active", "run_communication", "run_checkpoint", "run_startup")
REST = StateWords("other", "Other models", "What all other models cost.")


def finding_of(rows: Sequence[ModelRow], whole: Spend | None, period: str, currency: str) -> str:
    """What was spent, on what most, and what of it has no price, in one sentence."""
    if whole is None:
        return f"No call to a model API is known of {period}"
    if whole.micros is None:
        calls = counted(whole.requests, "call")
        return f"{calls} to model APIs in {period}, and none of them has a price"
    said = f"Model APIs cost {whole_amount(whole.micros, currency)} in {period}"
    first = rows[0]
    part = share(first.cost_micros, whole.micros)
    if len(rows) > 1 and part:
        said = f"{said}, {per_cent(part)} of it {first.model}"
    if whole.unpriced:
        said = f"{said}; {counted(whole.unpriced, 'call')} without a price on top"
    return said


def figures_of(
    rows: Sequence[ModelRow], whole: Spend, before: Spend | None, status: str, currency: str
) -> tuple[Figure, ...]:
    """The cost, a million tokens, what failed, and what has no price."""
    failed, calls = errors_of(rows)
    was = None if before is None else before.micros
    return (
        Figure(
            title="Cost",
            number=short_amount(whole.micros, currency),
            note="no call of the month before is known"
            if was is None
            else f"{short_amount(was, currency)} in the month before",
            status=status,
            is_unknown=whole.micros is None,
        ),
        Figure(
            title="A million tokens",
            number="Undefined"
            if whole.million_micros is None
            else unit_cost(whole.million_micros, currency),
            note=f"{count(whole.tokens)} in and out"
            if whole.million_micros is not None
            else "some calls have no price, or no tokens",
            status=status,
            is_unknown=whole.million_micros is None,
        ),
        Figure(
            title="Turned away or broken",
            number=per_cent(share(failed, calls)),
            note=f"{count(failed)} of {counted(calls, 'call')} answered 429 or 5xx",
            status=status,
        ),
        Figure(
            title="Without a price",
            number=count(whole.unpriced),
            note="calls; they are in no amount here" if whole.unpriced else "every call has one",
            status=status,
        ),
    )


def chart_of(
    days: Sequence[date], found: Sequence[Spend], currency: str, csv_href: str
) -> DailyChart | None:
    """Each day by model, the dearest apart; None where no cost is known. Keys: day, model."""
    costs: dict[tuple[str, date], int] = {}
    for each in found:
        if each.micros is not None:
            costs[str(each.key[1]), _day(each.key[0])] = each.micros
    names = _dearest(costs)
    if not names or not any(costs.values()):
        return None
    words = [
        StateWords(colour, name, f"What {name} cost.")
        for colour, name in zip(COLOURS, names, strict=False)
    ]
    apart = [tuple(costs.get((name, day)) for day in days) for name in names]
    others = tuple(_sum(costs, day, but=names) for day in days)
    series = [*zip(words, apart, strict=True)]
    if any(others):
        series.append((REST, others))
    nothing = tuple(None for _ in days)
    figure = daily_cost_by_state(
        days, [DailySeries(state, amounts, nothing) for state, amounts in series], currency
    )
    totals = [_sum(costs, day) for day in days]
    return DailyChart(
        title=_dearest_day(days, totals, currency),
        unit=f"each day by model, in {currency}; calls without a price are not in it",
        figure=figure,
        states=tuple(state for state, _ in series),
        rows=tuple(
            DayRow(weekday(day), tuple(amounts[k] for _, amounts in series), totals[k])
            for k, day in enumerate(days)
        ),
        total=DayRow(
            "Total",
            tuple(sum(each or 0 for each in amounts) for _, amounts in series),
            sum(each or 0 for each in totals),
        ),
        csv_href=csv_href,
    )


def _dearest(costs: dict[tuple[str, date], int]) -> list[str]:
    totals: dict[str, int] = {}
    for (name, _), micros in costs.items():
        totals[name] = totals.get(name, 0) + micros
    return sorted(totals, key=lambda name: (-totals[name], name))[: len(COLOURS)]


def _sum(costs: dict[tuple[str, date], int], day: date, but: Sequence[str] = ()) -> int | None:
    """A day on which nobody called has no cost to show."""
    found = [micros for (name, of), micros in costs.items() if of == day and name not in but]
    return sum(found) if found else None


def _day(key: object) -> date:
    if not isinstance(key, date):
        raise TypeError(f"{key!r} is no day")
    return key


def _dearest_day(days: Sequence[date], totals: Sequence[int | None], currency: str) -> str:
    most, day = max((micros or 0, day) for day, micros in zip(days, totals, strict=True))
    return f"The dearest day was {weekday(day)}: {whole_amount(most, currency)}."
