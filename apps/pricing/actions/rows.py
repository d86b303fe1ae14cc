"""Rates as rows of their table."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Q

from apps.pricing.actions.quoted import EnteredRate, target_of
from apps.pricing.models import Rate, RateStanding

SAID = (
    *("provider", "region", "instance_type", "gpu_model", "purchase_option", "pool_id", "kind"),
    *("amount", "currency", "quantity_seconds", "unit", "source", "source_date"),
)


def row_of(rate: EnteredRate) -> dict[str, Any]:
    """Return what a rate says, by column."""
    columns = {name: getattr(rate, name) for name in SAID}
    tiers = stored_tiers(rate)
    return {
        **columns,
        "source": "; ".join(filter(None, (rate.source, rate.remark))),
        "tiers": tiers,
        "period": (rate.starts_at, rate.ends_at),
        "target": target_of(rate),
    }


def copied(row: Rate) -> dict[str, Any]:
    """Return what a rate in the table says, by column, for another of the same price."""
    return {name: getattr(row, name) for name in (*SAID, "tiers", "target")}


def stored_tiers(rate: EnteredRate) -> list[list[str]]:
    """[from, amount] pairs as text, without needless zeros: the same tiers are the same text."""
    return [[_number_text(tier.beyond), _number_text(tier.amount)] for tier in rate.tiers]


def _number_text(number: Decimal) -> str:
    return f"{number.normalize():f}"


def begins_at(starts_at: datetime | None) -> dict[str, Any]:
    """The condition that a row begins at this moment; None: that it has always held."""
    if starts_at is None:
        return {"period__startswith__isnull": True}
    return {"period__startswith": starts_at}


def in_force_since(target: str, starts_at: datetime | None) -> bool:
    """Whether a price of this thing in force begins at this very moment."""
    rows = Rate.objects.filter(standing=RateStanding.IN_FORCE, target=target)
    return rows.filter(**begins_at(starts_at)).exists()


def outlasted(rate: EnteredRate) -> bool:
    """Whether a price in force would have to begin again when this one is over."""
    if rate.ends_at is None:
        return False
    rows = Rate.objects.filter(standing=RateStanding.IN_FORCE, target=target_of(rate))
    return rows.filter(
        period__overlap=(rate.starts_at, rate.ends_at), period__contains=rate.ends_at
    ).exists()


def say_again(rate: EnteredRate) -> None:
    """Remember the day on which a price that holds was told again, and by whom; what it charges stays."""
    if rate.source_date is None:
        return
    same = Rate.objects.filter(
        standing=RateStanding.IN_FORCE,
        target=target_of(rate),
        amount=rate.amount,
        currency=rate.currency,
        quantity_seconds=rate.quantity_seconds,
        unit=rate.unit,
        period__upper_inf=True,
    )
    older = same.filter(Q(source_date=None) | Q(source_date__lt=rate.source_date))
    older.update(source_date=rate.source_date, source=row_of(rate)["source"])
