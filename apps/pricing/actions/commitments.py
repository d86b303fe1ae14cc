"""Changes of commitments bought ahead: entered, kept as a cloud tells it, ended before the term."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from apps.accounts.actions import hold_organisation
from apps.accounts.actions.constraints import refusing
from apps.accounts.queries import organisation
from apps.accounts.queries.facts import fields_of
from apps.economics.hours import HOUR, MILLISECOND, hour_of
from apps.economics.refusal import Refusal
from apps.economics.use_terms import platform_of, tenancy_of
from apps.logs.changes import logged_change
from apps.marks.actions import ORGANISATION, mark_span
from apps.marks.queries import Pass
from apps.pricing.actions.checking import mark_charge
from apps.pricing.actions.commitment_checks import (
    CommitmentEndsBeforeItStarts,
    CommitmentNotUnderstood,
    bound_of_period,
    check_commitment,
    end_of_period,
)
from apps.pricing.actions.scope_names import as_pools_say
from apps.pricing.models import Commitment
from apps.pricing.queries.commitments import CommitmentFact, EnteredCommitment
from apps.pricing.queries.exchange import exchange

FARTHEST_ZONE = timedelta(hours=14)
TEXTS = (
    *("name", "provider", "region", "instance_type", "gpu_model", "external_id", "account"),
    "source",
)
PLAIN = (
    *("kind", "pool_id", "units", "unit", "spend", "upfront", "hourly", "currency", "owner_id"),
    "is_shared",
)
ADDED, UPDATED, UNCHANGED = "added", "updated", "unchanged"


class CommitmentExists(Refusal):
    """There is one of this name, or one that the provider calls the same."""


class CommitmentAlreadyEnded(Refusal):
    """A commitment ends once, within its term; what it covered before stays covered."""


@dataclass(frozen=True, slots=True)
class RecordedCommitment:
    """A commitment as it stands now: it was added, updated, or unchanged."""

    id: int
    became: str


@logged_change()
@transaction.atomic
def add_commitment(*, commitment: EnteredCommitment, at: datetime) -> int:
    """Enter what was bought ahead; answers its id. Marks charge for the past part of its term.

    Refuses CommitmentNotUnderstood, CommitmentEndsBeforeItStarts and CommitmentExists.
    """
    hold_organisation()
    check_commitment(commitment)
    commitment = as_pools_say(commitment)
    _refuse_unconvertible(commitment)
    with refusing(_refusals_by_constraint(commitment)):
        row = Commitment.objects.create(**_commitment_columns(commitment), created_at=at)
    _mark_term(commitment.starts_at, commitment.ends_at, at, commitment.external_id)
    return row.id


@logged_change()
@transaction.atomic
def record_commitment(
    *, commitment: EnteredCommitment, at: datetime, ended_at: datetime | None = None
) -> RecordedCommitment:
    """Keep what a provider calls `external_id` as it tells it now; the same again changes nothing.

    Its bounds are cut to whole hours, as providers bill, those of a capacity block to seconds. An owner and a pool that a person gave
    stay where the provider tells none. A currency without a rate of exchange is kept: its cost is
    unknown until there is one. Refuses as `add_commitment`.
    """
    if not commitment.external_id:
        raise CommitmentNotUnderstood("external_id", "a provider calls its commitment something")
    new_commitment = replace(
        commitment,
        starts_at=bound_of_period(commitment, commitment.starts_at),
        ends_at=end_of_period(commitment, commitment.ends_at),
    )
    check_commitment(new_commitment)
    row = (
        Commitment.objects.select_for_update()
        .filter(provider=new_commitment.provider, external_id=new_commitment.external_id)
        .first()
    )
    if row is None:
        with refusing(_refusals_by_constraint(new_commitment)):
            row = Commitment.objects.create(
                **_commitment_columns(new_commitment), created_at=at, ended_at=ended_at
            )
        _mark_term(new_commitment.starts_at, new_commitment.ends_at, at, new_commitment.external_id)
        return RecordedCommitment(row.id, ADDED)
    return _update_commitment(row, new_commitment, ended_at, at)


@logged_change()
@transaction.atomic
def end_commitment(*, commitment_id: int, ended_at: datetime, at: datetime) -> None:
    """It was returned or cancelled: from `ended_at` on it covers nothing and costs nothing.

    Refuses CommitmentNotUnderstood, CommitmentEndsBeforeItStarts and CommitmentAlreadyEnded.
    """
    row = Commitment.objects.select_for_update().get(pk=commitment_id)
    starts_at, until = row.period.lower, row.period.upper
    if ended_at.microsecond:
        raise CommitmentNotUnderstood("ended_at", f"{ended_at} is not a whole second")
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


def as_bought(commitment: EnteredCommitment) -> CommitmentFact:
    """A commitment that nobody entered yet, as queries know those that are; its id is 0.

    Refuses CommitmentNotUnderstood.
    """
    commitment = as_pools_say(commitment)
    term = commitment.ends_at - commitment.starts_at
    bought = replace(
        commitment,
        platform=platform_of(commitment.platform),
        tenancy=tenancy_of(commitment.tenancy),
    )
    return CommitmentFact(
        **fields_of(bought),
        id=0,
        hours=-(-term // HOUR),
        term_ms=term // MILLISECOND,
        ended_at=None,
    )


def _refuse_unconvertible(commitment: EnteredCommitment) -> None:
    ours = organisation().currency
    month = commitment.starts_at.date().replace(day=1)
    if exchange(from_currency=commitment.currency, to_currency=ours, month=month) is None:
        raise CommitmentNotUnderstood(
            "currency",
            f"no rate of exchange from {commitment.currency} to {ours} is known for "
            f"{month:%Y-%m} or before",
        )


def _update_commitment(
    commitment: Commitment,
    new_commitment: EnteredCommitment,
    ended_at: datetime | None,
    at: datetime,
) -> RecordedCommitment:
    row = _commitment_columns(new_commitment)
    if new_commitment.owner_id is None:
        row["owner_id"] = commitment.owner_id
    if new_commitment.pool_id is None:
        row["pool_id"] = commitment.pool_id
    for name in ("platform", "tenancy", "account"):
        row[name] = row[name] or getattr(commitment, name)
    # A provider tells whose it is, not whether sharing was switched off.
    row["is_shared"] = commitment.is_shared
    until = commitment.ended_at if ended_at is None else hour_of(ended_at)
    before = (commitment.period.lower, commitment.period.upper)
    is_same = before == row["period"] and commitment.ended_at == until
    names = [name for name in row if name != "period" and getattr(commitment, name) != row[name]]
    if is_same and not names:
        return RecordedCommitment(commitment.id, UNCHANGED)
    for name, value in {**row, "ended_at": until}.items():
        setattr(commitment, name, value)
    with refusing(_refusals_by_constraint(new_commitment)):
        commitment.save()
    # Both what it was and what it is have to be charged anew.
    starts_at, ends_at = (
        min(before[0], new_commitment.starts_at),
        max(before[1], new_commitment.ends_at),
    )
    _mark_term(starts_at, ends_at, at, new_commitment.external_id)
    return RecordedCommitment(commitment.id, UPDATED)


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


def _commitment_columns(commitment: EnteredCommitment) -> dict[str, Any]:
    return {
        **{name: getattr(commitment, name) for name in PLAIN},
        **{name: getattr(commitment, name).strip() for name in TEXTS},
        "platform": platform_of(commitment.platform),
        "tenancy": tenancy_of(commitment.tenancy),
        "prices": {
            name.strip(): f"{price.normalize():f}"
            for name, price in sorted(commitment.prices.items())
        },
        "period": (commitment.starts_at, commitment.ends_at),
    }


def _refusals_by_constraint(commitment: EnteredCommitment) -> dict[str, Exception]:
    message = f"{commitment.provider} {commitment.external_id!r} is known already"
    return {
        "pricing_commitment_name_key": CommitmentExists(
            "name", f"there is a commitment {commitment.name.strip()!r} already"
        ),
        "commitment_known_once": CommitmentExists("external_id", message),
    }
