"""How a price moved: the steps of its list and contract prices, and the sentence they come to."""

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from itertools import pairwise

from apps.console.kit.chart import LineChart
from apps.console.kit.request import Context
from apps.console.pages.prices.tables import Rate, per
from apps.pricing.queries.comparable_prices import hourly
from apps.pricing.queries.listing import KINDS, quoted_history
from apps.show.amounts import per_cent
from apps.show.money import quoted_amount
from apps.show.steps import PlotSpan, PlotStep, StepSeries, price_steps
from apps.show.time import day
from apps.show.words import option_words

LOOKS = {"list": ("--state-other", "dash"), "contract": ("--accent", "solid")}
MOST_STEPS = 2_000
# A series of spot prices is told by its range; of others each change is news.
FEWEST_OF_A_RANGE = 4
SPARE = timedelta(days=30)

Rates = Sequence[Rate]


def price_chart(rate: Rate, context: Context) -> LineChart | None:
    """The prices in force of what the rate prices, quoted for the same unit; None: there are none.

    Amounts are for an hour. At most MOST_STEPS are drawn, the newest.
    """
    history = [
        past_rate
        for past_rate in quoted_history(rate["target"])
        if (past_rate["unit"], past_rate["currency"]) == (rate["unit"], rate["currency"])
    ][-MOST_STEPS:]
    if not history:
        return None
    currency, span = rate["currency"], _plot_span(history, context)
    series = [
        StepSeries(KINDS[kind], *style, steps=_price_steps(of_kind))
        for kind, style in LOOKS.items()
        if (of_kind := [past_rate for past_rate in history if past_rate["kind"] == kind])
    ]
    same_kind = [past_rate for past_rate in history if past_rate["kind"] == rate["kind"]] or history
    lines = " and ".join(
        f"{'dashed' if price_series.dash == 'dash' else 'solid'}: {price_series.label.lower()} price"
        for price_series in series
    )
    return LineChart(
        name="price-figure",
        anchor="moved",
        title=_price_finding(same_kind, context.at, context.zone),
        unit=f"{currency} {per(rate['unit'], 3600)}; {lines}; dotted: today",
        figure=price_steps(series, span, currency),
    )


def _price_steps(rates: Rates) -> tuple[PlotStep, ...]:
    return tuple(
        PlotStep(rate["starts_at"], rate["ends_at"], _hourly_amount(rate)) for rate in rates
    )


def _hourly_amount(rate: Rate) -> Decimal:
    return hourly(rate["amount"], rate["quantity_seconds"])


def _plot_span(history: Rates, context: Context) -> PlotSpan:
    """From the first price that has a start to the last change to come, at least to today."""
    moments = [
        at
        for past_rate in history
        for at in (past_rate["starts_at"], past_rate["ends_at"])
        if at is not None
    ]
    first = min((*moments, context.at))
    if first == context.at or any(past_rate["starts_at"] is None for past_rate in history):
        first -= SPARE
    last = max((*moments, context.at))
    return PlotSpan(first, last + (last - first) / 20, context.at, context.zone)


def _price_finding(history: Rates, at: datetime, zone: tzinfo) -> str:
    """The last change that has come, else the first to come, else that there was none."""
    what = _price_subject(history[0])
    if history[0]["purchase_option"] == "spot" and len(history) >= FEWEST_OF_A_RANGE:
        return _range_finding(what, history, zone)
    changes = [
        (later, earlier)
        for earlier, later in pairwise(history)
        if _hourly_amount(earlier) != _hourly_amount(later)
    ]
    past_changes = [change for change in changes if change[0]["starts_at"] <= at]
    if not changes:
        amount = quoted_amount(_hourly_amount(history[-1]), history[-1]["currency"])
        since = history[0]["starts_at"]
        if since is not None and since > at:
            return f"{what} costs {amount} an hour from {_day_words(since, zone)} on"
        verb_phrase = "has always cost" if since is None else "has cost"
        return f"{what} {verb_phrase} {amount} an hour" + (
            f" since {_day_words(since, zone)}" if since else ""
        )
    later, earlier = past_changes[-1] if past_changes else changes[0]
    was, now = _hourly_amount(earlier), _hourly_amount(later)
    verb = (
        ("rose" if now > was else "fell") if past_changes else ("rises" if now > was else "falls")
    )
    by = f" {per_cent(float(abs(now - was) / was))}" if was else ""
    return f"{what} {verb}{by} on {_day_words(later['starts_at'], zone)}"


def _range_finding(what: str, history: Rates, zone: tzinfo) -> str:
    amounts, currency = [_hourly_amount(past_rate) for past_rate in history], history[0]["currency"]
    low, high = quoted_amount(min(amounts), currency), quoted_amount(max(amounts), currency)
    since = history[0]["starts_at"]
    since_text = f" since {_day_words(since, zone)}" if since else ""
    return f"{what} cost between {low} and {high} an hour{since_text}"


def _price_subject(rate: Rate) -> str:
    if rate["pool_id"] is not None:
        return f"Pool {rate['pool_name']}"
    option = option_words(rate["purchase_option"]).lower()
    machine = rate["instance_type"] or rate["gpu_model"]
    bought = "" if rate["purchase_option"] == "on_demand" else f", {option},"
    return f"{machine}{bought} in {rate['region'] or 'any region'}"


def _day_words(at: datetime, zone: tzinfo) -> str:
    local = at.astimezone(zone)
    return f"{day(local.date())} {local.year}"
