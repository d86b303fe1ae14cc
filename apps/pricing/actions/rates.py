"""Prices as they are quoted: entered, ended, loaded from a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from apps.accounts.actions import hold_organisation
from apps.accounts.actions.constraints import refusing
from apps.accounts.queries import organisation
from apps.economics.purchase import PurchaseOption
from apps.economics.refusal import Refusal
from apps.logs.changes import field_of, logged_change
from apps.pricing.actions.checking import (
    RateEndsBeforeItStarts,
    RateNotUnderstood,
    mark_priced,
    refuse_backward,
    refuse_inexact,
    refuse_tiers,
    refuse_unconvertible,
)
from apps.pricing.actions.price_checks import Doubts, Judged, judged, moved
from apps.pricing.actions.quoted import EnteredRate, target_of
from apps.pricing.actions.rows import (
    begins_at,
    in_force_since,
    outlasted,
    row_of,
    say_again,
    stored_tiers,
)
from apps.pricing.models import Rate, RateKind, RateStanding, RateUnit
from apps.pricing.queries.comparable_prices import last_rate_id, price_before
from apps.pricing.queries.reach import Prices


class RateOverlaps(Refusal):
    """Two prices of equal priority for one thing at one time: nobody could say which is meant."""


class RateNotInForce(Exception):
    """A refusal to end a rate that prices nothing: it has nothing to end."""


class RateAlreadyEnded(Exception):
    """A rate ends once; what it priced before stays priced."""


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row of a price table that was not taken, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class RowRemark:
    """A row of a price table that was taken in another way than it is written."""

    line: int
    remark: str


@dataclass(frozen=True, slots=True)
class TableLoaded:
    """The outcome of a price table's rows; `waiting` ones price nothing until somebody decides."""

    imported: int
    unchanged: int
    rejected: tuple[RefusedRow, ...]
    waiting: int = 0
    remarks: tuple[RowRemark, ...] = ()


def row_remarks(
    rows: Sequence[tuple[int, EnteredRate]], rejected: Sequence[RefusedRow]
) -> tuple[RowRemark, ...]:
    """Return the remarks on the rows that were taken, by line."""
    refused = {row.line for row in rejected}
    remarks = [(line, rate.remark) for line, rate in rows if rate.remark and line not in refused]
    return tuple(RowRemark(line, remark) for line, remark in sorted(remarks))


@dataclass(frozen=True, slots=True)
class RecordedRate:
    """A price as it stands now; `doubt` says why it does not price anything yet.

    `is_new` is false where the very same price waited already, or was refused.
    """

    id: int
    standing: str
    doubt: str = ""
    is_new: bool = True


@logged_change()
@transaction.atomic
def add_rate(*, rate: EnteredRate, at: datetime) -> int:
    """Enter a price that nobody needs to agree to; answers its id. An implausible one is quarantined.

    Marks charge for the past part of its period. Refuses RateNotUnderstood,
    RateEndsBeforeItStarts, RateCurrencyDiffers and RateOverlaps.
    """
    hold_organisation()
    check_rate(rate)
    doubt = Doubts().of(rate)
    as_judged = Judged(RateStanding.QUARANTINED, doubt) if doubt else Judged()
    return _enter_rate(rate, as_judged, None, at).id


@logged_change()
@transaction.atomic
def propose_rate(*, rate: EnteredRate, by: int | None, at: datetime) -> RecordedRate:
    """Enter a price as a person (None: a machine): what moves much waits for a second person.

    One that waits may overlap the price in force, unless that goes on after it: accepted it takes
    its place. The same one again changes nothing. Refuses as `add_rate`.
    """
    hold_organisation()
    check_rate(rate)
    as_judged = judged(rate)
    if as_judged.doubt and outlasted(rate):
        raise RateOverlaps("", f"{target_of(rate)} has a price that goes on after it; end it first")
    return _enter_rate(rate, as_judged, by, at)


def check_rate(rate: EnteredRate) -> None:
    """Refuse what `add_rate` would refuse of the rate by itself; the others are not looked at."""
    _refuse_misunderstood(rate)
    refuse_unconvertible(rate.currency, rate.starts_at)


@logged_change()
@transaction.atomic
def end_rate(*, rate_id: int, ended_at: datetime, at: datetime) -> None:
    """The price holds until `ended_at`; what comes after is unpriced until another is entered.

    Refuses RateNotInForce, RateAlreadyEnded and RateEndsBeforeItStarts.
    """
    rate = Rate.objects.select_for_update().get(pk=rate_id)
    if rate.standing != RateStanding.IN_FORCE:
        raise RateNotInForce(f"{rate.target} is {rate.get_standing_display()}: it has no end")
    began_at, until = rate.period.lower, rate.period.upper
    if until is not None and until <= ended_at:
        raise RateAlreadyEnded(f"{rate.target} ended at {until:%Y-%m-%d %H:%M}Z")
    if began_at is not None and ended_at <= began_at:
        raise RateEndsBeforeItStarts("", f"{rate.target} begins only at {began_at:%Y-%m-%d %H:%M}Z")
    rate.period = (began_at, ended_at)
    rate.save(update_fields=["period"])
    mark_priced(Prices.of(rate), ended_at, until, at)


@logged_change(count=field_of("imported"))
@transaction.atomic
def load_price_table(
    *, rows: Sequence[tuple[int, EnteredRate]], at: datetime, by: int | None = None
) -> TableLoaded:
    """Enter the rows (line number, rate) of a price table; loading it again changes nothing.

    A row that begins later than the price of the same thing ends that price. A row that is refused
    is named with its line and reason, and the others are kept. An implausible row is quarantined,
    beside its table too; one that moves a price known before the table waits for a person of
    finance, unless it is a spot price. `by` is who loads it, where a person does.
    """
    hold_organisation()
    imported = unchanged = waiting = 0
    rejected = []
    judge = _TableJudge([rate for _, rate in rows])
    for line, rate in sorted(rows, key=_entry_order):
        try:
            if _entered_already(rate):
                say_again(rate)
                unchanged += 1
                continue
            check_rate(rate)
            entered = _enter_row(rate, judge.of(rate), by, at)
        except Refusal as refusal:
            rejected.append(RefusedRow(line, f"{type(refusal).__name__}: {refusal}"))
        else:
            judge.entered(rate, entered.standing)
            imported += entered.standing == RateStanding.IN_FORCE
            waiting += entered.standing != RateStanding.IN_FORCE
    rejected.sort(key=lambda row: row.line)
    remarks = row_remarks(rows, rejected)
    return TableLoaded(imported, unchanged, tuple(rejected), waiting, remarks)


class _TableJudge:
    """Judges the rows of one table; what it moves is asked of the prices known before it."""

    def __init__(self, rates: Sequence[EnteredRate]) -> None:
        self._doubts = Doubts(rates)
        self._threshold = organisation().price_approval_per_cent
        self._last_id = last_rate_id()

    def of(self, rate: EnteredRate) -> Judged:
        if doubt := self._doubts.of(rate):
            return Judged(RateStanding.QUARANTINED, doubt)
        if rate.purchase_option == PurchaseOption.SPOT:
            return Judged()
        before = price_before(target_of(rate), rate.starts_at, last_id=self._last_id)
        doubt = moved(rate, before, self._threshold)
        return Judged(RateStanding.WAITING, doubt) if doubt else Judged()

    def entered(self, rate: EnteredRate, state: str) -> None:
        self._doubts.entered(rate, state)


def _enter_row(rate: EnteredRate, as_judged: Judged, by: int | None, at: datetime) -> RecordedRate:
    with transaction.atomic():
        if as_judged.standing == RateStanding.IN_FORCE:
            _end_predecessor(rate, at)
        return _enter_rate(rate, as_judged, by, at)


def _enter_rate(rate: EnteredRate, as_judged: Judged, by: int | None, at: datetime) -> RecordedRate:
    target = target_of(rate)
    overlaps = RateOverlaps("", f"{target} has a price at that time already; end it first")
    if as_judged.standing != RateStanding.IN_FORCE:
        if (doubtful_rate := existing_doubtful_rate(rate)) is not None:
            return doubtful_rate
        if in_force_since(target, rate.starts_at):
            raise overlaps
    with refusing({"rates_of_equal_priority_do_not_overlap": overlaps}):
        row = Rate.objects.create(
            **row_of(rate), **_judgement_columns(as_judged, by), created_at=at
        )
    if as_judged.standing == RateStanding.IN_FORCE:
        mark_priced(Prices.of(rate), rate.starts_at, rate.ends_at, at)
    return RecordedRate(row.id, as_judged.standing, as_judged.doubt)


def _judgement_columns(as_judged: Judged, by: int | None) -> dict[str, Any]:
    return {"standing": as_judged.standing, "doubt": as_judged.doubt, "entered_by_id": by}


def existing_doubtful_rate(rate: EnteredRate) -> RecordedRate | None:
    """The very same price that waits or was refused: nobody is asked twice."""
    rows = _identical_rates(rate).exclude(standing=RateStanding.IN_FORCE).order_by("id")
    row = rows.filter(period__endswith=rate.ends_at).first() if rate.ends_at else rows.first()
    return None if row is None else RecordedRate(row.id, row.standing, row.doubt, is_new=False)


def _entry_order(row: tuple[int, EnteredRate]) -> tuple[float, bool, int]:
    """By time; what a machine costs on demand is known before what it costs on the spot market."""
    line, rate = row
    return _begin_seconds(rate), rate.purchase_option == PurchaseOption.SPOT, line


def _refuse_misunderstood(rate: EnteredRate) -> None:
    machines = bool(rate.instance_type) + bool(rate.gpu_model)
    checks = [
        (rate.kind in RateKind.values, "kind", f"{rate.kind!r} is neither list nor contract"),
        (rate.unit in RateUnit.values, "unit", f"{rate.unit!r} is neither node nor gpu"),
        (
            rate.purchase_option in {option.value for option in PurchaseOption},
            "purchase_option",
            f"{rate.purchase_option!r} is none",
        ),
        (
            rate.quantity_seconds in {1, 3600},
            "quantity_seconds",
            f"{rate.quantity_seconds} is neither a second nor an hour",
        ),
        (
            rate.pool_id is not None or machines == 1,
            "instance_type",
            "a rate names an instance type or a GPU model, and not both",
        ),
        (rate.pool_id is not None or bool(rate.provider), "provider", "a rate names a provider"),
    ]
    for holds, field, reason in checks:
        if not holds:
            raise RateNotUnderstood(field, reason)
    refuse_inexact(rate.amount)
    refuse_tiers(rate.tiers)
    refuse_backward(rate.starts_at, rate.ends_at)


def _begin_seconds(rate: EnteredRate) -> float:
    return float("-inf") if rate.starts_at is None else rate.starts_at.timestamp()


def _entered_already(rate: EnteredRate) -> bool:
    return _identical_rates(rate).exists()


def _identical_rates(rate: EnteredRate) -> "QuerySet[Rate]":
    begun = Rate.objects.filter(target=target_of(rate), **begins_at(rate.starts_at))
    return begun.filter(
        amount=rate.amount,
        currency=rate.currency,
        quantity_seconds=rate.quantity_seconds,
        unit=rate.unit,
        tiers=stored_tiers(rate),
    )


def _end_predecessor(rate: EnteredRate, at: datetime) -> None:
    if rate.starts_at is None:
        return
    rows = Rate.objects.filter(standing=RateStanding.IN_FORCE, target=target_of(rate))
    current_rate = rows.filter(period__contains=rate.starts_at).first()
    if (
        current_rate is not None
        and current_rate.period.upper is None
        and current_rate.period.lower != rate.starts_at
    ):
        end_rate(rate_id=current_rate.id, ended_at=rate.starts_at, at=at)
