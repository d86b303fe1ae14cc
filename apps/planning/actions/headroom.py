"""Headroom policies are set, replaced and removed; what they were stays in the audit trail."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction

from apps.accounts.actions.entered import keep, replace
from apps.accounts.queries.facts import fields_of
from apps.economics.refusal import Refusal
from apps.fleet import queries as fleet
from apps.logs.changes import logged_change
from apps.planning.models import HeadroomDimension, HeadroomPolicy
from apps.planning.queries.headroom import EnteredHeadroomPolicy
from apps.planning.queries.series import POOL, WORKLOAD_CLASS

LONGEST_LEAD_DAYS, MOST_PER_JOB = 730, 100_000
LARGEST_COST = Decimal(10) ** 9


class HeadroomNotUnderstood(Refusal):
    """A refusal that says what is wrong with a field of a headroom policy."""


class HeadroomNameTaken(Refusal):
    """Another policy has this name."""


@logged_change()
@transaction.atomic
def add_headroom_policy(*, policy: EnteredHeadroomPolicy, at: datetime) -> int:
    """Set a policy; answers its id. Refuses as check_headroom_policy does."""
    check_headroom_policy(policy)
    taken = {"planning_headroompolicy_name_key": _name_taken(policy)}
    return keep(HeadroomPolicy, _columns_of(policy), at, taken)


@logged_change()
@transaction.atomic
def replace_headroom_policy(*, policy_id: int, policy: EnteredHeadroomPolicy) -> None:
    """Set it anew as a whole. Refuses as check_headroom_policy does, and HeadroomPolicy.DoesNotExist."""
    row = HeadroomPolicy.objects.select_for_update().get(pk=policy_id)
    check_headroom_policy(policy, replaced=row.pk)
    taken = {"planning_headroompolicy_name_key": _name_taken(policy)}
    replace(row, _columns_of(policy), taken)


@logged_change()
@transaction.atomic
def remove_headroom_policy(*, policy_id: int) -> None:
    """Hold no forecast against it any more. Refuses HeadroomPolicy.DoesNotExist."""
    HeadroomPolicy.objects.select_for_update().get(pk=policy_id).delete()


def check_headroom_policy(policy: EnteredHeadroomPolicy, replaced: int | None = None) -> None:
    """Refuse HeadroomNotUnderstood and HeadroomNameTaken; `replaced` is the id of the one it takes the place of."""
    if not policy.name.strip():
        raise HeadroomNotUnderstood("name", "a policy has a name")
    _refuse_unknown(policy)
    for field in ("short_cost", "idle_cost"):
        cost: Decimal = getattr(policy, field)
        if not cost.is_finite() or not 0 < cost < LARGEST_COST or cost != round(cost, 6):
            raise HeadroomNotUnderstood(
                field, "a cost is above 0, of up to 9 digits and 6 decimals"
            )
    if not 1 <= policy.lead_days <= LONGEST_LEAD_DAYS:
        raise HeadroomNotUnderstood("lead_days", f"it is from 1 to {LONGEST_LEAD_DAYS} days")
    if not 1 <= policy.gpus_per_job <= MOST_PER_JOB:
        raise HeadroomNotUnderstood("gpus_per_job", f"it is from 1 to {MOST_PER_JOB:,} GPUs")
    share = policy.most_waiting
    if share is not None and not (share.is_finite() and 0 < share < 1 and share == round(share, 6)):
        raise HeadroomNotUnderstood(
            "most_waiting", "the share that may wait is above 0 and below 1"
        )
    policy_ids = HeadroomPolicy.objects.filter(name=policy.name.strip()).values_list(
        "pk", flat=True
    )
    if set(policy_ids) - {replaced}:
        raise _name_taken(policy)


def _refuse_unknown(policy: EnteredHeadroomPolicy) -> None:
    """Pools and models are there; a class says which pools are for it, and only a class."""
    if policy.dimension not in HeadroomDimension.values:
        raise HeadroomNotUnderstood("of", f"it is one of {', '.join(HeadroomDimension.values)}")
    pools = fleet.pools()
    known_keys = {str(pool_id) for pool_id in pools}
    if policy.dimension != POOL:
        known_keys = {pool.gpu_model for pool in pools.values()} - {""}
    if policy.dimension != WORKLOAD_CLASS and policy.key not in known_keys:
        raise HeadroomNotUnderstood("of", f"there is no {policy.dimension} {policy.key!r}")
    is_class = policy.dimension == WORKLOAD_CLASS
    if is_class != bool(policy.pool_ids) or not set(policy.pool_ids) <= pools.keys():
        raise HeadroomNotUnderstood(
            "pool_ids", "a class, and nothing else, says which pools it may run in"
        )
    if is_class and not policy.key:
        raise HeadroomNotUnderstood("of", "a class has a name")


def _columns_of(policy: EnteredHeadroomPolicy) -> dict[str, Any]:
    return fields_of(policy) | {"name": policy.name.strip(), "pool_ids": sorted(policy.pool_ids)}


def _name_taken(policy: EnteredHeadroomPolicy) -> HeadroomNameTaken:
    return HeadroomNameTaken("name", f"there is a policy named {policy.name.strip()!r} already")
