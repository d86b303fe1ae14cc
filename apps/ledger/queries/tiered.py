"""Rates with tiers: what an hour costs by them after what its month has lived already.

Quantities come from nodes' lives, not from charges: hours may be charged in any order.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from functools import partial
from itertools import accumulate

from apps.economics import tiers
from apps.economics.hours import HOUR, HOUR_MS, hour_from, hour_of
from apps.economics.rates import BETWEEN_DETAILS, Per, QuotedRate, RateInHour
from apps.fleet import queries as fleet
from apps.ledger.queries.calendar import HourSpan, month_span, posting_month
from apps.ledger.queries.charges import HourRates, spans_of_units
from apps.ledger.queries.tables import rows
from apps.pricing import queries as pricing
from apps.pricing.queries.owned import owned_plans_in
from apps.pricing.queries.tiers import has_tiers

UNITS = {Per.NODE: "node", Per.GPU: "GPU"}
Steps = dict[int, Fraction | int]


@dataclass(frozen=True, slots=True)
class Quantity:
    """The quantity that a rate priced since the month began: it grows by `slopes` from each of `times` on."""

    times: Sequence[int]
    totals: Sequence[Fraction | int]
    slopes: Sequence[Fraction | int]

    def until(self, milliseconds: int) -> Fraction:
        """Node-hours or GPU-hours from the start of the month until then."""
        place = bisect_right(self.times, milliseconds) - 1
        if place < 0:
            return Fraction(0)
        since = milliseconds - self.times[place]
        return Fraction(self.totals[place] + self.slopes[place] * since) / HOUR_MS


def remaining_month_hours(hour: datetime, zone: str) -> HourSpan:
    """The hours of the same month from this one on."""
    return HourSpan(hour, month_span(posting_month(hour, zone), zone).ends_at)


def blended_rates(
    hour: HourSpan, zone: str, pools: Mapping[int, fleet.PoolFact], rates: Mapping[int, HourRates]
) -> Mapping[int, HourRates]:
    """The rates of an hour as far as it has come, those with tiers at the one price that it has."""
    rates_by_id = {span.rate.id: span.rate for rate in rates.values() for span in rate.spans}
    tiered = {rate_id: rate for rate_id, rate in rates_by_id.items() if rate.tiers}
    if not tiered:
        return rates
    month = month_span(posting_month(hour.starts_at, zone), zone)
    quantities = _quantities_of(tiered, pools, HourSpan(month.starts_at, hour.ends_at))
    into = partial(_milliseconds_since, month.starts_at)
    blends = {
        rate_id: _blended_rate(rate, quantities[rate_id], into(hour.starts_at), into(hour.ends_at))
        for rate_id, rate in tiered.items()
    }
    return {
        pool_id: HourRates(
            _replace_rates(rate.listed, blends), _replace_rates(rate.contracted, blends)
        )
        for pool_id, rate in rates.items()
    }


def hours_to_price_again(hour: datetime, at: datetime, zone: str) -> list[datetime]:
    """Later hours of the month whose charges tell another tier price than what was lived makes."""
    remaining_span = remaining_month_hours(hour, zone)
    later = HourSpan(hour + HOUR, min(at, remaining_span.ends_at))
    if later.hours <= 0 or not has_tiers(later.starts_at, later.ends_at):
        return []
    month = month_span(posting_month(hour, zone), zone)
    pools = fleet.pools()
    spans = pricing.pool_rates(pools, month.starts_at, later.ends_at)
    tiered = {rate.id: rate for of_pool in spans.values() for rate in _tiered_rates(of_pool)}
    quantities = _quantities_of(tiered, pools, HourSpan(month.starts_at, later.ends_at))
    into = partial(_milliseconds_since, month.starts_at)
    stale = set()
    for charge_hour, through, rate_id, detail in _price_details(later, list(tiered)):
        span = into(charge_hour), into(through)
        if _tier_words(tiered[rate_id], quantities[rate_id], *span) not in detail.split(
            BETWEEN_DETAILS
        ):
            stale.add(charge_hour)
    return sorted(stale)


def _quantities_of(
    rate_ids: Collection[int], pools: Mapping[int, fleet.PoolFact], span: HourSpan
) -> dict[int, Quantity]:
    """How each of these rates' quantity grows through the span, that begins with the month."""
    steps: dict[int, Steps] = {rate_id: defaultdict(int) for rate_id in rate_ids}
    into = partial(_milliseconds_since, span.starts_at)
    spans = pricing.pool_rates(pools, span.starts_at, span.ends_at)
    owned = _owned_spans(span)
    for node in fleet.nodes_alive_between(span.starts_at, span.ends_at):
        if node.pool_id not in pools:
            continue
        pool = pools[node.pool_id]
        units = spans_of_units(into, node, span.ends_at, pool.gpus_per_node)
        for priced in spans[pool.id]:
            for rate in priced.pricing_rates:
                if rate.id in steps:
                    for within in _rented_spans(priced, owned.get(pool.id, [])):
                        at = into(within.starts_at), into(within.ends_at)
                        _add_steps(steps[rate.id], at, units, _per_unit(rate, node, pool))
    return {rate_id: _quantity_of(of_rate) for rate_id, of_rate in steps.items()}


def _owned_spans(span: HourSpan) -> dict[int, list[HourSpan]]:
    """The hours in which a pool's nodes cost what a plan says and no rate prices them, by pool."""
    spans_by_pool: dict[int, list[HourSpan]] = {}
    for plan in owned_plans_in(span.starts_at, span.ends_at):
        ends_at = span.ends_at if plan.ends_at is None else hour_from(plan.ends_at)
        began = hour_of(plan.starts_at)
        spans_by_pool.setdefault(plan.pool_id, []).append(HourSpan(began, ends_at))
    return spans_by_pool


def _rented_spans(priced: pricing.RateSpan, owned: Iterable[HourSpan]) -> list[HourSpan]:
    """Return what is left of a span without the hours of plans."""
    left = [HourSpan(priced.starts_at, priced.ends_at)]
    for plan in owned:
        parts = [
            (HourSpan(span.starts_at, min(span.ends_at, plan.starts_at)),
             HourSpan(max(span.starts_at, plan.ends_at), span.ends_at))
            for span in left
        ]  # fmt: skip
        left = [part for pair in parts for part in pair if part.starts_at < part.ends_at]
    return left


def _per_unit(rate: QuotedRate, node: fleet.NodeFact, pool: fleet.PoolFact) -> Fraction | None:
    """How much one of a node's GPUs is; None: the node is one, however many it has."""
    if rate.per is Per.GPU:
        return Fraction(1)
    if node.kind != "pool":
        return None
    return Fraction(1, pool.gpus_per_node) if pool.gpus_per_node else Fraction(0)


def _add_steps(
    steps: Steps,
    within: tuple[int, int],
    units: Iterable[tuple[int, int, int]],
    per_unit: Fraction | None,
) -> None:
    for start, end, count in units:
        begins, ends = max(start, within[0]), min(end, within[1])
        if begins < ends:
            weight = 1 if per_unit is None else count * per_unit
            steps[begins] += weight
            steps[ends] -= weight


def _quantity_of(steps: Steps) -> Quantity:
    times = sorted(steps)
    slopes = list(accumulate(steps[time] for time in times))
    grown = [
        slope * (later - time) for slope, time, later in zip(slopes, times, times[1:], strict=False)
    ]
    return Quantity(times, list(accumulate(grown, initial=0)), slopes)


def _blended_rate(
    rate: QuotedRate, month_quantity: Quantity, start_ms: int, end_ms: int
) -> QuotedRate:
    before = month_quantity.until(start_ms)
    quantity = month_quantity.until(end_ms) - before
    details = [rate.detail, _tier_words(rate, month_quantity, start_ms, end_ms)]
    return replace(
        rate,
        amount=tiers.blended(rate.amount, rate.tiers, before, quantity),
        detail=BETWEEN_DETAILS.join(word for word in details if word),
    )


def _tier_words(rate: QuotedRate, month_quantity: Quantity, start_ms: int, end_ms: int) -> str:
    before = month_quantity.until(start_ms)
    quantity = month_quantity.until(end_ms) - before
    return tiers.in_words(rate.amount, rate.tiers, UNITS[rate.per], before, quantity)


def _price_details(
    later: HourSpan, rate_ids: Sequence[int]
) -> list[tuple[datetime, datetime, int, str]]:
    """Return what one piece of each hour and rate says of its price; all of them say the same."""
    return rows(
        """
        SELECT hour.starts_at, found.through, rate.id, found.detail
        FROM generate_series(%(from)s::timestamptz, %(to)s::timestamptz - interval '1 hour',
                             interval '1 hour') AS hour (starts_at)
        CROSS JOIN unnest(%(rates)s::int8[]) AS rate (id)
        CROSS JOIN LATERAL (
            SELECT charge.through, piece.detail
            FROM ledger_charge AS charge
            JOIN ledger_chargepiece AS piece ON piece.charge_id = charge.id
            WHERE charge.hour = hour.starts_at AND charge.kind = 'node_hour'
              AND charge.corrects_id IS NULL AND piece.detail <> ''
              AND (piece.list_rate_id = rate.id OR piece.contract_rate_id = rate.id)
            LIMIT 1
        ) AS found
        """,
        {"from": later.starts_at, "to": hour_from(later.ends_at), "rates": rate_ids},
    )


def _tiered_rates(spans: Iterable[pricing.RateSpan]) -> Iterable[QuotedRate]:
    for span in spans:
        for rate in (span.list_rate, span.contract_rate):
            if rate is not None and rate.tiers:
                yield rate


def _replace_rates(
    spans: Iterable[RateInHour], blends: Mapping[int, QuotedRate]
) -> tuple[RateInHour, ...]:
    return tuple(replace(span, rate=blends.get(span.rate.id, span.rate)) for span in spans)


def _milliseconds_since(since: datetime, moment: datetime) -> int:
    """Whole milliseconds after `since`, 0 before it."""
    return max(0, (moment - since) // timedelta(milliseconds=1))
