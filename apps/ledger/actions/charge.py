"""The charge pass: one hour of the whole organisation, rates times lived time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_EVEN
from hashlib import blake2b

from django.db import transaction

from apps.accounts import queries as accounts
from apps.economics.rates import Per, Piece, Rate, RateSpan, pieces_of_hour
from apps.economics.terms import term_amount_in_hour
from apps.fleet import queries as fleet
from apps.fleet.actions.marks import Mark, clear, hour_key, mark, try_lock
from apps.fleet.queries import Pass
from apps.ledger.actions.outcome import BUSY, NOTHING, Outcome
from apps.ledger.models import ChargeKind, Part, Status
from apps.ledger.queries.calendar import HOUR, first_hour, local_day, month_span, posting_month
from apps.ledger.queries.charges import (
    NO_RATES,
    ChargeKey,
    HeldCharge,
    HourRates,
    charges_of_hour,
    rates_of_hour,
    shared_costs_of_hour,
    unit_spans,
)
from apps.ledger.queries.tables import copy_in, rows, run

SETTLES_AFTER = timedelta(hours=2)
HOUR_MS = 3_600_000
REASONS = {
    Status.PROVISIONAL: "the hour is running, or ended less than 2 hours ago",
    Status.ESTIMATED: "2 hours have passed since the hour ended",
}


@dataclass(frozen=True, slots=True)
class Hour:
    """An hour as far as it has come, and where it is posted."""

    starts_at: datetime
    through: datetime
    month: date
    zone: str
    currency: str
    status: Status

    @property
    def through_ms(self) -> int:
        """How far the hour has come."""
        return (self.through - self.starts_at) // timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Price:
    """What a charge amounts to, piece by piece; nodes of one pool share it."""

    pieces: tuple[Piece, ...]
    list_micros: int | None
    contracted_micros: int | None
    effective_micros: int | None
    digest: bytes


@dataclass(frozen=True, slots=True)
class Wanted:
    """A charge as it ought to stand."""

    key: ChargeKey
    pool_id: int | None
    price: Price


def charge_hour(*, hour: datetime, at: datetime) -> Outcome:
    """Charge every node-hour lived and every shared cost of `hour`, as far as `at`.

    Charges whose facts did not change stay untouched; those of nodes that no longer lived then go
    with their lines. Marks the next passes for what changed.
    """
    with transaction.atomic():
        # The split's lock too: lines of a charge that goes must not be written meanwhile.
        key = hour_key(hour)
        if at <= hour or not (try_lock(Pass.CHARGE, key) and try_lock(Pass.SPLIT, key)):
            return BUSY
        marks = fleet.marks_of_hour(Pass.CHARGE, hour)
        if not marks:
            return NOTHING
        this = _this_hour(hour, at)
        wanted = {each.key: each for each in (*_node_hours(this), *_shared_costs(this))}
        held = charges_of_hour(hour)
        removed = [held[key] for key in held if key not in wanted]
        changed = _changed(this, wanted, held)
        pools = _remove(this, removed)
        _write(this, changed, held)
        keys = [each.key for each in changed] + [each.key for each in removed]
        clear(Pass.CHARGE, hour, marks)
        mark(_next_marks(this, keys, pools))
    return Outcome(changed=len(keys))


def _this_hour(hour: datetime, at: datetime) -> Hour:
    organisation = accounts.organisation()
    is_settled = at >= hour + HOUR + SETTLES_AFTER
    return Hour(
        starts_at=hour,
        through=min(at, hour + HOUR),
        month=posting_month(hour, organisation.zone),
        zone=organisation.zone,
        currency=organisation.currency,
        status=Status.ESTIMATED if is_settled else Status.PROVISIONAL,
    )


def _node_hours(this: Hour) -> Iterable[Wanted]:
    pools = fleet.pools()
    rates = rates_of_hour(this.starts_at, pools)
    # A fleet's nodes live alike: one price for each (pool, kind, life) instead of one per node.
    prices: dict[tuple[object, ...], list[tuple[Part, Price]]] = {}
    for node in fleet.nodes_lived(this.starts_at, this.through):
        pool = pools[node.pool_id]
        spans = unit_spans(this.starts_at, node, this.through, pool.gpus_per_node)
        alike = (node.pool_id, node.kind, *spans)
        if alike not in prices:
            of_pool = _of_kind(rates.get(node.pool_id, NO_RATES), node.kind, pool)
            prices[alike] = _prices(this, node.pool_id, of_pool, spans)
        for part, price in prices[alike]:
            yield Wanted((ChargeKind.NODE_HOUR, node.id, part), node.pool_id, price)


def _of_kind(rates: HourRates, kind: str, pool: fleet.PoolFact) -> HourRates:
    """A pool counted as a whole has no nodes to price: its node rates go by the GPU, exactly."""
    if kind != "pool":
        return rates
    return HourRates(
        tuple(each for span in rates.listed for each in _by_gpu(span, pool.gpus_per_node)),
        tuple(each for span in rates.contracted for each in _by_gpu(span, pool.gpus_per_node)),
    )


def _by_gpu(span: RateSpan, gpus_per_node: int) -> list[RateSpan]:
    rate = span.rate
    if rate.per is Per.GPU:
        return [span]
    if not gpus_per_node:
        return []
    seconds = rate.quantity_seconds * gpus_per_node
    whole = Rate(id=rate.id, amount=rate.amount, quantity_seconds=seconds, per=Per.GPU)
    return [RateSpan(span.start_ms, span.end_ms, whole, span.priority)]


def _prices(
    this: Hour, pool_id: int, rates: HourRates, spans: Sequence[tuple[int, int, int]]
) -> list[tuple[Part, Price]]:
    """One price for each part of the time in which the same bases are known."""
    pieces = [
        piece
        for start, end, units in spans
        for piece in pieces_of_hour((start, end), rates.listed, rates.contracted, units)
    ]
    by_part: dict[Part, list[Piece]] = {}
    for piece in pieces:
        by_part.setdefault(_part(piece), []).append(piece)
    return [
        (part, _price((pool_id, this.through_ms), tuple(of_part)))
        for part, of_part in sorted(by_part.items())
    ]


def _part(piece: Piece) -> Part:
    if piece.effective_micros is None:
        return Part.UNPRICED
    return Part.WITHOUT_LIST_PRICE if piece.list_micros is None else Part.PRICED


def _price(about: tuple[int, ...], pieces: tuple[Piece, ...]) -> Price:
    return Price(
        pieces=pieces,
        list_micros=_sum(piece.list_micros for piece in pieces),
        contracted_micros=_sum(piece.contracted_micros for piece in pieces),
        effective_micros=_sum(piece.effective_micros for piece in pieces),
        digest=blake2b(repr((about, pieces)).encode(), digest_size=16).digest(),
    )


def _sum(amounts: Iterable[int | None]) -> int | None:
    known = list(amounts)
    return None if None in known else sum(amount for amount in known if amount is not None)


def _shared_costs(this: Hour) -> Iterable[Wanted]:
    """This hour's part of each monthly amount, as far as the hour has come."""
    month = month_span(this.month, this.zone)
    k = (this.starts_at - month.starts_at) // HOUR
    for cost in shared_costs_of_hour(this.starts_at):
        monthly = int((cost.amount * 1_000_000).to_integral_value(ROUND_HALF_EVEN))
        ends_at = min(cost.ends_at, this.through)
        covered_ms = max(0, (ends_at - cost.starts_at) // timedelta(milliseconds=1))
        amount = term_amount_in_hour(monthly, month.hours, k) * covered_ms // HOUR_MS
        about = (cost.id, cost.method, this.through_ms, amount)
        digest = blake2b(repr(about).encode(), digest_size=16).digest()
        price = Price((), amount, amount, amount, digest)
        yield Wanted((ChargeKind.SHARED, cost.id, Part.PRICED), None, price)


def _changed(
    this: Hour, wanted: Mapping[ChargeKey, Wanted], held: Mapping[ChargeKey, HeldCharge]
) -> list[Wanted]:
    """Those that are new, have other facts, or are to be called estimated from now on."""
    changed = []
    for key, each in wanted.items():
        before = held.get(key)
        if (
            before is None
            or before.digest != each.price.digest
            or before.status != _status(this, before, each)
        ):
            changed.append(each)
    return changed


def _status(this: Hour, before: HeldCharge | None, wanted: Wanted) -> Status:
    """What was estimated once is never provisional again; what was reconciled is restated."""
    if before is None or before.status == Status.PROVISIONAL:
        return this.status
    if before.status == Status.RECONCILED and before.digest != wanted.price.digest:
        return Status.RESTATED
    return Status(before.status)


def _remove(this: Hour, removed: Sequence[HeldCharge]) -> set[int]:
    """Take away charges with their pieces and lines; the pools that lost lines (0: none)."""
    if not removed:
        return set()
    ids = {"ids": [charge.id for charge in removed], "month": this.month}
    gone = rows(
        "DELETE FROM ledger_line WHERE posting_month = %(month)s AND charge_id = ANY(%(ids)s)"
        " RETURNING coalesce(pool_id, 0)",
        ids,
    )
    run("DELETE FROM ledger_chargepiece WHERE charge_id = ANY(%(ids)s)", ids)
    run("DELETE FROM ledger_charge WHERE id = ANY(%(ids)s)", ids)
    return {pool_id for (pool_id,) in gone}


def _write(this: Hour, changed: Sequence[Wanted], held: Mapping[ChargeKey, HeldCharge]) -> None:
    ids = {key: charge.id for key, charge in held.items()}
    new = [each for each in changed if each.key not in ids]
    again = [each for each in changed if each.key in ids]
    if again:
        run(UPDATE, _columns(this, again, held) | {"ids": [ids[each.key] for each in again]})
        run(
            "DELETE FROM ledger_chargepiece WHERE charge_id = ANY(%(ids)s)",
            {"ids": [ids[each.key] for each in again]},
        )
    for kind, node_id, shared_id, part, charge_id in (
        rows(INSERT, _columns(this, new, held)) if new else ()
    ):
        ids[kind, node_id or shared_id, part] = charge_id
    copy_in(
        "COPY ledger_chargepiece (charge_id, start_ms, end_ms, list_micros, contracted_micros,"
        " effective_micros, list_rate_id, contract_rate_id) FROM STDIN",
        [_piece_row(ids[each.key], piece) for each in changed for piece in each.price.pieces],
    )


def _piece_row(charge_id: int, piece: Piece) -> tuple[int | None, ...]:
    return (
        charge_id,
        piece.start_ms,
        piece.end_ms,
        piece.list_micros,
        piece.contracted_micros,
        piece.effective_micros,
        piece.list_rate_id,
        piece.contract_rate_id,
    )


def _columns(
    this: Hour, charges: Sequence[Wanted], held: Mapping[ChargeKey, HeldCharge]
) -> dict[str, object]:
    statuses = [_status(this, held.get(each.key), each) for each in charges]
    return {
        "hour": this.starts_at,
        "through": this.through,
        "month": this.month,
        "currency": this.currency,
        "kinds": [str(each.key[0]) for each in charges],
        "nodes": [_id_of(each, ChargeKind.NODE_HOUR) for each in charges],
        "shared": [_id_of(each, ChargeKind.SHARED) for each in charges],
        "pools": [each.pool_id for each in charges],
        "parts": [int(each.key[2]) for each in charges],
        "listed": [each.price.list_micros for each in charges],
        "contracted": [each.price.contracted_micros for each in charges],
        "effective": [each.price.effective_micros for each in charges],
        "statuses": [str(status) for status in statuses],
        "reasons": [REASONS.get(status, "its price changed") for status in statuses],
        "digests": [each.price.digest for each in charges],
    }


def _id_of(wanted: Wanted, kind: ChargeKind) -> int | None:
    return wanted.key[1] if wanted.key[0] == kind else None


def _next_marks(this: Hour, keys: Sequence[ChargeKey], pools: set[int]) -> list[Mark]:
    day = first_hour(local_day(this.starts_at, this.zone), this.zone)
    marks = [
        Mark(Pass.SPLIT, number, this.starts_at)
        for kind, number, _ in keys
        if kind == ChargeKind.NODE_HOUR
    ]
    if any(kind == ChargeKind.SHARED for kind, _, _ in keys):
        marks.append(Mark(Pass.SPREAD, 0, this.starts_at))
    return marks + [Mark(Pass.ROLLUP, pool_id, day) for pool_id in pools]


UPDATE = """
UPDATE ledger_charge AS held
SET through = %(through)s, pool_id = new.pool_id, list_micros = new.list_micros,
    contracted_micros = new.contracted_micros, effective_micros = new.effective_micros,
    status = new.status, reason = new.reason, digest = new.digest
FROM unnest(%(ids)s::int8[], %(pools)s::int8[], %(listed)s::int8[], %(contracted)s::int8[],
            %(effective)s::int8[], %(statuses)s::text[], %(reasons)s::text[], %(digests)s::bytea[])
     AS new (id, pool_id, list_micros, contracted_micros, effective_micros, status, reason, digest)
WHERE held.id = new.id
"""
INSERT = """
INSERT INTO ledger_charge
    (kind, node_id, pool_id, shared_cost_id, part, hour, through, posting_month, list_micros,
     contracted_micros, effective_micros, currency, status, reason, digest)
SELECT new.kind, new.node_id, new.pool_id, new.shared_cost_id, new.part, %(hour)s, %(through)s,
       %(month)s, new.list_micros, new.contracted_micros, new.effective_micros, %(currency)s,
       new.status, new.reason, new.digest
FROM unnest(%(kinds)s::text[], %(nodes)s::int8[], %(pools)s::int8[], %(shared)s::int8[],
            %(parts)s::int2[], %(listed)s::int8[], %(contracted)s::int8[], %(effective)s::int8[],
            %(statuses)s::text[], %(reasons)s::text[], %(digests)s::bytea[])
     AS new (kind, node_id, pool_id, shared_cost_id, part, list_micros, contracted_micros,
             effective_micros, status, reason, digest)
RETURNING kind, node_id, shared_cost_id, part, id
"""
