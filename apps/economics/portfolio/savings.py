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
    known = [
        SavingsRate((each.family,), each.on_demand, each.paid, min(each.paid, least[each.family]))
        for each in capacity
        if each.on_demand is not None and each.paid is not None and each.family in least
    ]
    told = known if shared_unused is not None else []
    whole = SavingsRate(
        tuple(name for each in told for name in each.families),
        sum(each.on_demand for each in told),
        sum(each.paid for each in told) + (shared_unused if told and shared_unused else 0.0),
        sum(each.least for each in told),
    )
    return whole, [(each.families[0], each) for each in known]
