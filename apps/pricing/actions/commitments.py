"""What was bought ahead: entered, kept as a cloud tells it, ended before its term."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction

from apps.accounts.actions import hold_organisation
from apps.accounts.actions.constraints import refusing
from apps.accounts.queries import organisation, teams
from apps.economics.hours import HOUR, MILLISECOND, hour_of
from apps.economics.refusal import Refusal
from apps.fleet.queries import pools
from apps.logs.changes import logged_change
from apps.marks.actions import ORGANISATION, mark_span
from apps.marks.queries import Pass
from apps.pricing.actions.checking import RateNotUnderstood, mark_charge, refuse_inexact
from apps.pricing.models import Commitment, CommitmentKindChoice, RateUnit
from apps.pricing.queries.commitments import CommitmentFact
from apps.pricing.queries.exchange import exchange

MOST_UNITS = 2**31 - 1
FARTHEST_ZONE = timedelta(hours=14)
TEXTS = ("name", "provider", "region", "instance_type", "gpu_model", "external_id", "source")
PLAIN = (
    *("kind", "pool_id", "units", "unit", "spend", "upfront", "hourly", "currency", "owner_id"),
)
ADDED, UPDATED, UNCHANGED = "added", "updated", "unchanged"


class CommitmentNotUnderstood(Refusal):
    """A field of a commitment says nothing that could have been bought."""


class CommitmentEndsBeforeItStarts(Refusal):
    """Such a commitment would never hold."""


class CommitmentExists(Refusal):
    """There is one of this name, or one that the provider calls the same."""


class CommitmentAlreadyEnded(Refusal):
    """A commitment ends once, within its term; what it covered before stays covered."""


@dataclass(frozen=True, slots=True)
class NewCommitment:
    """`units` nodes or GPUs, or `spend` an hour at `prices` (a node's hour by instance type).

    It costs `upfront` once and `hourly` for each hour of `[starts_at, ends_at)`, whole hours both.
    A capacity block may begin and end at any whole minute, as AWS's do at 11:30 UTC. What is empty of its scope does not matter; nobody's unused part is Platform's.
    """

    name: str
    kind: str
    currency: str
    starts_at: datetime
    ends_at: datetime
    provider: str = ""
    region: str = ""
    instance_type: str = ""
    gpu_model: str = ""
    pool_id: int | None = None
    units: int = 0
    unit: str = RateUnit.NODE
    spend: Decimal = Decimal(0)
    prices: Mapping[str, Decimal] = field(default_factory=dict)
    upfront: Decimal = Decimal(0)
    hourly: Decimal = Decimal(0)
    owner_id: int | None = None
    external_id: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class RecordedCommitment:
    """A commitment as it stands now: it was added, updated, or unchanged."""

    id: int
    became: str


@logged_change()
@transaction.atomic
def add_commitment(*, commitment: NewCommitment, at: datetime) -> int:
    """Enter what was bought ahead; answers its id. Marks charge for the past part of its term.

    Refuses CommitmentNotUnderstood, CommitmentEndsBeforeItStarts and CommitmentExists.
    """
    hold_organisation()
    check_commitment(commitment)
    _refuse_unconvertible(commitment)
    with refusing(_refusals_by_constraint(commitment)):
        row = Commitment.objects.create(**_commitment_columns(commitment), created_at=at)
    _mark_term(commitment.starts_at, commitment.ends_at, at, commitment.external_id)
    return row.id


@logged_change()
@transaction.atomic
def record_commitment(
    *, commitment: NewCommitment, at: datetime, ended_at: datetime | None = None
) -> RecordedCommitment:
    """Keep what a provider calls `external_id` as it tells it now; the same again changes nothing.

    Its bounds are cut to whole hours, as providers bill, those of a capacity block to minutes. An owner and a pool that a person gave
    stay where the provider tells none. A currency without a rate of exchange is kept: its cost is
    unknown until there is one. Refuses as `add_commitment`.
    """
    if not commitment.external_id:
        raise CommitmentNotUnderstood("external_id", "a provider calls its commitment something")
    told = replace(
        commitment,
        starts_at=_bound_of_period(commitment, commitment.starts_at),
        ends_at=_bound_of_period(commitment, commitment.ends_at + _bound_tolerance(commitment)),
    )
    check_commitment(told)
    held = (
        Commitment.objects.select_for_update()
        .filter(provider=told.provider, external_id=told.external_id)
        .first()
    )
    if held is None:
        with refusing(_refusals_by_constraint(told)):
            held = Commitment.objects.create(
                **_commitment_columns(told), created_at=at, ended_at=ended_at
            )
        _mark_term(told.starts_at, told.ends_at, at, told.external_id)
        return RecordedCommitment(held.id, ADDED)
    return _kept_up(held, told, ended_at, at)


@logged_change()
@transaction.atomic
def end_commitment(*, commitment_id: int, ended_at: datetime, at: datetime) -> None:
    """It was returned or cancelled: from `ended_at` on it covers nothing and costs nothing.

    Refuses CommitmentNotUnderstood, CommitmentEndsBeforeItStarts and CommitmentAlreadyEnded.
    """
    row = Commitment.objects.select_for_update().get(pk=commitment_id)
    starts_at, until = row.period.lower, row.period.upper
    if ended_at != hour_of(ended_at):
        raise CommitmentNotUnderstood("ended_at", f"{ended_at} is not a whole hour")
    if ended_at <= starts_at:
        raise CommitmentEndsBeforeItStarts(
            "ended_at", f"{row.name} begins only at {starts_at:%Y-%m-%d %H:%M}Z"
        )
    ends_at = until if row.ended_at is None else min(until, row.ended_at)
    if row.ended_at is not None or ended_at >= until:
        raise CommitmentAlreadyEnded(
            "ended_at", f"{row.name} ends at {ends_at:%Y-%m-%d %H:%M}Z already"
        )
    row.ended_at = ended_at
    row.save(update_fields=["ended_at"])
    mark_charge(ended_at, until, at)


def check_commitment(commitment: NewCommitment) -> None:
    """Refuse what `add_commitment` would refuse of it by itself; other ones are not looked at."""
    _refuse_misnamed(commitment)
    # What is no number cannot be compared with one.
    _refuse_amounts(commitment)
    _refuse_without_scope(commitment)
    _refuse_mismeasured(commitment)
    _refuse_term(commitment)


def as_bought(commitment: NewCommitment) -> CommitmentFact:
    """A commitment that nobody entered yet, as queries know those that are; its id is 0."""
    said = {
        name: getattr(commitment, name)
        for name in NewCommitment.__slots__
        if name in CommitmentFact.__slots__
    }
    term = commitment.ends_at - commitment.starts_at
    return CommitmentFact(
        **said, id=0, hours=-(-term // HOUR), term_ms=term // MILLISECOND, ended_at=None
    )


def _refuse_misnamed(commitment: NewCommitment) -> None:
    checks = [
        (bool(commitment.name.strip()), "name", "a commitment has a name"),
        (commitment.kind in CommitmentKindChoice.values, "kind", f"{commitment.kind!r} is none"),
        (
            commitment.unit in RateUnit.values,
            "unit",
            f"{commitment.unit!r} is neither node nor gpu",
        ),
        (
            len(commitment.currency) == 3 and commitment.currency.isupper(),
            "currency",
            f"{commitment.currency!r} is not a code of three letters",
        ),
        (
            commitment.pool_id is None or commitment.pool_id in pools(),
            "pool",
            f"there is no pool {commitment.pool_id}",
        ),
        (
            commitment.owner_id is None or commitment.owner_id in {team.id for team in teams()},
            "owner",
            f"there is no team {commitment.owner_id}",
        ),
    ]
    _refuse_failed(checks)


def _refuse_without_scope(commitment: NewCommitment) -> None:
    machine = commitment.instance_type or commitment.gpu_model
    checks = [
        (
            commitment.pool_id is not None or bool(commitment.provider),
            "provider",
            "a commitment names a provider, or a pool",
        ),
        (
            commitment.pool_id is not None or bool(machine) or commitment.spend > 0,
            "instance_type",
            "a commitment of units names an instance type, a GPU model or a pool",
        ),
    ]
    _refuse_failed(checks)


def _refuse_mismeasured(commitment: NewCommitment) -> None:
    has_units, has_spend = commitment.units > 0, commitment.spend > 0
    checks = [
        (0 <= commitment.units <= MOST_UNITS, "units", f"{commitment.units} is not a count"),
        (has_units or has_spend, "units", "neither units nor an hourly spend was bought"),
        (
            not (has_units and has_spend),
            "spend",
            "a commitment is of units or of a spend, not both",
        ),
        (
            not has_spend or bool(commitment.prices),
            "prices",
            "a spend buys at prices, by instance type",
        ),
        (not has_units or not commitment.prices, "prices", "units have no prices of their own"),
        (
            all(name.strip() and price > 0 for name, price in commitment.prices.items()),
            "prices",
            "each names an instance type and an amount above 0",
        ),
        # Nothing is bought for nothing: an unknown cost would stand as 0.
        (commitment.upfront + commitment.hourly > 0, "hourly", "it costs something, or upfront"),
    ]
    _refuse_failed(checks)


def _refuse_amounts(commitment: NewCommitment) -> None:
    amounts = {
        "spend": commitment.spend,
        "upfront": commitment.upfront,
        "hourly": commitment.hourly,
        **{f"prices.{name}": price for name, price in commitment.prices.items()},
    }
    for name, amount in amounts.items():
        try:
            refuse_inexact(amount)
        except RateNotUnderstood as refusal:
            raise CommitmentNotUnderstood(name, refusal.message) from refusal


def _refuse_term(commitment: NewCommitment) -> None:
    for name in ("starts_at", "ends_at"):
        moment = getattr(commitment, name)
        if moment != _bound_of_period(commitment, moment):
            unit = "minute" if commitment.kind == CommitmentKindChoice.CAPACITY_BLOCK else "hour"
            raise CommitmentNotUnderstood(name, f"{moment} is not a whole {unit}")
    if commitment.ends_at <= commitment.starts_at:
        raise CommitmentEndsBeforeItStarts(
            "ends_at", f"{commitment.ends_at} is not after {commitment.starts_at}"
        )


def _refuse_unconvertible(commitment: NewCommitment) -> None:
    ours = organisation().currency
    month = commitment.starts_at.date().replace(day=1)
    if exchange(from_currency=commitment.currency, to_currency=ours, month=month) is None:
        raise CommitmentNotUnderstood(
            "currency",
            f"no rate of exchange from {commitment.currency} to {ours} is known for "
            f"{month:%Y-%m} or before",
        )


def _refuse_failed(checks: list[tuple[bool, str, str]]) -> None:
    for holds, name, reason in checks:
        if not holds:
            raise CommitmentNotUnderstood(name, reason)


def _kept_up(
    held: Commitment, told: NewCommitment, ended_at: datetime | None, at: datetime
) -> RecordedCommitment:
    row = _commitment_columns(told)
    if told.owner_id is None:
        row["owner_id"] = held.owner_id
    if told.pool_id is None:
        row["pool_id"] = held.pool_id
    until = held.ended_at if ended_at is None else hour_of(ended_at)
    before = (held.period.lower, held.period.upper)
    is_same = before == row["period"] and held.ended_at == until
    names = [name for name in row if name != "period" and getattr(held, name) != row[name]]
    if is_same and not names:
        return RecordedCommitment(held.id, UNCHANGED)
    for name, said in {**row, "ended_at": until}.items():
        setattr(held, name, said)
    with refusing(_refusals_by_constraint(told)):
        held.save()
    # Both what it was and what it is have to be charged anew.
    starts_at, ends_at = min(before[0], told.starts_at), max(before[1], told.ends_at)
    _mark_term(starts_at, ends_at, at, told.external_id)
    return RecordedCommitment(held.id, UPDATED)


def _mark_term(starts_at: datetime, ends_at: datetime, at: datetime, external_id: str) -> None:
    """Mark charge for a term, and for the hours before it in which bills may charge rows of it.

    A row of a day is charged at its midnight, a longer one where its period begins: where it is
    the first of the month. Both may lie before the first node lived.
    """
    mark_charge(starts_at, ends_at, at)
    if not external_id:
        return
    midnight = hour_of(starts_at).replace(hour=0)
    first = midnight.replace(day=1)
    for begins, ends in (
        (midnight, midnight + HOUR),
        (first - FARTHEST_ZONE, first + FARTHEST_ZONE),
    ):
        if begins < at:
            mark_span(
                pass_=Pass.CHARGE, units=[ORGANISATION], starts_at=begins, ends_at=min(ends, at)
            )


def _commitment_columns(commitment: NewCommitment) -> dict[str, Any]:
    return {
        **{name: getattr(commitment, name) for name in PLAIN},
        **{name: getattr(commitment, name).strip() for name in TEXTS},
        "prices": {
            name.strip(): f"{price.normalize():f}"
            for name, price in sorted(commitment.prices.items())
        },
        "period": (commitment.starts_at, commitment.ends_at),
    }


def _refusals_by_constraint(commitment: NewCommitment) -> dict[str, Exception]:
    known = f"{commitment.provider} {commitment.external_id!r} is known already"
    return {
        "pricing_commitment_name_key": CommitmentExists(
            "name", f"there is a commitment {commitment.name.strip()!r} already"
        ),
        "commitment_known_once": CommitmentExists("external_id", known),
    }


def _bound_of_period(commitment: NewCommitment, moment: datetime) -> datetime:
    """The start of its hour, or of its minute where blocks begin within an hour."""
    if commitment.kind == CommitmentKindChoice.CAPACITY_BLOCK:
        return moment.replace(second=0, microsecond=0)
    return hour_of(moment)


def _bound_tolerance(commitment: NewCommitment) -> timedelta:
    """How little before the next bound a provider's end may be and still be that one."""
    is_block = commitment.kind == CommitmentKindChoice.CAPACITY_BLOCK
    return timedelta(seconds=1) if is_block else timedelta(minutes=1)
