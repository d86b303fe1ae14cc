"""Checks of commitments: what can have been bought ahead, and what says nothing that could have been."""

from datetime import datetime, timedelta

from apps.accounts.queries import teams
from apps.economics.hours import hour_of
from apps.economics.refusal import Refusal
from apps.economics.use_terms import PLATFORMS, TENANCIES, platform_of, tenancy_of
from apps.fleet.queries import pools
from apps.pricing.actions.checking import RateNotUnderstood, refuse_inexact
from apps.pricing.models import CommitmentKindChoice, RateUnit
from apps.pricing.queries.commitments import MOST_UNITS, EnteredCommitment


class CommitmentNotUnderstood(Refusal):
    """A field of a commitment says nothing that could have been bought."""


class CommitmentEndsBeforeItStarts(Refusal):
    """Such a commitment would never hold."""


def check_commitment(commitment: EnteredCommitment) -> None:
    """Refuse what `add_commitment` would refuse of it by itself; other ones are not looked at."""
    _refuse_misnamed(commitment)
    # What is no number cannot be compared with one.
    _refuse_amounts(commitment)
    _refuse_without_scope(commitment)
    _refuse_mismeasured(commitment)
    _refuse_term(commitment)


def _refuse_misnamed(commitment: EnteredCommitment) -> None:
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
            not commitment.platform.strip() or bool(platform_of(commitment.platform)),
            "platform",
            f"{commitment.platform!r} is none of {', '.join(PLATFORMS)}",
        ),
        (
            not commitment.tenancy.strip() or bool(tenancy_of(commitment.tenancy)),
            "tenancy",
            f"{commitment.tenancy!r} is none of {', '.join(TENANCIES)}",
        ),
        (
            commitment.is_shared or bool(commitment.account.strip()),
            "account",
            "one that is not shared is of an account",
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


def _refuse_without_scope(commitment: EnteredCommitment) -> None:
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


def _refuse_mismeasured(commitment: EnteredCommitment) -> None:
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


def _refuse_amounts(commitment: EnteredCommitment) -> None:
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


def _refuse_term(commitment: EnteredCommitment) -> None:
    for name in ("starts_at", "ends_at"):
        moment = getattr(commitment, name)
        if moment.microsecond:
            raise CommitmentNotUnderstood(name, f"{moment} is not a whole second")
    if commitment.ends_at <= commitment.starts_at:
        raise CommitmentEndsBeforeItStarts(
            "ends_at", f"{commitment.ends_at} is not after {commitment.starts_at}"
        )


def _refuse_failed(checks: list[tuple[bool, str, str]]) -> None:
    for holds, name, reason in checks:
        if not holds:
            raise CommitmentNotUnderstood(name, reason)


def bound_of_period(commitment: EnteredCommitment, moment: datetime) -> datetime:
    """The start of its hour, as providers bill; of its second where blocks begin within an hour."""
    if commitment.kind == CommitmentKindChoice.CAPACITY_BLOCK:
        return moment.replace(microsecond=0)
    return hour_of(moment)


def end_of_period(commitment: EnteredCommitment, moment: datetime) -> datetime:
    """The end that a provider means: some write the last second, or minute, of a term as its end."""
    is_block = commitment.kind == CommitmentKindChoice.CAPACITY_BLOCK
    if not is_block:
        return bound_of_period(commitment, moment + timedelta(minutes=1))
    after = bound_of_period(commitment, moment + timedelta(seconds=1))
    return bound_of_period(commitment, moment) if after.second else after
