"""Costs that all share."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from django.db import transaction

from apps.accounts import queries as accounts
from apps.accounts.actions import hold_organisation
from apps.accounts.actions.constraints import refusing
from apps.economics.hours import hour_of
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.marks.actions import ORGANISATION, mark_span
from apps.marks.queries import Pass
from apps.pricing.actions.checking import (
    RateNotUnderstood,
    refuse_backward,
    refuse_inexact,
    refuse_unconvertible,
)
from apps.pricing.models import SharedCost, SharedWeight, ShareMethod
from apps.pricing.queries.shared import EnteredSharedCost


class SharedCostExists(Refusal):
    """A shared cost of this name runs at that time already."""


class SharedCostAlreadyEnded(Refusal):
    """It is over by then: there is nothing left to end or to change."""


@logged_change()
@transaction.atomic
def add_shared_cost(*, cost: EnteredSharedCost, at: datetime) -> int:
    """Enter a monthly amount that all lines carry a part of; answers its id.

    Refuses what check_shared_cost does, and SharedCostExists.
    """
    hold_organisation()
    check_shared_cost(cost)
    cost_id = _enter_cost(cost, at)
    _mark_hours(cost.starts_at, cost.ends_at, at)
    return cost_id


def check_shared_cost(cost: EnteredSharedCost) -> None:
    """Refuse RateNotUnderstood, RateEndsBeforeItStarts, RateCurrencyDiffers and SharedCostExists."""
    if not cost.name.strip():
        raise RateNotUnderstood("name", "a shared cost has a name")
    if cost.method not in ShareMethod.values:
        raise RateNotUnderstood(
            "method", f"{cost.method!r} is not a method of allocating a shared cost"
        )
    refuse_inexact(cost.amount)
    refuse_backward(cost.starts_at, cost.ends_at)
    refuse_unconvertible(cost.currency, cost.starts_at)
    if cost.method == ShareMethod.WEIGHTED:
        refuse_weights(cost.weights)
    elif cost.weights:
        raise RateNotUnderstood("weights", "only a cost that is shared by stated weights has them")
    overlaps = SharedCost.objects.filter(
        name=cost.name, period__overlap=(cost.starts_at, cost.ends_at)
    )
    if overlaps.exists():
        raise SharedCostExists("name", f"{cost.name} is shared at that time already")


def refuse_weights(weights: Mapping[int, Decimal]) -> None:
    """Refuse RateNotUnderstood: no weight at all, one that is none, or one of no team."""
    if not weights:
        raise RateNotUnderstood("weights", "say what at least one team weighs")
    team_ids = {team.id for team in accounts.teams()}
    for team_id, weight in weights.items():
        if team_id not in team_ids:
            raise RateNotUnderstood("weights", f"there is no team {team_id}")
        if not weight.is_finite() or weight <= 0 or weight >= 10**12 or weight != round(weight, 6):
            raise RateNotUnderstood(
                "weights", f"{weight} is not above 0, of up to 12 digits and 6 decimals"
            )


def check_weights(weights: Mapping[int, Decimal], starts_at: datetime) -> None:
    """Refuse RateNotUnderstood: as above, or weights that begin inside an hour."""
    refuse_weights(weights)
    if hour_of(starts_at) != starts_at:
        # An hour has one charge of a cost, and one way in which it is spread.
        raise RateNotUnderstood("starts_at", "weights change with the beginning of an hour")


@logged_change()
@transaction.atomic
def end_shared_cost(*, cost_id: int, ended_at: datetime, at: datetime) -> None:
    """The cost is shared until `ended_at`; what it was before stays.

    Refuses SharedCostAlreadyEnded and RateEndsBeforeItStarts.
    """
    cost = SharedCost.objects.select_for_update().get(pk=cost_id)
    until = _end_cost(cost, ended_at)
    _mark_hours(ended_at, until, at)


@logged_change()
@transaction.atomic
def change_shared_weights(
    *, cost_id: int, weights: Mapping[int, Decimal], starts_at: datetime, at: datetime
) -> int:
    """From `starts_at` on the cost is shared by these weights: it ends, and goes on as another.

    Hours before keep theirs. Answers the id that it goes on under. Refuses RateNotUnderstood,
    SharedCostAlreadyEnded and RateEndsBeforeItStarts.
    """
    check_weights(weights, starts_at)
    cost = SharedCost.objects.select_for_update().get(pk=cost_id)
    until = _end_cost(cost, starts_at)
    goes_on = EnteredSharedCost(
        name=cost.name,
        amount=cost.amount,
        currency=cost.currency,
        method=ShareMethod.WEIGHTED,
        starts_at=starts_at,
        ends_at=until,
        weights=weights,
    )
    new_id = _enter_cost(goes_on, at)
    _mark_hours(starts_at, until, at)
    return new_id


def _end_cost(cost: SharedCost, ended_at: datetime) -> datetime | None:
    """Until when it would have run."""
    began_at: datetime = cost.period.lower
    until: datetime | None = cost.period.upper
    if until is not None and until <= ended_at:
        raise SharedCostAlreadyEnded("ended_at", f"{cost.name} ended at {until:%Y-%m-%d %H:%M}Z")
    refuse_backward(began_at, ended_at)
    cost.period = (began_at, ended_at)
    cost.save(update_fields=["period"])
    return until


def _enter_cost(cost: EnteredSharedCost, at: datetime) -> int:
    exists = SharedCostExists("name", f"{cost.name} is shared at that time already")
    with refusing({"shared_cost_once": exists}):
        row = SharedCost.objects.create(
            name=cost.name,
            amount=cost.amount,
            currency=cost.currency,
            method=cost.method,
            period=(cost.starts_at, cost.ends_at),
            created_at=at,
        )
    for team_id, weight in sorted(cost.weights.items()):
        SharedWeight.objects.create(cost=row, team_id=team_id, weight=weight)
    return row.id


def _mark_hours(starts_at: datetime, ends_at: datetime | None, at: datetime) -> None:
    """It is owed from its start, before any node lived too: the platform team carries it then."""
    until = at if ends_at is None else min(at, ends_at)
    mark_span(pass_=Pass.CHARGE, units=[ORGANISATION], starts_at=starts_at, ends_at=until)
