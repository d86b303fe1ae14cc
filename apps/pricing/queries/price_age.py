"""How old a price is, and when that is too old for what moves every week."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.conf import settings

from apps.economics.purchase import PurchaseOption
from apps.pricing.models import RateKind


@dataclass(frozen=True, slots=True)
class PriceAge:
    """The day on which a price was last said, and how many days ago that is."""

    said_on: date
    days: int

    @property
    def words(self) -> str:
        """`said on 2026-07-28, 124 days ago`."""
        ago = "today" if self.days <= 0 else f"{self.days} day{'s' * (self.days != 1)} ago"
        return f"said on {self.said_on}, {ago}"


def price_age(rate: Mapping[str, Any], at: datetime) -> PriceAge:
    """Of a row of `rate_table`: by its source's date, else since when it holds, else when it was entered."""
    read_on: date | None = rate["source_date"]
    said_on = read_on or (rate["starts_at"] or rate["created_at"]).date()
    return PriceAge(said_on, (at.date() - said_on).days)


def too_old_words(rate: Mapping[str, Any], at: datetime) -> str:
    """Why a spot price is not used for a decision; empty: it is not too old, or was agreed upon.

    What is charged is not touched by it.
    """
    if rate["purchase_option"] != PurchaseOption.SPOT or rate["kind"] != RateKind.LIST:
        return ""
    age, most = price_age(rate, at), settings.STALE_PRICE_DAYS
    if age.days <= most:
        return ""
    return f"its spot price was {age.words}: one older than {most} days (RUNRATE_STALE_PRICE_DAYS) is not used"
