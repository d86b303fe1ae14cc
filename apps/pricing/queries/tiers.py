"""Tiers of rates, as they are kept and as arithmetic takes them."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal

from apps.economics.tiers import Tier
from apps.pricing.models import Rate, RateStanding


def tiers_of(pairs: Iterable[tuple[str, str]]) -> tuple[Tier, ...]:
    """[from, amount] pairs, as text, of a row."""
    return tuple(Tier(Decimal(beyond), Decimal(amount)) for beyond, amount in pairs)


def has_tiers(starts_at: datetime, ends_at: datetime) -> bool:
    """Whether a rate in force has tiers at some time of `[starts_at, ends_at)`."""
    rows = Rate.objects.filter(standing=RateStanding.IN_FORCE, period__overlap=(starts_at, ends_at))
    return rows.exclude(tiers=[]).exists()
