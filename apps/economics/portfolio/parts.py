"""The parts of a portfolio's answer, as values alone: what computes them takes numpy, who answers them does not."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CostParts:
    """GPU-hours and money of a family over the planned hours, means over the scenarios.

    `short_hours` are those that nobody can supply: the capacity-blocked ones.
    """

    demand_hours: float
    committed_hours: float
    committed_used_hours: float
    spot_hours: float
    on_demand_hours: float
    short_hours: float
    spot_cost: float
    on_demand_cost: float
    short_cost: float
    on_demand_equivalent: float


@dataclass(frozen=True, slots=True)
class DurationStep:
    """GPUs in the mean of a hundredth of all hours of all scenarios, those of the highest demand first.

    `share` is the part of hours up to its middle; the layers sum to `demand`.
    """

    share: float
    demand: float
    owned: float
    committed: float
    on_demand: float
    spot: float
    blocked: float


@dataclass(frozen=True, slots=True)
class OfferAnswer:
    """How many lots of an offer to buy, and at the margin: what one more, and the last one, come to.

    `one_more_lot` and `last_lot` are what they save, below 0 what they cost. `pays_up_to` is the rate of
    a GPU-hour up to which one more lot would pay. `break_even_utilization` is over 1 where on demand is cheaper.
    """

    name: str
    family: str
    kind: str
    lots: int
    gpus: int
    rate: float
    upfront: float
    break_even_utilization: float | None
    one_more_lot: float | None
    last_lot: float | None
    pays_up_to: float | None


@dataclass(frozen=True, slots=True)
class FamilyAnswer:
    """Where a family's GPU-hours come from. `gpu_hour_worth` is what one more GPU saves an hour, in the mean.

    `utilization` is of all that is committed; `tenth_utilization` its p10 over the scenarios. `waiting_hours` are GPU-hours
    that no GPU is there for, in none of its parts, and what waiting for them costs: None where it has no price.
    """

    name: str
    parts: CostParts
    utilization: float | None
    tenth_utilization: float | None
    gpu_hour_worth: float
    duration: tuple[DurationStep, ...]
    waiting_hours: float = 0.0
    waiting_cost: float | None = 0.0


@dataclass(frozen=True, slots=True)
class ComparedChoice:
    """A choice of lots over the same scenarios. The savings rate is of all that demand costs on demand.

    `blocked_part` is of GPU-hours that nobody supplies, in the mean; `limited_part` what the limit is on.
    """

    name: str
    lots: dict[str, int]
    mean_cost: float
    tail_cost: float
    effective_savings_rate: float | None
    blocked_part: float
    limited_part: float


@dataclass(frozen=True, slots=True)
class PortfolioChange:
    """The purchase there would be if an input were another; without `keeps_limit` the limit could not be held."""

    name: str
    lots: dict[str, int]
    keeps_limit: bool


@dataclass(frozen=True, slots=True)
class PurchaseTranche:
    """Part of a family's lots, bought `in_months`: they cover demand from one level to the next.

    It pays where the hours above `from_gpus` use it by `break_even_utilization` or more, as they do in
    `pays_in` of the scenarios. `waiting_cost` is what buying later gives away, at the mean saving.
    """

    family: str
    number: int
    in_months: int
    lots: dict[str, int]
    from_gpus: float
    to_gpus: float
    break_even_utilization: float
    expected_utilization: float
    pays_in: float
    waiting_cost: float


@dataclass(frozen=True, slots=True)
class HeldOutChoice:
    """A choice of lots, and what it would have cost in the months held out. `blocked_part` of GPU-hours was short."""

    name: str
    lots: dict[str, int]
    cost: float
    effective_savings_rate: float | None
    blocked_part: float
