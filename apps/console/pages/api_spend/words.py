"""Words on a month of calls: a sentence, four figures, and the days."""

from collections.abc import Sequence
from datetime import date

from apps.console.kit.chart import UNKNOWN_NUMBER, DailyChart, Figure, daily_chart
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.periods import NO_SPAN_BEFORE, compared_span_label
from apps.console.pages.api_spend.tables import ModelCalls
from apps.economics.money import sum_of_known
from apps.ledger.queries.api_spend import Spend
from apps.ledger.queries.windows import Window
from apps.show.amounts import change, count, counted, per_cent, share
from apps.show.money import rounded_amount, short_amount, unit_cost
from apps.show.time import weekday
from apps.show.words import StateWords

COLOURS = ("active", "run_communication", "run_checkpoint", "run_startup")
REST = StateWords("other", "Other models", "What all other models cost.")


def finding_of(rows: Sequence[Spend], total: Spend | None, within: str, currency: str) -> str:
    """Return one sentence on what was spent, on what most, and what of it has no price."""
    if total is None:
        return f"No call to a model API is known {within}"
    if total.micros is None:
        calls = counted(total.requests, "call")
        return f"{calls} to model APIs {within}, and none of them has a price"
    sentence = f"Model APIs cost {rounded_amount(total.micros, currency)} {within}"
    part = share(rows[0].micros, total.micros)
    if len(rows) > 1 and part:
        sentence = f"{sentence}, {per_cent(part)} of it {rows[0].key[1]}"
    if total.unpriced:
        sentence = f"{sentence}; plus {counted(total.unpriced, 'unpriced call')}"
    return sentence


def figures_of(
    models: Sequence[ModelCalls],
    total: Spend,
    spans: tuple[Window, Window] | None,
    status: str,
    currency: str,
) -> tuple[Figure, ...]:
    """The cost and its change, a million tokens, what failed, and what has no price."""
    rows = [row.found for row in models]
    failed = sum(row.rate_limited + row.server_errors for row in rows)
    calls = sum(row.requests for row in rows)
    return (
        _cost_figure(models, total, spans, status, currency),
        Figure(
            title="A million tokens",
            number=UNKNOWN_NUMBER
            if total.million_micros is None
            else unit_cost(total.million_micros, currency),
            note=f"{count(total.tokens)} in and out"
            if total.million_micros is not None
            else "some calls have no price, or no tokens",
            status=status,
            is_unknown=total.million_micros is None,
        ),
        Figure(
            title="Errors (429/5xx)",
            number=per_cent(share(failed, calls)),
            note=f"{count(failed)} of {counted(calls, 'call')} answered 429 or 5xx",
            status=status,
        ),
        Figure(
            title="Without a price",
            number=count(total.unpriced),
            note="calls; they are in no amount here" if total.unpriced else "every call has one",
            status=status,
        ),
    )


def _cost_figure(
    models: Sequence[ModelCalls],
    total: Spend,
    spans: tuple[Window, Window] | None,
    status: str,
    currency: str,
) -> Figure:
    moved, note = "", NO_SPAN_BEFORE
    if spans is not None:
        now, before = (sum_of_known(row.changed[place] for row in models) for place in (0, 1))
        moved = change(now, before)
        note = f"on {compared_span_label(spans[1], spans[0])}: {short_amount(before, currency)}"
    return Figure(
        title="Cost of calls",
        number=short_amount(total.micros, currency),
        note=note,
        change=moved,
        status=status,
        is_unknown=total.micros is None,
    )


def chart_of(
    days: Sequence[date],
    spend_rows: Sequence[Spend],
    currency: str,
    days_file: CsvFile,
    today: date,
) -> DailyChart | None:
    """Each day by model, the dearest apart; None where no cost is known. Keys: day, model."""
    costs: dict[tuple[str, date], int] = {}
    for spend in spend_rows:
        if spend.micros is not None:
            costs[str(spend.key[1]), _day_of(spend.key[0])] = spend.micros
    names = _dearest_models(costs)
    if not names or not any(costs.values()):
        return None
    states = [
        StateWords(colour, name, f"What {name} cost.")
        for colour, name in zip(COLOURS, names, strict=False)
    ]
    apart = [[costs.get((name, day)) for day in days] for name in names]
    series = list(zip(states, apart, strict=True))
    others = [_sum_of_day(costs, day, but=names) for day in days]
    if any(others):
        series.append((REST, others))
    totals = [_sum_of_day(costs, day) for day in days]
    return daily_chart(
        days,
        series,
        totals,
        currency,
        title=_dearest_day(days, totals, currency, today),
        unit=f"each day by model, in {currency}; calls without a price are not in it",
        csv=days_file,
    )


def _dearest_models(costs: dict[tuple[str, date], int]) -> list[str]:
    totals: dict[str, int] = {}
    for (name, _), micros in costs.items():
        totals[name] = totals.get(name, 0) + micros
    return sorted(totals, key=lambda name: (-totals[name], name))[: len(COLOURS)]


def _sum_of_day(
    costs: dict[tuple[str, date], int], day: date, but: Sequence[str] = ()
) -> int | None:
    """A day on which nobody called has no cost to show."""
    amounts = [micros for (name, of), micros in costs.items() if of == day and name not in but]
    return sum(amounts) if amounts else None


def _day_of(key: object) -> date:
    if not isinstance(key, date):
        raise TypeError(f"{key!r} is no day")
    return key


def _dearest_day(
    days: Sequence[date], totals: Sequence[int | None], currency: str, today: date
) -> str:
    """Today's is not over: it is said with what it has so far."""
    most, day = max((micros or 0, day) for day, micros in zip(days, totals, strict=True))
    so_far = " so far" if day == today else ""
    return f"Highest day: {weekday(day)}, {rounded_amount(most, currency)}{so_far}."
