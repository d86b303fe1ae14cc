"""The cost of an hour of hardware of one's own: fully loaded, and by what the hour itself adds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from apps.economics.terms import term_amount_in_hour

JOULES_PER_KWH = 3_600_000


class NotAnOwnedPlan(ValueError):
    """A life of no months, a salvage above the purchase, or a PUE below 1."""


@dataclass(frozen=True, slots=True)
class OwnedPurchase:
    """Hardware bought, in micro-units: the whole purchase of some nodes, for all of them.

    `monthly_micros` are costs by name (maintenance, colocation, network, staff). `pue` is what a
    kilowatt-hour at the machine takes at the meter. Refuses NotAnOwnedPlan.
    """

    purchase_micros: int
    salvage_micros: int
    life_months: int
    monthly_micros: Mapping[str, int]
    pue: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        """Refuse what would give costs below nothing."""
        if self.life_months < 1 or not 0 <= self.salvage_micros <= self.purchase_micros:
            raise NotAnOwnedPlan("a life is a month or more, a salvage at most the purchase")
        if self.pue < 1:
            raise NotAnOwnedPlan("a PUE is 1 or more")


@dataclass(frozen=True, slots=True)
class HourOfLife:
    """Month `month` of the life (from 0), and hour `hour` (from 0) of its `hours_in_month`."""

    month: int
    hour: int
    hours_in_month: int


@dataclass(frozen=True, slots=True)
class DrawnPower:
    """Energy taken at the machine while one tariff (micro-units per kilowatt-hour) held."""

    joules: Fraction
    tariff_micros: int


@dataclass(frozen=True, slots=True)
class OwnedHour:
    """Micro-units of an hour by what they are for; after its life there is no depreciation left.

    `is_measured` says that power is from a meter, else it is by the rated watts.
    """

    depreciation_micros: int
    running_micros: Mapping[str, int]
    power_micros: int
    is_measured: bool

    @property
    def loaded_micros(self) -> int:
        """Everything: what the hour has to bring in."""
        return self.depreciation_micros + sum(self.running_micros.values()) + self.power_micros

    @property
    def marginal_micros(self) -> int:
        """The amount that the hour adds to what is owed anyway: its power."""
        return self.power_micros


def cost_of_hour(
    plan: OwnedPurchase,
    when: HourOfLife,
    measured: Sequence[DrawnPower] | None,
    rated: Sequence[DrawnPower],
) -> OwnedHour:
    """An hour of the plan: straight-line depreciation, monthly costs, power.

    Over its life the hours' depreciation sums to purchase − salvage, over a month each monthly
    cost's parts to that cost, exactly. `measured` None: no meter told, `rated` is taken. An hour
    out of use costs what it costs without power. Refuses HourOutsideTerm.
    """
    to_write_off = plan.purchase_micros - plan.salvage_micros
    owed = 0
    if when.month < plan.life_months:
        of_month = term_amount_in_hour(to_write_off, plan.life_months, when.month)
        owed = term_amount_in_hour(of_month, when.hours_in_month, when.hour)
    running = {
        name: term_amount_in_hour(micros, when.hours_in_month, when.hour)
        for name, micros in sorted(plan.monthly_micros.items())
    }
    drawn = rated if measured is None else measured
    return OwnedHour(owed, running, power_micros(drawn, plan.pue), measured is not None)


def written_off_before(plan: OwnedPurchase, month: int, hour: int, hours_in_month: int) -> int:
    """Micro-units of depreciation before hour `hour` of month `month` of the life (both from 0).

    Each month takes an equal part of purchase − salvage, each hour of it an equal part of that;
    from the last month of the life on it is all of it.
    """
    to_write_off = plan.purchase_micros - plan.salvage_micros
    if month >= plan.life_months:
        return to_write_off
    before = to_write_off * month // plan.life_months
    of_month = term_amount_in_hour(to_write_off, plan.life_months, month)
    return before + of_month * hour // hours_in_month


def power_micros(drawn: Sequence[DrawnPower], pue: Fraction) -> int:
    """Energy × PUE × tariff by time of day, rounded once and half-even (METHODS: TCO)."""
    return round(
        sum((power.joules * power.tariff_micros for power in drawn), Fraction(0))
        * pue
        / JOULES_PER_KWH
    )
