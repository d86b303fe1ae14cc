"""How much of the price of a pool's nodes rides on their GPUs' time."""

from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import F

from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.pricing.actions.checking import mark_charge
from apps.pricing.models import NodePricePolicy

LONGEST_NOTE = 500


class GpuShareNotUnderstood(Refusal):
    """A share lies between 0 and 1 and has at most six decimals."""


def check_gpu_share(gpu_share: Decimal) -> None:
    """Refuse GpuShareNotUnderstood."""
    if not gpu_share.is_finite() or not 0 <= gpu_share <= 1:
        raise GpuShareNotUnderstood("gpu_share", f"{gpu_share} is not a share between 0 and 1")
    if gpu_share != round(gpu_share, 6):
        raise GpuShareNotUnderstood("gpu_share", f"{gpu_share} has more than 6 decimals")


@logged_change()
@transaction.atomic
def set_gpu_share(
    *, pool_id: int, gpu_share: Decimal, starts_at: datetime, note: str, at: datetime
) -> int:
    """From `starts_at` on this much of a node's price rides on its GPUs; answers the policy's id.

    It ends the policy before, and holds until one that begins later. One that begins at the same
    moment is replaced. Marks charge for the past part of it. Refuses GpuShareNotUnderstood.
    """
    check_gpu_share(gpu_share)
    of_pool = NodePricePolicy.objects.select_for_update().filter(pool_id=pool_id)
    text = note.strip()[:LONGEST_NOTE]
    policy = of_pool.filter(period__contains=starts_at).first()
    if policy is not None and policy.period.lower == starts_at:
        policy.gpu_share, policy.note = gpu_share, text
        policy.save(update_fields=["gpu_share", "note"])
        mark_charge(starts_at, policy.period.upper, at)
        return policy.id
    later = of_pool.filter(period__startswith__gt=starts_at).order_by("period")
    ends_at = later.values_list(F("period__startswith"), flat=True).first()
    if policy is not None:
        ends_at = policy.period.upper
        policy.period = (policy.period.lower, starts_at)
        policy.save(update_fields=["period"])
    period = (starts_at, ends_at)
    row = NodePricePolicy.objects.create(
        pool_id=pool_id, gpu_share=gpu_share, period=period, note=text, created_at=at
    )
    mark_charge(starts_at, ends_at, at)
    return row.id
