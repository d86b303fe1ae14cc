"""Rates as a list and single ones, as they were entered, for whoever may see prices."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, TypeAlias

from django.db.models import F, Max, Min, Q, QuerySet

from apps.accounts.queries.paging import Page, PageRequest, page_of
from apps.economics.purchase import PurchaseOption
from apps.fleet.queries import PoolFact
from apps.pricing.models import Rate, RateKind, RateStanding
from apps.show.entries import Entry

KINDS = {"list": "List", "contract": "Contract"}
MOST_BEGUN = 200

Rows: TypeAlias = "QuerySet[Any, Any]"


@dataclass(frozen=True, slots=True)
class RatesWanted:
    """Filters of rates; None: any. `in_force_at` is a moment at which they held, and priced."""

    provider: str | None = None
    pool: Annotated[str | None, Entry(help="the name of a pool with its own price")] = None
    kind: Annotated[str | None, Entry(choices=KINDS)] = None
    in_force_at: Annotated[
        datetime | None, Entry(help="only rates that held at this moment, and were in force")
    ] = None
    standing: str | None = None


def rate_page(wanted: RatesWanted, page_request: PageRequest) -> Page[dict[str, Any]]:
    """Rates by what they price, then as they were entered: the history of one thing together."""
    chosen = {
        "provider": wanted.provider,
        "pool__name": wanted.pool,
        "kind": wanted.kind,
        "period__contains": wanted.in_force_at,
        "standing": wanted.standing if wanted.in_force_at is None else RateStanding.IN_FORCE,
    }
    conditions = Q(**{name: value for name, value in chosen.items() if value is not None})
    return page_of(rate_table().filter(conditions), page_request, "target", "id")


def rate_row(rate_id: int) -> dict[str, Any]:
    """One rate; refuses Rate.DoesNotExist."""
    row: dict[str, Any] = rate_table().get(id=rate_id)
    return row


def rate_rows(rate_ids: Collection[int]) -> dict[int, dict[str, Any]]:
    """Rates by id."""
    return {row["id"]: row for row in rate_table().filter(id__in=rate_ids).order_by("id")}


def rate_if_entered(rate_id: int) -> dict[str, Any] | None:
    """One rate; None where there is none of this id."""
    row: dict[str, Any] | None = rate_table().filter(id=rate_id).first()
    return row


def may_price(rate: dict[str, Any], pool: PoolFact) -> bool:
    """Whether a pool is what the rate prices; another rate may hold there all the same."""
    if rate["pool_id"] is not None:
        return bool(rate["pool_id"] == pool.id)
    same = ("provider", "purchase_option")
    any_or_same = ("region", "instance_type", "gpu_model")
    return all(rate[name] == getattr(pool, name) for name in same) and all(
        rate[name] in ("", getattr(pool, name)) for name in any_or_same
    )


def rate_begun(target: str, starts_at: datetime | None) -> int | None:
    """The rate in force of this very thing that began at this very moment."""
    begun = Rate.objects.filter(standing=RateStanding.IN_FORCE, target=target)
    begun = (
        begun.filter(period__startswith__isnull=True)
        if starts_at is None
        else begun.filter(period__startswith=starts_at)
    )
    return begun.order_by("id").values_list("id", flat=True).first()


def all_rates() -> list[dict[str, Any]]:
    """Every rate there ever was: what it prices, the newest first."""
    return list(
        rate_table().order_by("target", F("period__startswith").desc(nulls_last=True), "id")
    )


def rates_in_force(at: datetime) -> list[dict[str, Any]]:
    """Every rate that holds at `at`, by what it prices."""
    rows = rate_table().filter(standing=RateStanding.IN_FORCE, period__contains=at)
    return list(rows.order_by("target", "id"))


def rates_quarantined(at: datetime) -> list[dict[str, Any]]:
    """Every rate that would hold at `at` and is in quarantine, by what it prices."""
    rows = rate_table().filter(standing=RateStanding.QUARANTINED, period__contains=at)
    return list(rows.order_by("target", "id"))


def spot_extremes(starts_at: datetime, ends_at: datetime) -> dict[str, tuple[Decimal, Decimal]]:
    """The lowest and the highest spot price in force of each thing in that time, as quoted."""
    rows = (
        Rate.objects.filter(
            standing=RateStanding.IN_FORCE,
            purchase_option=PurchaseOption.SPOT,
            period__overlap=(starts_at, ends_at),
        )
        .values("target")
        .annotate(lowest=Min("amount"), highest=Max("amount"))
    )
    return {row["target"]: (row["lowest"], row["highest"]) for row in rows}


def target_price_starts(starts_at: datetime, ends_at: datetime) -> list[tuple[str, datetime]]:
    """Return what has a price of its own from a moment of that time on: of pools and contracts, but for spot."""
    rows = Rate.objects.filter(
        Q(pool__isnull=False) | Q(kind=RateKind.CONTRACT),
        standing=RateStanding.IN_FORCE,
        period__startswith__gte=starts_at,
        period__startswith__lt=ends_at,
    ).exclude(purchase_option=PurchaseOption.SPOT)
    begun = rows.order_by("period__startswith", "id").values_list("target", "period__startswith")
    return list(begun[:MOST_BEGUN])


def rates_of_target(target: str) -> list[dict[str, Any]]:
    """The history of the price of one thing, the newest first."""
    rows = rate_table().filter(target=target)
    return list(rows.order_by(F("period__startswith").desc(nulls_last=True), "id"))


def quoted_history(target: str) -> list[dict[str, Any]]:
    """The rates in force of one thing, as list and as contract prices; the first first."""
    _, _, subject = target.partition(" ")
    targets = [f"{kind} {subject}" for kind in RateKind.values]
    rows = rate_table().filter(standing=RateStanding.IN_FORCE, target__in=targets)
    return list(rows.order_by(F("period__startswith").asc(nulls_first=True), "id"))


def overlapping_rate(
    target: str, starts_at: datetime | None, ends_at: datetime | None
) -> dict[str, Any] | None:
    """A rate in force of this very thing that holds during some of that time."""
    rows = rate_table().filter(
        standing=RateStanding.IN_FORCE, target=target, period__overlap=(starts_at, ends_at)
    )
    rate: dict[str, Any] | None = rows.order_by("id").first()
    return rate


def rate_table() -> Rows:
    """Every rate with the columns of the listing, in no order yet."""
    rows: Rows = Rate.objects.annotate(
        pool_name=F("pool__name"),
        starts_at=F("period__startswith"),
        ends_at=F("period__endswith"),
    ).values(
        *("id", "target", "kind", "provider", "region", "instance_type", "gpu_model"),
        *("purchase_option", "pool_id", "pool_name", "amount", "currency", "quantity_seconds"),
        *("unit", "starts_at", "ends_at", "source", "source_date", "created_at"),
        *("standing", "doubt", "entered_by_id", "decided_by_id", "decided_at", "tiers"),
    )
    return rows
