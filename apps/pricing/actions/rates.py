"""Prices as they are quoted: entered, ended, loaded from a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from django.db import transaction

from apps.accounts.actions.constraints import refusing
from apps.economics.purchase import PurchaseOption
from apps.pricing.actions.checking import (
    RateCurrencyDiffers,
    RateEndsBeforeItStarts,
    RateNotUnderstood,
    mark_charge,
    refuse_backward,
    refuse_inexact,
    refuse_other_currency,
)
from apps.pricing.models import Rate, RateKind, RateUnit


class RateOverlaps(ValueError):
    """Two prices of equal priority for one thing at one time: nobody could say which is meant."""


class RateAlreadyEnded(Exception):
    """A rate ends once; what it priced before stays priced."""


@dataclass(frozen=True, slots=True)
class NewRate:
    """`amount` of `currency` for `quantity_seconds` (1 or 3600) of one node or one GPU.

    It prices one pool, or every pool of this provider, purchase option and instance type (else GPU
    model), in this region or, where none is said, in any.
    """

    kind: str
    amount: Decimal
    currency: str
    starts_at: datetime | None
    purchase_option: str
    provider: str = ""
    region: str = ""
    instance_type: str = ""
    gpu_model: str = ""
    pool_id: int | None = None
    quantity_seconds: int = 3600
    unit: str = RateUnit.NODE
    ends_at: datetime | None = None
    source: str = ""
    source_date: date | None = None


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row of a price table that was not taken, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class TableLoaded:
    """What became of a price table's rows."""

    imported: int
    unchanged: int
    rejected: tuple[RefusedRow, ...]


@transaction.atomic
def add_rate(*, rate: NewRate, at: datetime) -> int:
    """Enter a price; answers its id. Marks charge for the past part of its period.

    Refuses RateNotUnderstood, RateEndsBeforeItStarts, RateCurrencyDiffers and RateOverlaps.
    """
    check_rate(rate)
    target = target_of(rate)
    overlaps = RateOverlaps(f"{target} has a price at that time already; end it first")
    with refusing({"rates_of_equal_priority_do_not_overlap": overlaps}):
        row = Rate.objects.create(
            provider=rate.provider,
            region=rate.region,
            instance_type=rate.instance_type,
            gpu_model=rate.gpu_model,
            purchase_option=rate.purchase_option,
            pool_id=rate.pool_id,
            kind=rate.kind,
            amount=rate.amount,
            currency=rate.currency,
            quantity_seconds=rate.quantity_seconds,
            unit=rate.unit,
            period=(rate.starts_at, rate.ends_at),
            target=target,
            source=rate.source,
            source_date=rate.source_date,
            created_at=at,
        )
    mark_charge(rate.starts_at, rate.ends_at, at)
    return row.id


def check_rate(rate: NewRate) -> None:
    """Refuse what `add_rate` would refuse of the rate by itself; the others are not looked at."""
    _refuse_misunderstood(rate)
    refuse_other_currency(rate.currency)


@transaction.atomic
def end_rate(*, rate_id: int, ended_at: datetime, at: datetime) -> None:
    """The price holds until `ended_at`; what comes after is unpriced until another is entered.

    Refuses RateAlreadyEnded and RateEndsBeforeItStarts.
    """
    rate = Rate.objects.select_for_update().get(pk=rate_id)
    began_at, until = rate.period.lower, rate.period.upper
    if until is not None and until <= ended_at:
        raise RateAlreadyEnded(f"{rate.target} ended at {until:%Y-%m-%d %H:%M}Z")
    if began_at is not None and ended_at <= began_at:
        raise RateEndsBeforeItStarts(f"{rate.target} begins only at {began_at:%Y-%m-%d %H:%M}Z")
    rate.period = (began_at, ended_at)
    rate.save(update_fields=["period"])
    mark_charge(ended_at, until, at)


@transaction.atomic
def load_price_table(*, rows: Sequence[tuple[int, NewRate]], at: datetime) -> TableLoaded:
    """Enter the rows (line number, rate) of a price table; loading it again changes nothing.

    A row that begins later than the price of the same thing ends that price. A row that is refused
    is named with its line and reason, and the others are kept.
    """
    imported = unchanged = 0
    rejected = []
    for line, rate in sorted(rows, key=lambda row: (_begins(row[1]), row[0])):
        try:
            if _entered_already(rate):
                unchanged += 1
                continue
            with transaction.atomic():
                _end_predecessor(rate, at)
                add_rate(rate=rate, at=at)
            imported += 1
        except (
            RateOverlaps,
            RateCurrencyDiffers,
            RateNotUnderstood,
            RateEndsBeforeItStarts,
        ) as refusal:
            rejected.append(RefusedRow(line, f"{type(refusal).__name__}: {refusal}"))
    return TableLoaded(imported, unchanged, tuple(sorted(rejected, key=lambda row: row.line)))


def target_of(rate: NewRate) -> str:
    """What a rate prices, at which priority, in words: two rates of one target may not overlap."""
    if rate.pool_id is not None:
        return f"{rate.kind} pool {rate.pool_id}"
    machine = rate.instance_type or rate.gpu_model
    kind = "instance" if rate.instance_type else "gpu"
    place = rate.region or "any region"
    return f"{rate.kind} {rate.provider} / {place} / {kind} {machine} / {rate.purchase_option}"


def _refuse_misunderstood(rate: NewRate) -> None:
    machines = bool(rate.instance_type) + bool(rate.gpu_model)
    checks = [
        (rate.kind in RateKind.values, f"kind: {rate.kind!r} is neither list nor contract"),
        (rate.unit in RateUnit.values, f"unit: {rate.unit!r} is neither node nor gpu"),
        (
            rate.purchase_option in {option.value for option in PurchaseOption},
            f"purchase_option: {rate.purchase_option!r} is none",
        ),
        (
            rate.quantity_seconds in {1, 3600},
            f"quantity_seconds: {rate.quantity_seconds} is neither a second nor an hour",
        ),
        (
            rate.pool_id is not None or machines == 1,
            "instance_type: a rate names an instance type or a GPU model, and not both",
        ),
        (rate.pool_id is not None or bool(rate.provider), "provider: a rate names a provider"),
    ]
    for holds, reason in checks:
        if not holds:
            raise RateNotUnderstood(reason)
    refuse_inexact(rate.amount)
    refuse_backward(rate.starts_at, rate.ends_at)


def _begins(rate: NewRate) -> float:
    return float("-inf") if rate.starts_at is None else rate.starts_at.timestamp()


def _entered_already(rate: NewRate) -> bool:
    began = Rate.objects.filter(target=target_of(rate), period__startswith=rate.starts_at)
    return began.filter(
        amount=rate.amount,
        currency=rate.currency,
        quantity_seconds=rate.quantity_seconds,
        unit=rate.unit,
    ).exists()


def _end_predecessor(rate: NewRate, at: datetime) -> None:
    if rate.starts_at is None:
        return
    held = Rate.objects.filter(target=target_of(rate), period__contains=rate.starts_at).first()
    if held is not None and held.period.upper is None and held.period.lower != rate.starts_at:
        end_rate(rate_id=held.id, ended_at=rate.starts_at, at=at)
