"""Node-hours: rates times lived time, what commitments cover, unless a bill says what they cost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from apps.economics.bases import Amounts, split_bases
from apps.economics.money import sum_or_unknown
from apps.economics.rates import Per, Piece, RateInHour, pieces_of_hour
from apps.fleet import queries as fleet
from apps.ledger.actions.charge.covering import cover
from apps.ledger.actions.charge.owned import owned_hours
from apps.ledger.actions.charge.quoting import by_rates, not_stated
from apps.ledger.actions.charge.values import (
    Estimate,
    Hour,
    Price,
    WantedCharge,
    price_of,
)
from apps.ledger.models import ChargeKind, ChargePart, Status
from apps.ledger.queries.bills.hours import BilledAmounts, billed_hours
from apps.ledger.queries.calendar import HourSpan
from apps.ledger.queries.charges import NO_RATES, HourRates, rates_of_hour, unit_spans
from apps.ledger.queries.tiered import blended_rates

BILLED = "the provider's bill"
NOT_EFFECTIVE = "the bill rounded its effective cost or does not say it, so the estimate stands"
UNSTATED = "billed; this month's rate of exchange is not stated yet"


def node_hours(this: Hour) -> Iterable[WantedCharge]:
    """Every node-hour lived, as far as the hour has come, and what of commitments nobody used."""
    pools, billed = fleet.pools(), billed_hours(this.starts_at)
    owned = owned_hours(this, pools)
    rented = {pool_id: pool for pool_id, pool in pools.items() if pool_id not in owned.pools}
    rates = _blended_rates(this, rented)
    unstated = not_stated(rates.values())
    estimates, unused = cover(this, pools, list(_rented_estimates(this, rented, rates)))
    for node, parts in (*estimates, *owned.estimates):
        if node.id in billed:
            yield _billed_charge(node, parts, billed[node.id], this)
            continue
        for part, price in parts:
            yield by_rates(node, part, price, unstated)
    yield from (*unused, *owned.unused)


def _blended_rates(this: Hour, pools: Mapping[int, fleet.PoolFact]) -> Mapping[int, HourRates]:
    """Each pool's rates, those with tiers at the one price that the hour has."""
    rates = rates_of_hour(this.starts_at, pools)
    return blended_rates(HourSpan(this.starts_at, this.through), this.zone, pools, rates)


def _rented_estimates(
    this: Hour, pools: Mapping[int, fleet.PoolFact], rates: Mapping[int, HourRates]
) -> Iterable[Estimate]:
    """Yield the cost of each node-hour by its rates."""
    # A fleet's nodes live alike: one price for each (pool, kind, life) instead of one per node.
    prices: dict[tuple[object, ...], list[tuple[ChargePart, Price]]] = {}
    for node in fleet.nodes_alive_between(this.starts_at, this.through):
        if node.pool_id not in pools:
            continue
        pool = pools[node.pool_id]
        spans = unit_spans(this.starts_at, node, this.through, pool.gpus_per_node)
        alike = (node.pool_id, node.kind, *spans)
        if alike not in prices:
            of_pool = _of_kind(rates.get(node.pool_id, NO_RATES), node.kind, pool)
            prices[alike] = _part_prices(this, node.pool_id, of_pool, spans)
        yield node, prices[alike]


def _of_kind(rates: HourRates, kind: str, pool: fleet.PoolFact) -> HourRates:
    """A pool counted as a whole has no nodes to price: its node rates go by the GPU, exactly."""
    if kind != "pool":
        return rates
    return HourRates(
        tuple(rate for span in rates.listed for rate in _by_gpu(span, pool.gpus_per_node)),
        tuple(rate for span in rates.contracted for rate in _by_gpu(span, pool.gpus_per_node)),
    )


def _by_gpu(span: RateInHour, gpus_per_node: int) -> list[RateInHour]:
    rate = span.rate
    if rate.per is Per.GPU:
        return [span]
    if not gpus_per_node:
        return []
    seconds = rate.quantity_seconds * gpus_per_node
    gpu_rate = replace(rate, quantity_seconds=seconds, per=Per.GPU)
    return [RateInHour(span.start_ms, span.end_ms, gpu_rate, span.priority)]


def _part_prices(
    this: Hour, pool_id: int, rates: HourRates, spans: Sequence[tuple[int, int, int]]
) -> list[tuple[ChargePart, Price]]:
    """One price for each part of the time in which the same bases are known."""
    pieces = pieces_of_hour(spans, rates.listed, rates.contracted)
    by_part: dict[ChargePart, list[Piece]] = {}
    for piece in pieces:
        by_part.setdefault(_part_of(piece), []).append(piece)
    # A tier may be free: how much an hour took of it must show all the same.
    tiered = any(span.rate.tiers for span in rates.spans)
    about = (pool_id, this.through_ms, *(units for *_, units in spans if tiered))
    return [(part, price_of(about, tuple(of_part))) for part, of_part in sorted(by_part.items())]


def _part_of(piece: Piece) -> ChargePart:
    if piece.effective_micros is None:
        return ChargePart.UNPRICED
    return ChargePart.WITHOUT_LIST_PRICE if piece.list_micros is None else ChargePart.PRICED


def _billed_charge(
    node: fleet.NodeFact,
    estimate: Sequence[tuple[ChargePart, Price]],
    bill: BilledAmounts,
    this: Hour,
) -> WantedCharge:
    """The bill's amounts over the estimate's pieces, by what those cost or by their time.

    Where the bill rounded its effective cost, or does not say it, only what it billed is taken from it.
    """
    pieces = sorted(
        (piece for _, price in estimate for piece in price.pieces), key=attrgetter("start_ms")
    )
    estimated = sum_or_unknown(piece.effective_micros for piece in pieces)
    about = (node.pool_id, this.through_ms)
    if bill.effective_micros is None:
        bill_price = price_of((*about, bill.billed_micros or 0), tuple(pieces))
        part = max(part for part, _ in estimate)
        status, reason = None, NOT_EFFECTIVE
    else:
        bill_price = price_of((*about, bill.billed_micros or 0), _over_pieces(pieces, bill))
        part = ChargePart.PRICED if bill.list_micros is not None else ChargePart.WITHOUT_LIST_PRICE
        status = Status.PROVISIONAL if bill.is_provisional else Status.RECONCILED
        reason = UNSTATED if bill.is_provisional else BILLED
    price = replace(bill_price, billed_micros=bill.billed_micros, estimated_micros=estimated)
    key = (ChargeKind.NODE_HOUR, node.id, part)
    return WantedCharge(key, node.pool_id, price, status=status, reason=reason)


def _over_pieces(pieces: Sequence[Piece], bill: BilledAmounts) -> tuple[Piece, ...]:
    weights = [piece.effective_micros or 0 for piece in pieces]
    if None in [piece.effective_micros for piece in pieces] or not any(weights):
        weights = [piece.end_ms - piece.start_ms for piece in pieces]
    amounts = Amounts(bill.list_micros, bill.contracted_micros, bill.effective_micros)
    return tuple(
        replace(
            piece,
            list_micros=listed,
            contracted_micros=contracted,
            effective_micros=effective,
            detail="",
        )
        for piece, (listed, contracted, effective) in zip(
            pieces, split_bases(amounts, weights), strict=True
        )
    )
