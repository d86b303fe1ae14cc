"""The charge pass: one hour of the whole organisation, rates times lived time or what was billed."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from apps.accounts import queries as accounts
from apps.accounts.queries.reading import reading_once
from apps.economics.hours import HOUR, first_hour
from apps.ledger.actions.charge.apart import billed_apart, shared_costs
from apps.ledger.actions.charge.calls import calls_to_models
from apps.ledger.actions.charge.host import divide_host
from apps.ledger.actions.charge.node_hours import node_hours
from apps.ledger.actions.charge.quoting import later_marks, wait_for_turn
from apps.ledger.actions.charge.values import SETTLES_AFTER, Hour, WantedCharge
from apps.ledger.actions.charge.weights import weights_moved
from apps.ledger.actions.charge.writing import remove, write
from apps.ledger.actions.marked import Done, redo_marked
from apps.ledger.actions.outcome import BUSY, Outcome
from apps.ledger.actions.partitions import ensure_month
from apps.ledger.models import ChargeKind, Status
from apps.ledger.queries.calendar import local_day, posting_month
from apps.ledger.queries.charges import ChargeKey, StoredCharge, charges_of_hour
from apps.logs.changes import field_of, logged_pass
from apps.marks.actions import Mark, hour_key
from apps.marks.queries import BillUnit, Pass
from apps.pricing.queries.price_policies import gpu_shares

BY_BILL = frozenset({Status.RECONCILED, Status.RESTATED})


@logged_pass("charge", count=field_of("changed"))
def charge_hour(*, hour: datetime, at: datetime) -> Outcome:
    """Charge every node-hour lived, shared cost, billed row and call of `hour`, as far as `at`.

    Charges whose facts did not change stay untouched; those of nodes that no longer lived then go
    with their lines. Marks the next passes for what changed.
    """
    this = _this_hour(hour, at)
    ensure_month(month=this.month)
    if at <= hour:
        return BUSY
    return redo_marked(
        Pass.CHARGE,
        hour,
        month=this.month,
        key=hour_key(hour),
        work=lambda _: _charge_all(this, at),
        # Lines of a charge that goes must not be written meanwhile.
        also=(Pass.SPLIT,),
    )


def _charge_all(this: Hour, at: datetime) -> Done:
    wait_for_turn(this)
    with reading_once():
        by_rates = divide_host(node_hours(this), gpu_shares(this.starts_at), this)
        charges = (*by_rates, *shared_costs(this), *billed_apart(this), *calls_to_models(this))
    wanted = {shared_cost.key: shared_cost for shared_cost in charges}
    held_charges = charges_of_hour(this.starts_at)
    # One without a digest is empty already, and stays only for what corrects it.
    removed = [
        charge for key, charge in held_charges.items() if key not in wanted and charge.digest
    ]
    changed = _changed_charges(this, wanted, held_charges)
    pools = remove(this, removed)
    statuses = [
        _status_of(this, held_charges.get(changed_charge.key), changed_charge)
        for changed_charge in changed
    ]
    pools |= write(this, changed, statuses, held_charges)
    keys = [changed_charge.key for changed_charge in changed] + [charge.key for charge in removed]
    touched = [*removed, *(held_charges[key] for key in keys if key in held_charges)]
    nodes = {changed_charge.of_node for changed_charge in changed} | {
        charge.node_id for charge in touched
    }
    next_marks = _next_marks(this, keys, nodes, pools)
    if weights_moved(this, held_charges, removed, zip(changed, statuses, strict=True)):
        next_marks.append(Mark(Pass.BILLS, BillUnit.WEIGHTS, this.starts_at))
    return Outcome(changed=len(keys)), next_marks + (later_marks(this, at) if keys else [])


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


def _changed_charges(
    this: Hour,
    wanted: Mapping[ChargeKey, WantedCharge],
    held_charges: Mapping[ChargeKey, StoredCharge],
) -> list[WantedCharge]:
    """Those that are new, have other facts, or are to be called estimated from now on."""
    changed = []
    for key, charge in wanted.items():
        before = held_charges.get(key)
        if (
            before is None
            or before.digest != charge.price.digest
            or before.status != _status_of(this, before, charge)
        ):
            changed.append(charge)
    return changed


def _status_of(this: Hour, before: StoredCharge | None, wanted: WantedCharge) -> Status:
    """Return the status of a charge: one estimated once is never provisional again; one reconciled is restated.

    A charge whose bill was taken back is an estimate again.
    """
    was = None if before is None else Status(before.status)
    if wanted.status is Status.RECONCILED and before is not None and was in BY_BILL:
        is_same = before.digest == wanted.price.digest
        return was if is_same else Status.RESTATED
    if wanted.status is not None:
        return wanted.status
    if was is None or was is Status.PROVISIONAL:
        return this.status
    return Status.ESTIMATED if was in BY_BILL else was


def _next_marks(
    this: Hour, keys: Sequence[ChargeKey], nodes: set[int | None], pools: set[int]
) -> list[Mark]:
    day = first_hour(local_day(this.starts_at, this.zone), this.zone)
    marks = [
        Mark(Pass.SPLIT, node_id, this.starts_at)
        for node_id in sorted(node for node in nodes if node is not None)
    ]
    if any(kind == ChargeKind.SHARED for kind, _, _ in keys):
        marks.append(Mark(Pass.SPREAD, 0, this.starts_at))
    return marks + [Mark(Pass.ROLLUP, pool_id, day) for pool_id in pools]
