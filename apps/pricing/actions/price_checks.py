"""Doubts that speak against a price before it prices anything."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from statistics import median

from apps.accounts.queries import organisation
from apps.economics.plausibility import (
    TIMES,
    TIMES_OF_A_LIST,
    needs_second_person,
    why_implausible,
)
from apps.economics.purchase import PurchaseOption
from apps.pricing.actions.quoted import EnteredRate, target_of
from apps.pricing.models import RateKind, RateStanding
from apps.pricing.queries.comparable_prices import (
    LatestPrice,
    NeighbourMachine,
    QuotedPrice,
    comparable_amounts,
    hourly,
    price_before,
    price_history,
)

# A table of fewer rows of a machine has no majority that could be trusted over its first row.
FEWEST_OF_A_TABLE = 5
EVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Judged:
    """How a price enters, and what speaks against it in words; empty: nothing."""

    standing: str = RateStanding.IN_FORCE
    doubt: str = ""


class Doubts:
    """Doubts about implausible prices: beside those in force, and beside those of the same table.

    An on-demand list price lies within three times of the usual, any other within ten. A spot price
    is held against the on-demand prices of the machine where there are any, since its own history
    comes in any order.
    """

    def __init__(self, rates: Sequence[EnteredRate] = ()) -> None:
        amounts_by_machine = defaultdict(list)
        for rate in rates:
            if rate.amount.is_finite() and rate.quantity_seconds:
                amounts_by_machine[_machine_of_rate(rate)].append(
                    hourly(rate.amount, rate.quantity_seconds)
                )
        self._has_spot = any(rate.purchase_option == PurchaseOption.SPOT for rate in rates)
        self._own = {
            key: amounts
            for key, amounts in amounts_by_machine.items()
            if len(amounts) >= FEWEST_OF_A_TABLE
        }
        self._in_force: dict[NeighbourMachine, list[Decimal]] = {}
        self._elsewhere: dict[tuple[NeighbourMachine, str], list[Decimal]] = {}
        self._said: dict[str, list[LatestPrice]] = {}

    def of(self, rate: EnteredRate) -> str:
        """Return what is implausible about a rate, by the hour; empty: nothing."""
        amount = hourly(rate.amount, rate.quantity_seconds)
        is_list = (rate.kind, rate.purchase_option) == (RateKind.LIST, PurchaseOption.ON_DEMAND)
        times = TIMES_OF_A_LIST if is_list else TIMES
        return why_implausible(amount, self._neighbour_amounts(rate), self._bare_price(rate), times)

    def entered(self, rate: EnteredRate, state: str) -> None:
        """It is beside those that follow from now on."""
        amount = hourly(rate.amount, rate.quantity_seconds)
        if state == RateStanding.IN_FORCE:
            self._amounts_in_force(_machine_of_rate(rate)).append(amount)
        if self._has_spot and rate.purchase_option == PurchaseOption.ON_DEMAND:
            place_prices = self._said_of(target_of(rate))
            place_prices.append(
                LatestPrice(rate.starts_at, amount, state == RateStanding.QUARANTINED)
            )
            place_prices.sort(key=_began_at)

    def _neighbour_amounts(self, rate: EnteredRate) -> Sequence[Decimal]:
        machine = _machine_of_rate(rate)
        if rate.purchase_option == PurchaseOption.SPOT:
            on_demand = self._usual_amounts(
                replace(machine, purchase_option=PurchaseOption.ON_DEMAND)
            )
            return on_demand or self._of_other_places(machine, target_of(rate))
        return self._usual_amounts(machine)

    def _usual_amounts(self, machine: NeighbourMachine) -> Sequence[Decimal]:
        table_amounts = self._own.get(machine)
        return (
            [*self._amounts_in_force(machine), *table_amounts]
            if table_amounts
            else self._amounts_in_force(machine)
        )

    def _amounts_in_force(self, machine: NeighbourMachine) -> list[Decimal]:
        if machine not in self._in_force:
            self._in_force[machine] = comparable_amounts(machine)
        return self._in_force[machine]

    def _of_other_places(self, machine: NeighbourMachine, target: str) -> Sequence[Decimal]:
        """The usual one alone: a series has many points."""
        if (machine, target) not in self._elsewhere:
            amounts = comparable_amounts(machine, except_target=target)
            self._elsewhere[machine, target] = [median(amounts)] if amounts else []
        return self._elsewhere[machine, target]

    def _bare_price(self, rate: EnteredRate) -> Decimal | None:
        """Return the cost of the machine there without its accelerators: an on-demand price that waits."""
        if rate.purchase_option != PurchaseOption.SPOT or rate.pool_id is not None:
            return None
        place = target_of(replace(rate, purchase_option=PurchaseOption.ON_DEMAND))
        place_prices = self._said_of(place)
        count = bisect_right(place_prices, rate.starts_at or EVER, key=_began_at)
        last = place_prices[count - 1] if count else None
        return last.amount if last is not None and last.is_quarantined else None

    def _said_of(self, place: str) -> list[LatestPrice]:
        if place not in self._said:
            self._said[place] = price_history(place)
        return self._said[place]


def moved(rate: EnteredRate, before: QuotedPrice | None, threshold: int | None) -> str:
    """Return what a rate moves, where that is more than one person may do; empty: it is not."""
    if threshold is None or before is None:
        return ""
    if (rate.unit, rate.currency) != (before.unit, before.currency):
        return (
            f"it is quoted for one {rate.unit} in {rate.currency}, the price before for one "
            f"{before.unit} in {before.currency}"
        )
    was = hourly(before.amount, before.quantity_seconds)
    now = hourly(rate.amount, rate.quantity_seconds)
    if not needs_second_person(was, now, threshold):
        return ""
    by = f"by {abs(now - was) / was:.0%}".replace("%", " %") if was else "from nothing"
    return f"it moves the price from {was:f} to {now:f} an hour, {by}: more than {threshold} %"


def judged(rate: EnteredRate) -> Judged:
    """How a price would enter that somebody proposes."""
    if doubt := Doubts().of(rate):
        return Judged(RateStanding.QUARANTINED, doubt)
    before = price_before(target_of(rate), rate.starts_at)
    doubt = moved(rate, before, organisation().price_approval_per_cent)
    return Judged(RateStanding.WAITING, doubt) if doubt else Judged()


def _machine_of_rate(rate: EnteredRate) -> NeighbourMachine:
    return NeighbourMachine(**{name: getattr(rate, name) for name in NeighbourMachine.__slots__})


def _began_at(price: LatestPrice) -> datetime:
    return price.starts_at or EVER
