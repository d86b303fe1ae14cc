"""Corrections of what was put on record wrongly of a pool or a node, for all of its time."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from apps.accounts.actions import hold_organisation
from apps.economics.purchase import PurchaseOption
from apps.economics.refusal import Refusal
from apps.fleet.models import IdleSharing, Node, Pool
from apps.logs.changes import logged_change
from apps.marks.actions import ORGANISATION, mark_names, mark_span, mark_spans
from apps.marks.queries import Pass

OF_POOLS = (
    *("provider", "region", "instance_type", "gpu_model", "gpus_per_node", "purchase_option"),
    *("owner_team_id", "idle_sharing"),
)
"""What of a pool may be corrected; its name, its cluster and its unit are what others know it by."""
CHOICES = {
    "purchase_option": frozenset(PurchaseOption),
    "idle_sharing": frozenset(IdleSharing.values),
}


class NothingToCorrect(Refusal):
    """A correction that says what is on record, or nothing."""


class NotCorrectable(Refusal):
    """A field that cannot be corrected, or a value that it cannot have."""


@logged_change()
@transaction.atomic
def correct_pool(
    *, pool_id: int, changes: Mapping[str, object], at: datetime, note: str = ""
) -> None:
    """Say anew what all nodes of a pool are and were: fields of OF_POOLS by name; `note` says why.

    Every hour that a node of it lived is charged and divided again; in closed months that waits.
    What was on record before stays in the pool's history, with its note. Refuses NotCorrectable and
    NothingToCorrect.
    """
    for name, value in changes.items():
        if name not in OF_POOLS:
            raise NotCorrectable(name, f"the {name} of a pool cannot be corrected")
        if name in CHOICES and value not in CHOICES[name]:
            raise NotCorrectable(name, f"{value!r} is none of {', '.join(sorted(CHOICES[name]))}")
    if changes.get("provider") == "":
        raise NotCorrectable("provider", "a pool has a provider")
    hold_organisation()
    pool = Pool.objects.select_for_update(no_key=True).get(pk=pool_id)
    moved = {name: value for name, value in changes.items() if getattr(pool, name) != value}
    if not moved:
        raise NothingToCorrect("", f"that is what is on record of {pool.name} already")
    for name, value in moved.items():
        setattr(pool, name, value)
    pool.correction_note = note.strip()
    pool.save(update_fields=[*moved, "correction_note"])
    lifetimes = [
        (node_id, starts_at, at if ended_at is None else min(at, ended_at))
        for node_id, starts_at, ended_at in Node.objects.filter(pool_id=pool_id)
        .filter(period__startswith__lte=at, period__isempty=False)
        .values_list("id", "period__startswith", "period__endswith")
    ]
    if not lifetimes:
        return
    since, until = min(life[1] for life in lifetimes), max(life[2] for life in lifetimes)
    mark_span(pass_=Pass.CHARGE, units=[ORGANISATION], starts_at=since, ends_at=until)
    mark_spans(pass_=Pass.SPLIT, spans=lifetimes)
    mark_names(starts_at=since, ends_at=until)


@logged_change()
@transaction.atomic
def correct_provider_id(*, node_id: int, provider_id: str, at: datetime) -> None:
    """Say what a node's provider calls it; bills of its time are read again by that.

    Refuses NothingToCorrect.
    """
    node = Node.objects.select_for_update(no_key=True).get(pk=node_id)
    stripped_id = provider_id.strip()
    if stripped_id == node.provider_id:
        raise NothingToCorrect(
            "provider_id", f"{node.name} is known to its provider as {stripped_id!r} already"
        )
    node.provider_id = stripped_id
    node.save(update_fields=["provider_id"])
    if node.period.lower <= at:
        mark_names(starts_at=node.period.lower, ends_at=min(at, node.period.upper or at))
