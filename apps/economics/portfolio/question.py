"""The question of a portfolio: demand, what can be bought, what is owed already, and the limits."""

from dataclasses import dataclass, replace
from math import inf

import numpy as np

from apps.economics.forecast.scores import Floats
from apps.economics.portfolio.names import MONTH_HOURS


@dataclass(frozen=True, slots=True)
class WaitingDemand:
    """The part of a family's demand that no GPU is there for, in the planned hours.

    `most_wanted` are the most GPUs at once of any scenario, `most_there` the most that can be held at once. `gpu_hours` are
    beyond them, the mean of the scenarios; `price` is of an hour that a GPU is waited for, None where nobody said.
    """

    most_wanted: float
    most_there: float
    gpu_hours: float
    price: float | None

    @property
    def cost(self) -> float | None:
        """The cost of waiting; None where it has no price."""
        if not self.gpu_hours:
            return 0.0
        return None if self.price is None else self.gpu_hours * self.price


@dataclass(frozen=True, eq=False)
class GpuFamily:
    """GPUs that can stand in for each other, their demand, and what an hour of one costs uncommitted.

    `demand` has a row for each scenario and a column for each hour. Prices are of a GPU-hour at the
    start; `monthly_decline` is the part by which those on demand and on spot fall each month.
    `spot_share` is the part of an hour's demand that may be interrupted, `spot_redone_share` the
    part of its hours that run again. Beyond `on_demand_quota` GPUs at once nothing can be had on
    demand: an hour without a GPU costs `shortage_cost` then. `room` are the GPUs that can be held at once by planned
    month (none: nothing bounds them), and `waiting` what of its demand is beyond them, once that is taken out of it.
    `currency` is what prices are said in, where it is told.
    """

    name: str
    demand: Floats
    on_demand: float
    spot: float | None = None
    spot_share: float = 0.0
    spot_redone_share: float = 0.0
    monthly_decline: float = 0.0
    on_demand_quota: float = inf
    shortage_cost: float | None = None
    room: tuple[float, ...] = ()
    waiting_price: float | None = None
    waiting: WaitingDemand | None = None
    currency: str = ""

    @property
    def hours(self) -> int:
        """How many hours are planned."""
        return len(self.demand[0])

    @property
    def price_path(self) -> Floats:
        """By hour: the part of the first month's price that is left."""
        months = np.arange(self.hours) // MONTH_HOURS
        return np.power(1 - self.monthly_decline, months.astype(np.float64))

    @property
    def effective_spot(self) -> float | None:
        """A GPU-hour of work on spot; None where it cannot be had, or costs no less than on demand."""
        if self.spot is None or not self.spot_share:
            return None
        effective = self.spot * (1 + self.spot_redone_share)
        return effective if effective < self.on_demand else None


@dataclass(frozen=True)
class CapacityOffer:
    """A commitment that can be bought: `lot` GPUs at a time, each at `hourly` and `upfront` once.

    `kind` is a kind of commitment, or owned. It covers `term_hours` from the hour `starts_in`.
    """

    name: str
    family: str
    kind: str
    term_hours: int
    hourly: float = 0.0
    upfront: float = 0.0
    lot: int = 1
    most_lots: int | None = None
    starts_in: int = 0

    @property
    def rate(self) -> float:
        """The cost of one GPU-hour of its term, used or not: amortised."""
        return self.hourly + self.upfront / self.term_hours

    @property
    def ends_in(self) -> int:
        """The hour in which it covers nothing any more."""
        return self.starts_in + self.term_hours

    def covered_hours(self, hours: int) -> int:
        """How many of the planned `hours` it covers."""
        return max(0, min(self.ends_in, hours) - self.starts_in)

    def amortised_cost(self, hours: int) -> float:
        """Return the cost of a lot in the planned hours."""
        return self.lot * self.rate * self.covered_hours(hours)


@dataclass(frozen=True, slots=True)
class CapacityHeld:
    """Capacity owed already: `gpus` from the hour `starts_in` until `ends_in`, whether they are used or not.

    `kind` is one of an offer's; empty where nobody said.
    """

    name: str
    family: str
    gpus: float
    rate: float
    ends_in: int
    kind: str = ""
    starts_in: int = 0

    @property
    def holds_now(self) -> bool:
        """Whether it holds in the first planned hour."""
        return self.starts_in <= 0 < self.ends_in

    def cost_within(self, hours: int) -> float:
        """Return the cost of this capacity in the planned hours."""
        return self.gpus * self.rate * max(0, min(self.ends_in, hours) - max(0, self.starts_in))


@dataclass(frozen=True)
class PortfolioQuestion:
    """Least (1 − `risk_weight`)·mean + `risk_weight`·CVaR of the cost over the scenarios.

    CVaR is of the worst 1 − `tail` of them. `budget` limits what new commitments cost over the
    planned hours, `upfront_budget` what is paid at once for them. `most_blocked` limits the part of a
    scenario's GPU-hours that nobody can supply: the mean of the worst 1 − `blocked_tail` of the
    scenarios, which of 0 is the mean of them all.
    """

    families: tuple[GpuFamily, ...]
    offers: tuple[CapacityOffer, ...] = ()
    held: tuple[CapacityHeld, ...] = ()
    risk_weight: float = 0.3
    tail: float = 0.9
    budget: float = inf
    upfront_budget: float = inf
    most_blocked: float = inf
    blocked_tail: float = 0.0

    @property
    def without_blocked_limit(self) -> "PortfolioQuestion":
        """Return this question without its limit on what is blocked."""
        return replace(self, most_blocked=inf)

    @property
    def hours(self) -> int:
        """How many hours are planned; of every family alike."""
        return self.families[0].hours

    @property
    def scenarios(self) -> int:
        """How many scenarios of demand there are; of every family alike."""
        return len(self.families[0].demand)
