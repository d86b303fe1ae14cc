"""The effective savings rate of months that are over, beside what could have been saved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PaidCapacity:
    """A family's GPU-hours in service: at list prices on demand, and as paid, what was not used included.

    None: not known.
    """

    family: str
    on_demand: float | None
    paid: float | None


@dataclass(frozen=True, slots=True)
class HoursInService:
    """A family's GPUs in service by the hour, and what a GPU-hour cost on demand then."""

    gpus: Sequence[float]
    on_demand: float


@dataclass(frozen=True, slots=True)
class SavingsRate:
    """(On demand − cost) ÷ on demand, of what was paid and of the least that could have been.

    `families` are those of which all of that is known; None where there is none.
    """

    families: tuple[str, ...]
    on_demand: float
    paid: float
    least: float

    @property
    def effective(self) -> float | None:
        """Of what was paid; below 0 more was paid than on demand."""
        return _rate(self.on_demand, self.paid)

    @property
    def attainable(self) -> float | None:
        """Of the least cost with everything known beforehand."""
        return _rate(self.on_demand, self.least)


def _rate(on_demand: float, cost: float) -> float | None:
    """To the sixth decimal: sums of floats differ beyond it where nothing was saved."""
    return round((on_demand - cost) / on_demand, 6) if on_demand else None


def savings_rates(
    capacity: Sequence[PaidCapacity], least: Mapping[str, float], shared_unused: float | None = 0.0
) -> tuple[SavingsRate, list[tuple[str, SavingsRate]]]:
    """Of all families together, and of each; `least` is what each could have cost, by name.

    `shared_unused` was paid for what several of them could have used and none did: it is in the rate of
    all together alone, which nobody knows where it is None.

    What was paid could be paid: where that was less, as for nodes that went within a month, it is the least.
    """
    rates = [
        SavingsRate(
            (family_capacity.family,),
            family_capacity.on_demand,
            family_capacity.paid,
            min(family_capacity.paid, least[family_capacity.family]),
        )
        for family_capacity in capacity
        if family_capacity.on_demand is not None
        and family_capacity.paid is not None
        and family_capacity.family in least
    ]
    summed_rates = rates if shared_unused is not None else []
    total = SavingsRate(
        tuple(name for rate in summed_rates for name in rate.families),
        sum(rate.on_demand for rate in summed_rates),
        sum(rate.paid for rate in summed_rates)
        + (shared_unused if summed_rates and shared_unused else 0.0),
        sum(rate.least for rate in summed_rates),
    )
    return total, [(rate.families[0], rate) for rate in rates]
