"""The least-cost mix of commitments, by cutting planes on exact costs."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import highspy
import numpy as np
from numpy.typing import NDArray

from apps.economics.forecast.scores import Floats
from apps.economics.portfolio.costs import PortfolioCosts
from apps.economics.portfolio.newsvendor import ROUNDING
from apps.economics.portfolio.question import CapacityOffer, PortfolioQuestion
from apps.economics.refusal import Refusal

GAP = 1e-3
"""How far above the proven bound an answer may lie, as a part of it."""
INFEASIBLE = (
    highspy.HighsModelStatus.kInfeasible,
    highspy.HighsModelStatus.kUnboundedOrInfeasible,
)
SEED_LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
MOST_ROUNDS = 200
MOST_SECONDS = 240.0
"""Of the solver, for one mix: a worker that says nothing for longer is taken to be gone."""
BLOCKED_SLACK = 1e-6
"""By how much a blocked part may be above its limit: what a linear program's tolerances leave open."""


class NoProvenMix(Refusal):
    """The solver ended without a bound: amounts of the question are too far apart."""


class BlockedAbove(Refusal):
    """No choice of these offers, within the limits of money, keeps to the limit on blocked GPU-hours."""


@dataclass(frozen=True, slots=True)
class CommitmentMix:
    """Lots by offer, what they come to, and the bound that no choice goes below."""

    lots: tuple[int, ...]
    objective: float
    bound: float
    rounds: int

    @property
    def gap(self) -> float:
        """How far the answer may be above the best, as a part of it."""
        if not self.objective:
            return 0.0
        return max(0.0, (self.objective - self.bound) / self.objective)


def least_cost_mix(
    question: PortfolioQuestion,
    costs: PortfolioCosts,
    *,
    gap: float = GAP,
    watch: Callable[[], None] = lambda: None,
) -> CommitmentMix:
    """Whole lots within `gap` (a part) of the least weighed cost: Kelley's cuts by scenario and family.

    What stays uncommitted costs a convex function of the lots, so each exact evaluation bounds it from
    below by its slope. A master program of these bounds is solved with fractions first, then with
    whole lots; each answer is evaluated and cut until the best one and the bound meet. CVaR is as
    Rockafellar and Uryasev (2000) write it, of the cost and of the blocked part alike; `watch` is
    called before each round, and may raise to end it. Refuses NoProvenMix, BlockedAbove.
    """
    if not question.offers:
        nothing = np.zeros(0)
        if costs.blocked_part(nothing) > question.most_blocked + BLOCKED_SLACK:
            raise BlockedAbove("most_blocked", "nothing is offered that would lower it")
        return CommitmentMix((), costs.objective(nothing), costs.objective(nothing), 0)
    master = MasterProgram(question, costs, gap, watch)
    for seed in _seeds(question):
        master.add_cuts(seed)
    rounds = master.close_gap(gap / 10)
    master.demand_whole_lots()
    rounds += master.close_gap(gap)
    return CommitmentMix(
        lots=tuple(int(lot) for lot in master.best_lots),
        objective=costs.objective(master.best_lots),
        bound=master.bound + costs.held_cost,
        rounds=rounds,
    )


def _seeds(question: PortfolioQuestion) -> list[Floats]:
    """Each family's cheapest offer alone, at levels of its demand."""
    seeds = [np.zeros(len(question.offers)) for _ in SEED_LEVELS]
    for family in question.families:
        mine = [at for at, one in enumerate(question.offers) if one.family == family.name]
        if not mine:
            continue
        at = min(mine, key=lambda at: question.offers[at].rate)
        for seed, level in zip(seeds, np.quantile(family.demand, SEED_LEVELS), strict=True):
            seed[at] = level / question.offers[at].lot
    return seeds


def _most_lots(offer: CapacityOffer, hours: int) -> float:
    """None of what covers no planned hour: it costs and saves nothing here."""
    if not offer.covered_hours(hours):
        return 0.0
    return inf if offer.most_lots is None else float(offer.most_lots)


class MasterProgram:
    """The linear program of all bounds so far.

    Columns: lots by offer, a bound of each scenario's and family's uncommitted cost, the value at
    risk, and by scenario the excess over it; where blocking is limited, its bound by scenario, the
    part at risk and the excess over that. Money is scaled to a thousand, that tolerances hold.
    """

    def __init__(
        self,
        question: PortfolioQuestion,
        costs: PortfolioCosts,
        gap: float,
        watch: Callable[[], None],
    ) -> None:
        self.costs, self.watch = costs, watch
        self.limits_blocked = question.most_blocked != inf
        self.offers, self.scenarios = len(question.offers), question.scenarios
        self.families = len(question.families)
        self.best, self.bound = inf, -inf
        self.is_whole = False
        self.best_lots = np.zeros(self.offers)
        self.unit = float(costs.recourse(self.best_lots)[0].sum(axis=1).mean()) / 1_000 or 1.0
        self.program = highspy.Highs()  # type: ignore[no-untyped-call]  # as its stubs have it
        self.program.setOptionValue("output_flag", False)
        self.program.setOptionValue("mip_rel_gap", gap / 2)
        self.program.setOptionValue("time_limit", MOST_SECONDS)
        self._add_columns(question)
        self._add_limits(question)
        self._add_tail()
        if self.limits_blocked:
            self._add_blocked_limit(question)

    @property
    def value_at_risk(self) -> int:
        """The column after the bounds of uncommitted costs."""
        return self.offers + self.scenarios * self.families

    @property
    def blocked_bounds(self) -> NDArray[np.int32]:
        """The columns of the blocked parts, by scenario: after the excess over the value at risk."""
        return np.arange(self.scenarios, dtype=np.int32) + self.value_at_risk + 1 + self.scenarios

    def bounds_of(self, family: int) -> NDArray[np.int32]:
        """The columns of a family's uncommitted costs, by scenario."""
        return np.arange(self.scenarios, dtype=np.int32) * self.families + self.offers + family

    def _add_columns(self, question: PortfolioQuestion) -> None:
        most = [_most_lots(one, question.hours) for one in question.offers]
        weight, count = question.risk_weight, self.scenarios
        uncommitted = count * self.families
        excess = weight / count / (1 - question.tail)
        prices = np.array(
            [
                *self.costs.lot_costs / self.unit,
                *[(1 - weight) / count] * uncommitted,
                weight,
                *[excess] * count,
            ]
        )
        # Costs are never below 0, nor is then what nine in ten of them stay under.
        upper = np.array([*most, *[inf] * (uncommitted + 1 + count)])
        self.program.addVars(len(prices), np.zeros(len(prices)), upper)
        self.program.changeColsCost(len(prices), np.arange(len(prices), dtype=np.int32), prices)

    def _add_limits(self, question: PortfolioQuestion) -> None:
        upfront = np.array([one.lot * one.upfront for one in question.offers])
        for limit, amounts in (
            (question.budget, self.costs.lot_costs),
            (question.upfront_budget, upfront),
        ):
            if limit != inf:
                places = np.arange(self.offers, dtype=np.int32)
                self.program.addRow(
                    -inf, limit / self.unit, self.offers, places, amounts / self.unit
                )

    def _add_tail(self) -> None:
        """Each scenario's excess is at least its uncommitted cost over the value at risk."""
        at_risk = np.full(self.scenarios, self.value_at_risk, dtype=np.int32)
        excess = at_risk + 1 + np.arange(self.scenarios, dtype=np.int32)
        bounds = [self.bounds_of(family) for family in range(self.families)]
        places = np.column_stack([*bounds, at_risk, excess])
        signs = np.array([*[-1.0] * self.families, 1.0, 1.0])
        self._add_rows(np.zeros(self.scenarios), places, np.tile(signs, (self.scenarios, 1)))

    def _add_blocked_limit(self, question: PortfolioQuestion) -> None:
        """The tail's mean of the blocked part is at most its limit, as the tail's mean of the cost is made."""
        count, bounds = self.scenarios, self.blocked_bounds
        at_risk = np.full(count, bounds[-1] + 1, dtype=np.int32)
        excess = at_risk + 1 + np.arange(count, dtype=np.int32)
        added = 2 * count + 1
        self.program.addVars(added, np.zeros(added), np.full(added, inf))
        places = np.column_stack([bounds, at_risk, excess])
        self._add_rows(np.zeros(count), places, np.tile([-1.0, 1.0, 1.0], (count, 1)))
        weights = np.array([1.0, *[1 / count / (1 - question.blocked_tail)] * count])
        summed = np.array([at_risk[0], *excess], dtype=np.int32)
        self.program.addRow(-inf, question.most_blocked, len(summed), summed, weights)

    def _add_rows(self, least: Floats, places: NDArray[np.int32], factors: Floats) -> None:
        """A row for each: the sum of `factors` × columns at `places` is at least `least`."""
        count, width = places.shape
        starts = np.arange(count, dtype=np.int32) * width
        self.program.addRows(
            count, least, np.full(count, inf), count * width, starts, places.ravel(),
            factors.ravel(),
        )  # fmt: skip

    def evaluate(self, lots: Floats) -> None:
        """Keep `lots`, which the limits allow, where they cost least so far, and cut."""
        uncommitted = self.add_cuts(lots)
        cost = self.costs.weighed(uncommitted.sum(axis=1)) + float(self.costs.lot_costs @ lots)
        if cost < self.best and self._keeps_limit(lots):
            self.best, self.best_lots = cost, lots

    def _keeps_limit(self, lots: Floats) -> bool:
        if not self.limits_blocked:
            return True
        return self.costs.blocked_part(lots) <= self.costs.question.most_blocked + BLOCKED_SLACK

    def add_cuts(self, lots: Floats) -> Floats:
        """Bound the costs around `lots` by their slopes there; the exact ones, by scenario and family."""
        uncommitted: Floats
        uncommitted, worth = self.costs.recourse(lots)
        for family, mine in enumerate(self.costs.places):
            slopes = worth[:, mine] / self.unit
            least = uncommitted[:, family] / self.unit + slopes @ lots[mine]
            offers = np.tile(mine.astype(np.int32), (self.scenarios, 1))
            places = np.column_stack([self.bounds_of(family), offers])
            self._add_rows(least, places, np.column_stack([np.ones(self.scenarios), slopes]))
        if self.limits_blocked:
            blocked, unblocked = self.costs.blocked(lots)
            offers = np.tile(np.arange(self.offers, dtype=np.int32), (self.scenarios, 1))
            places = np.column_stack([self.blocked_bounds, offers])
            ones = np.ones(self.scenarios)
            self._add_rows(blocked + unblocked @ lots, places, np.column_stack([ones, unblocked]))
        return uncommitted

    def close_gap(self, gap: float) -> int:
        """Solve, evaluate and cut until the best is within `gap` of the bound; how many rounds it took."""
        for rounds in range(1, MOST_ROUNDS):
            self.watch()
            self.evaluate(self._solve())
            if self.best < inf and self.best - self.bound <= gap * abs(self.best):
                return rounds
        raise NoProvenMix("offers", f"{MOST_ROUNDS} rounds leave {self.best - self.bound:g} open")

    def demand_whole_lots(self) -> None:
        """From here on lots are whole; the best with fractions, rounded down, is where that begins."""
        places = np.arange(self.offers, dtype=np.int32)
        column_kinds = np.full(self.offers, highspy.HighsVarType.kInteger)
        self.program.changeColsIntegrality(self.offers, places, column_kinds)
        self.is_whole, self.best = True, inf
        self.evaluate(np.floor(self.best_lots + ROUNDING))

    def _solve(self) -> Floats:
        """The lots of the program's best answer; raises the bound to what it proves."""
        self.program.run()
        status = self.program.getModelStatus()
        if self.limits_blocked and status in INFEASIBLE:
            raise BlockedAbove("most_blocked", "no choice of these offers keeps to it")
        if status == highspy.HighsModelStatus.kTimeLimit:
            message = f"the solver did not end within {MOST_SECONDS:g} seconds"
            raise NoProvenMix(
                "offers", f"{message}: plan fewer months, scenarios, families or offers"
            )
        if status != highspy.HighsModelStatus.kOptimal:
            message = self.program.modelStatusToString(status)
            raise NoProvenMix(
                "offers", f"the solver ended with {message}: amounts lie too far apart"
            )
        info = self.program.getInfo()
        proven = info.mip_dual_bound if self.is_whole else info.objective_function_value
        self.bound = max(self.bound, proven * self.unit)
        lots: Floats = np.array(self.program.getSolution().col_value[: self.offers])
        if self.is_whole:
            lots = np.rint(lots)
        return np.maximum(lots, 0.0)
