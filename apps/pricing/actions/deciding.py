"""A person of finance decides about prices that wait: in quarantine, or for a second person."""

from datetime import datetime

from django.db import transaction

from apps.accounts.actions.constraints import refusing
from apps.accounts.queries import Role, person
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.pricing.actions.checking import mark_priced
from apps.pricing.actions.rates import RateOverlaps
from apps.pricing.actions.rows import in_force_since
from apps.pricing.actions.spot import accept_spot_point
from apps.pricing.models import Rate, RateStanding
from apps.pricing.queries.deciding import RatePlace, is_spot_point, place_of
from apps.pricing.queries.reach import Prices

LONGEST_NOTE = 500


class RateNotWaiting(Exception):
    """Only what waits can be decided about, and only once."""


class SecondPersonNeeded(Exception):
    """Who entered a price does not decide about it."""


class DecidedByFinance(Exception):
    """Prices that wait are decided about by people of finance."""


class NoteMissing(Refusal):
    """A price is refused with a word on why."""


@logged_change()
@transaction.atomic
def accept_rate(*, rate_id: int, by: int, at: datetime) -> None:
    """The price holds from its start on, until the next one in force; the one before ends there.

    Marks charge for the past part of what changed. Refuses RateNotWaiting, DecidedByFinance,
    SecondPersonNeeded and RateOverlaps, where another price of the same thing began at its start.
    """
    rate = _waiting_rate(rate_id, by)
    overlaps = RateOverlaps("", f"{rate.target} has another price in force from that moment on")
    if in_force_since(rate.target, rate.period.lower):
        raise overlaps
    with refusing({"rates_of_equal_priority_do_not_overlap": overlaps}):
        if is_spot_point(rate):
            _accept_point(rate, at)
        else:
            _take_place(rate, at)
        _save_decision(rate, by, at)


@logged_change()
@transaction.atomic
def refuse_rate(*, rate_id: int, by: int, note: str, at: datetime) -> None:
    """The price is kept as refused with `note`, and prices nothing.

    Refuses RateNotWaiting, DecidedByFinance, SecondPersonNeeded and NoteMissing.
    """
    rate = _waiting_rate(rate_id, by)
    reason = note.strip()[:LONGEST_NOTE]
    if not reason:
        raise NoteMissing("note", "say why the price is refused")
    rate.standing = RateStanding.REFUSED
    rate.doubt = f"{rate.doubt}; refused: {reason}"
    _save_decision(rate, by, at)


def _waiting_rate(rate_id: int, by: int) -> Rate:
    rate = Rate.objects.select_for_update().get(pk=rate_id)
    if rate.standing not in {RateStanding.QUARANTINED, RateStanding.WAITING}:
        raise RateNotWaiting(f"{rate.target} is {rate.get_standing_display()}: nothing waits")
    decider = person(by)
    if decider is None or decider.role != Role.FINANCE:
        raise DecidedByFinance("a person of finance decides about prices that wait")
    if rate.entered_by_id == by:
        raise SecondPersonNeeded("you entered this price: another person of finance decides")
    return rate


def _accept_point(rate: Rate, at: datetime) -> None:
    if accept_spot_point(rate=rate, at=at):
        rate.standing = RateStanding.IN_FORCE
    else:
        rate.standing = RateStanding.REFUSED
        rate.doubt = f"{rate.doubt}; accepted, but the price before says the same"


def _take_place(rate: Rate, at: datetime) -> None:
    place = place_of(rate)
    _end_at(place, rate.period.lower)
    rate.period = (rate.period.lower, place.ends_at)
    rate.standing = RateStanding.IN_FORCE
    mark_priced(Prices.of(rate), place.starts_at, place.changes_until, at)


def _end_at(place: RatePlace, ended_at: datetime | None) -> None:
    """End the price before; first, so that the two never overlap."""
    if place.predecessor_id is None:
        return
    before = Rate.objects.select_for_update().get(pk=place.predecessor_id)
    before.period = (before.period.lower, ended_at)
    before.save(update_fields=["period"])


def _save_decision(rate: Rate, by: int, at: datetime) -> None:
    rate.decided_by_id, rate.decided_at = by, at
    rate.save(update_fields=["standing", "doubt", "period", "decided_by", "decided_at"])
