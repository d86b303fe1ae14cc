"""Charges, their pieces and the lines of those without a node, as they go into the tables."""

from collections.abc import Mapping, Sequence

from apps.economics.rates import Piece
from apps.ledger.actions.charge.values import Hour, WantedCharge
from apps.ledger.models import ChargeKind, ChargePart, Status
from apps.ledger.queries.charges import ChargeKey, StoredCharge
from apps.ledger.queries.tables import Row, copy_in, rows, run

REASONS = {
    Status.PROVISIONAL: "the hour is running, or ended less than 2 hours ago",
    Status.ESTIMATED: "2 hours have passed since the hour ended",
}


def remove(this: Hour, removed: Sequence[StoredCharge]) -> set[int]:
    """Take away charges with their pieces and lines; the pools that lost lines (0: none).

    One that a correction names stays, empty.
    """
    if not removed:
        return set()
    ids = {"ids": [charge.id for charge in removed], "month": this.month}
    removed_rows = rows(
        "DELETE FROM ledger_line WHERE posting_month = %(month)s AND charge_id = ANY(%(ids)s)"
        " RETURNING coalesce(pool_id, 0)",
        ids,
    )
    run("DELETE FROM ledger_chargepiece WHERE charge_id = ANY(%(ids)s)", ids)
    run(EMPTY, ids)
    run(
        "DELETE FROM ledger_charge AS charge WHERE id = ANY(%(ids)s) AND NOT EXISTS"
        " (SELECT 1 FROM ledger_charge AS later WHERE later.corrects_id = charge.id)",
        ids,
    )
    return {pool_id for (pool_id,) in removed_rows}


def write(
    this: Hour,
    changed: Sequence[WantedCharge],
    statuses: Sequence[Status],
    held_charges: Mapping[ChargeKey, StoredCharge],
) -> set[int]:
    """Store charges with their pieces, and the one line of each without a node.

    The pools whose lines changed thereby (0: none).
    """
    ids = {key: charge.id for key, charge in held_charges.items()}
    pairs = list(zip(changed, statuses, strict=True))
    new = [pair for pair in pairs if pair[0].key not in ids]
    again = [charge for charge in changed if charge.key in ids]
    if again:
        columns = _charge_columns(this, [pair for pair in pairs if pair[0].key in ids])
        run(UPDATE, columns | {"ids": [ids[charge.key] for charge in again]})
        run(
            "DELETE FROM ledger_chargepiece WHERE charge_id = ANY(%(ids)s)",
            {"ids": [ids[charge.key] for charge in again]},
        )
    for kind, number, part, charge_id in rows(INSERT, _charge_columns(this, new)) if new else ():
        ids[kind, number, part] = charge_id
    copy_in(
        "COPY ledger_chargepiece (charge_id, start_ms, end_ms, list_micros, contracted_micros,"
        " effective_micros, list_rate_id, contract_rate_id, commitment_id, detail) FROM STDIN",
        [_piece_row(ids[charge.key], piece) for charge in changed for piece in charge.price.pieces],
    )
    return _write_lines(this, changed, ids)


def _write_lines(
    this: Hour, changed: Sequence[WantedCharge], ids: Mapping[ChargeKey, int]
) -> set[int]:
    """The one line of each charge without a node; one that follows a node from now on has none."""
    apart = [charge for charge in changed if charge.team_id is not None]
    followers = [charge for charge in changed if charge.node_id is not None]
    if not apart and not followers:
        return set()
    params = {"ids": [ids[follower.key] for follower in (*apart, *followers)], "month": this.month}
    removed_rows = rows(
        "DELETE FROM ledger_line WHERE posting_month = %(month)s AND charge_id = ANY(%(ids)s)"
        " RETURNING coalesce(pool_id, 0)",
        params,
    )
    copy_in(LINES, [_line_row(this, ids[charge.key], charge) for charge in apart])
    return {pool_id for (pool_id,) in removed_rows} | {charge.pool_id or 0 for charge in apart}


def _line_row(this: Hour, charge_id: int, wanted: WantedCharge) -> Row:
    """No device time, no holder: whose it is, and how much."""
    price = wanted.price
    return (
        *(charge_id, this.starts_at, this.month, wanted.pool_id, wanted.team_id),
        *(wanted.workload_id, 0, 0, 0),
        *(price.list_micros, price.contracted_micros, price.effective_micros, price.billed_micros),
    )


def _piece_row(charge_id: int, piece: Piece) -> Row:
    return (
        charge_id,
        piece.start_ms,
        piece.end_ms,
        piece.list_micros,
        piece.contracted_micros,
        piece.effective_micros,
        piece.list_rate_id,
        piece.contract_rate_id,
        piece.commitment_id,
        piece.detail,
    )


def _charge_columns(
    this: Hour, charges: Sequence[tuple[WantedCharge, Status]]
) -> dict[str, object]:
    return {
        "hour": this.starts_at,
        "month": this.month,
        "currency": this.currency,
        "committed": int(ChargePart.COMMITTED),
        "calls": int(ChargePart.CALLS),
        "shared": int(ChargePart.SHARED_BY_BILL),
        "kinds": [str(charge.key[0]) for charge, _ in charges],
        "numbers": [charge.key[1] for charge, _ in charges],
        "pools": [charge.pool_id for charge, _ in charges],
        "parts": [int(charge.key[2]) for charge, _ in charges],
        "throughs": [charge.through or this.through for charge, _ in charges],
        "listed": [charge.price.list_micros for charge, _ in charges],
        "contracted": [charge.price.contracted_micros for charge, _ in charges],
        "effective": [charge.price.effective_micros for charge, _ in charges],
        "billed": [charge.price.billed_micros for charge, _ in charges],
        "estimated": [charge.price.estimated_micros for charge, _ in charges],
        "marginal": [charge.price.marginal_micros for charge, _ in charges],
        "plans": [_plan_id(charge) for charge, _ in charges],
        "nodes": [charge.of_node for charge, _ in charges],
        "commitments": [_commitment_id(charge) for charge, _ in charges],
        "statuses": [str(status) for _, status in charges],
        "reasons": [_status_reason(charge, status) for charge, status in charges],
        "digests": [charge.price.digest for charge, _ in charges],
    }


def _plan_id(wanted: WantedCharge) -> int | None:
    kind, number, _ = wanted.key
    return number if kind == ChargeKind.OWNED_UNUSED else wanted.price.owned_plan_id


def _commitment_id(wanted: WantedCharge) -> int | None:
    kind, number, part = wanted.key
    is_ours = kind == ChargeKind.COMMITMENT_UNUSED and part == ChargePart.COMMITTED
    return number if is_ours else wanted.commitment_id


def _status_reason(wanted: WantedCharge, status: Status) -> str:
    return wanted.reason or REASONS.get(status, "its price changed")


LINES = """
COPY ledger_line
    (charge_id, hour, posting_month, pool_id, team_id, workload_id, flags, evidence,
     unit_milliseconds, list_micros, contracted_micros, effective_micros, billed_micros)
FROM STDIN
"""
EMPTY = """
UPDATE ledger_charge AS charge
SET list_micros = NULL, contracted_micros = NULL, effective_micros = NULL, billed_micros = NULL,
    estimated_micros = NULL, marginal_micros = NULL, digest = '',
    reason = 'nothing of it is left; it was corrected once', spread_method = ''
WHERE id = ANY(%(ids)s)
  AND EXISTS (SELECT 1 FROM ledger_charge AS later WHERE later.corrects_id = charge.id)
"""
UPDATE = """
UPDATE ledger_charge AS held
SET through = new.through, pool_id = new.pool_id, list_micros = new.list_micros,
    contracted_micros = new.contracted_micros, effective_micros = new.effective_micros,
    billed_micros = new.billed_micros, estimated_micros = new.estimated_micros,
    marginal_micros = new.marginal_micros, owned_plan_id = new.owned_plan_id,
    commitment_id = new.commitment_id, node_id = new.node_id, status = new.status,
    reason = new.reason, spread_method = '', digest = new.digest
FROM unnest(%(ids)s::int8[], %(pools)s::int8[], %(throughs)s::timestamptz[], %(listed)s::int8[],
            %(contracted)s::int8[], %(effective)s::int8[], %(billed)s::int8[],
            %(estimated)s::int8[], %(marginal)s::int8[], %(plans)s::int8[],
            %(commitments)s::int8[], %(nodes)s::int8[], %(statuses)s::text[], %(reasons)s::text[],
            %(digests)s::bytea[])
     AS new (id, pool_id, through, list_micros, contracted_micros, effective_micros, billed_micros,
             estimated_micros, marginal_micros, owned_plan_id, commitment_id, node_id, status,
             reason, digest)
WHERE held.id = new.id
"""
# What a charge is of stands in a column of its own by its kind.
INSERT = """
INSERT INTO ledger_charge
    (kind, node_id, pool_id, shared_cost_id, commitment_id, billed_charge_id, api_item_id, part, hour,
     through, posting_month, list_micros, contracted_micros, effective_micros, billed_micros,
     estimated_micros, marginal_micros, owned_plan_id, currency, status, reason, digest)
SELECT new.kind, new.node_id, new.pool_id,
       CASE WHEN new.kind = 'shared' AND new.part <> %(shared)s THEN new.number END,
       new.commitment_id,
       CASE WHEN new.kind NOT IN ('node_hour', 'owned_unused')
                 AND (new.kind <> 'shared' OR new.part = %(shared)s)
                 AND NOT (new.kind = 'commitment_unused' AND new.part = %(committed)s)
                 AND new.part <> %(calls)s
            THEN new.number END,
       CASE WHEN new.part = %(calls)s THEN new.number END,
       new.part, %(hour)s, new.through, %(month)s, new.list_micros, new.contracted_micros,
       new.effective_micros, new.billed_micros, new.estimated_micros, new.marginal_micros,
       new.owned_plan_id, %(currency)s, new.status,
       new.reason, new.digest
FROM unnest(%(kinds)s::text[], %(numbers)s::int8[], %(pools)s::int8[], %(parts)s::int2[],
            %(throughs)s::timestamptz[], %(listed)s::int8[], %(contracted)s::int8[],
            %(effective)s::int8[], %(billed)s::int8[], %(estimated)s::int8[],
            %(marginal)s::int8[], %(plans)s::int8[], %(commitments)s::int8[], %(nodes)s::int8[],
            %(statuses)s::text[], %(reasons)s::text[], %(digests)s::bytea[])
     AS new (kind, number, pool_id, part, through, list_micros, contracted_micros,
             effective_micros, billed_micros, estimated_micros, marginal_micros, owned_plan_id,
             commitment_id, node_id, status, reason, digest)
RETURNING kind, coalesce(billed_charge_id, node_id, shared_cost_id, commitment_id, owned_plan_id,
                         api_item_id), part, id
"""
