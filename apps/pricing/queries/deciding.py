"""Prices that wait for a decision, and where each would take its place."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, Q

from apps.economics.purchase import PurchaseOption
from apps.pricing.models import Rate, RateStanding
from apps.pricing.queries.listing import rate_table

WAITS = (RateStanding.QUARANTINED, RateStanding.WAITING)


@dataclass(frozen=True, slots=True)
class RatePlace:
    """Where a price that waits would hold: `[starts_at, ends_at)`, after `predecessor_id` ends.

    What the predecessor no longer prices lies before `changes_until` (None: for good).
    """

    starts_at: datetime | None
    ends_at: datetime | None
    predecessor_id: int | None
    changes_until: datetime | None


def rates_waiting() -> list[dict[str, Any]]:
    """Every rate that somebody has to decide about, the oldest first."""
    return list(rate_table().filter(standing__in=WAITS).order_by("created_at", "id"))


def is_spot_point(rate: Rate) -> bool:
    """Whether it is one of a series that was told moment by moment."""
    is_open = rate.period.lower is not None and rate.period.upper is None
    return is_open and rate.purchase_option == PurchaseOption.SPOT


def place_of(rate: Rate) -> RatePlace:
    """Between the prices in force of the same thing; a later one goes on as it does."""
    starts_at, ends_at = rate.period.lower, rate.period.upper
    in_force = Rate.objects.filter(standing=RateStanding.IN_FORCE, target=rate.target)
    condition = Q(period__contains=starts_at) | Q(period__startswith__gt=starts_at)
    if starts_at is None:
        condition = ~Q(period__startswith=None)
    # Prices in force of one thing never overlap: at most one holds then, and it is the first.
    near = in_force.filter(condition).order_by(F("period__startswith").asc(nulls_first=True), "id")[
        :2
    ]
    rows = list(near)
    before = rows.pop(0) if rows and _holds_at(rows[0], starts_at) else None
    begins_next = rows[0].period.lower if rows else None
    upper = None if before is None else before.period.upper
    # A spot price that was told late holds no longer than the one that it splits.
    bounds = [ends_at, begins_next, upper if is_spot_point(rate) else None]
    until = min((bound for bound in bounds if bound is not None), default=None)
    if before is None:
        return RatePlace(starts_at, until, None, until)
    ends = None if upper is None or until is None else max(upper, until)
    return RatePlace(starts_at, until, before.id, ends)


def _holds_at(rate: Rate, at: datetime | None) -> bool:
    return at is not None and (rate.period.lower is None or rate.period.lower <= at)
