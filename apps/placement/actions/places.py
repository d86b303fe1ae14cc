"""Prices of egress and regions with GPUs are entered as tables; what they were stays in the audit trail."""

from collections.abc import Collection, Mapping
from datetime import datetime
from decimal import Decimal

from django.db import transaction

from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.placement.models import AcceleratorRegion, EgressPrice

MOST_USD_PER_GB = Decimal(10)


class EgressNotUnderstood(Refusal):
    """A refusal that says what is wrong with a price of egress."""


@logged_change(count=lambda result, arguments: int(result))
@transaction.atomic
def set_egress_prices(
    *, prices: Mapping[tuple[str, str], Decimal], source: str, at: datetime
) -> int:
    """Enter US dollars per gigabyte by (source place, target place); how many are new or other than before.

    One that is said again as it was is of that day from then on. Refuses EgressNotUnderstood; then none is entered.
    """
    for (begins, ends), amount in prices.items():
        if ":" not in begins or ":" not in ends:
            raise EgressNotUnderstood("place", f"{begins} to {ends}: a place is as aws:us-east-1")
        if not 0 <= amount <= MOST_USD_PER_GB:
            raise EgressNotUnderstood("cost", f"{begins} to {ends}: {amount} USD per GB")
    rows_by_place = {(row.source_place, row.target_place): row for row in EgressPrice.objects.all()}
    fresh, moved, again = [], [], []
    for places, amount in prices.items():
        row = rows_by_place.get(places)
        if row is None:
            begins, ends = places
            fresh.append(
                EgressPrice(
                    source_place=begins,
                    target_place=ends,
                    usd_per_gb=amount,
                    source=source,
                    entered_at=at,
                )
            )
        elif (row.usd_per_gb, row.source) != (amount, source):
            row.usd_per_gb, row.source, row.entered_at = amount, source, at
            moved.append(row)
        elif row.entered_at.date() < at.date():
            row.entered_at = at
            again.append(row)
    EgressPrice.objects.bulk_create(fresh)
    EgressPrice.objects.bulk_update([*moved, *again], ["usd_per_gb", "source", "entered_at"])
    return len(fresh) + len(moved)


@logged_change(count=lambda result, arguments: int(result))
@transaction.atomic
def set_accelerator_regions(
    *, provider: str, places: Collection[tuple[str, str]], source: str, at: datetime
) -> int:
    """Enter where a provider has which GPUs, (model, region) each, in place of what was said of it before; how many changed."""
    rows = AcceleratorRegion.objects.filter(provider=provider)
    before = {(row.gpu_model, row.region): row for row in rows}
    stale_ids = [row.pk for place, row in before.items() if place not in places]
    rows.filter(pk__in=stale_ids).delete()
    fresh = sorted(set(places) - set(before))
    AcceleratorRegion.objects.bulk_create(
        AcceleratorRegion(
            provider=provider, gpu_model=model, region=region, source=source, entered_at=at
        )
        for model, region in fresh
    )
    return len(stale_ids) + len(fresh)
