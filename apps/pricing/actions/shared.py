"""Costs that all share."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db import transaction

from apps.accounts.actions.constraints import refusing
from apps.fleet.actions.marks import mark_span
from apps.fleet.queries import Pass
from apps.pricing.actions.checking import (
    ORGANISATION,
    RateNotUnderstood,
    refuse_backward,
    refuse_inexact,
    refuse_other_currency,
)
from apps.pricing.models import SharedCost


class SharedCostExists(ValueError):
    """A shared cost of this name runs at that time already."""


@dataclass(frozen=True, slots=True)
class NewSharedCost:
    """A monthly amount; `method` is by_cost, by_unit_time or even."""

    name: str
    amount: Decimal
    currency: str
    method: str
    starts_at: datetime
    ends_at: datetime | None = None


@transaction.atomic
def add_shared_cost(*, cost: NewSharedCost, at: datetime) -> int:
    """Enter a monthly amount that all lines carry a part of; answers its id.

    Refuses RateNotUnderstood, RateEndsBeforeItStarts, RateCurrencyDiffers and SharedCostExists.
    """
    if cost.method not in dict(SharedCost._meta.get_field("method").flatchoices):
        raise RateNotUnderstood(f"method: {cost.method!r} is not a way to share a cost")
    refuse_inexact(cost.amount)
    refuse_backward(cost.starts_at, cost.ends_at)
    refuse_other_currency(cost.currency)
    exists = SharedCostExists(f"{cost.name} is shared at that time already")
    with refusing({"shared_cost_once": exists}):
        row = SharedCost.objects.create(
            name=cost.name,
            amount=cost.amount,
            currency=cost.currency,
            method=cost.method,
            period=(cost.starts_at, cost.ends_at),
            created_at=at,
        )
    # It is owed from its start, before any node lived too: the platform team carries it then.
    ends_at = at if cost.ends_at is None else min(at, cost.ends_at)
    mark_span(pass_=Pass.CHARGE, units=[ORGANISATION], starts_at=cost.starts_at, ends_at=ends_at)
    return row.id
