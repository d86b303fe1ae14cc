"""Whether an hour costs something else than bills' rows that reach over it were spread by."""

from collections.abc import Iterable, Mapping, Sequence

from apps.ledger.actions.charge.values import Hour, WantedCharge
from apps.ledger.models import ChargeKind, Status
from apps.ledger.queries.bills.hours import is_spread_over
from apps.ledger.queries.charges import ChargeKey, StoredCharge

Weight = tuple[int | None, int | None]
"""A node-hour's pool, and its estimate."""


def weights_moved(
    this: Hour,
    held_charges: Mapping[ChargeKey, StoredCharge],
    removed: Sequence[StoredCharge],
    written: Iterable[tuple[WantedCharge, Status]],
) -> bool:
    """Whether a bill is spread by this hour, and a node came, went or costs something else in it.

    What a running hour costs changes every few minutes: until it is over only who is in it counts.
    """
    before = {
        key: (held_charge.pool_id, held_charge.estimate)
        for key, held_charge in held_charges.items()
        if held_charge.digest
    }
    after: dict[ChargeKey, Weight] = dict(before)
    for charge in removed:
        after.pop(charge.key, None)
    is_final = False
    for wanted_charge, _ in written:
        after[wanted_charge.key] = (wanted_charge.pool_id, _estimate_of(wanted_charge))
        was = held_charges.get(wanted_charge.key)
        is_final |= was is not None and was.status == Status.PROVISIONAL
    sums, were = _by_node(after), _by_node(before)
    if this.status is Status.PROVISIONAL:
        moved = sums.keys() != were.keys()
    else:
        moved = is_final or sums != were
    return moved and is_spread_over(this.starts_at)


def _estimate_of(wanted: WantedCharge) -> int | None:
    price = wanted.price
    return price.effective_micros if price.billed_micros is None else price.estimated_micros


def _by_node(weights: Mapping[ChargeKey, Weight]) -> dict[tuple[int, int | None], int]:
    sums: dict[tuple[int, int | None], int] = {}
    for (kind, node_id, _), (pool_id, micros) in weights.items():
        if kind == ChargeKind.NODE_HOUR:
            sums[node_id, pool_id] = sums.get((node_id, pool_id), 0) + (micros or 0)
    return sums
