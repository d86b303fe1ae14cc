"""Whether a workload earns its compute: a verdict from what it cost, wasted and returned, and why."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """The advice on a workload; `UNKNOWN` where what is known does not say."""

    EARNS = "earns"
    SHRINK = "shrink"
    RETIRE = "retire"
    UNKNOWN = "unknown"


class VerdictCause(StrEnum):
    """Why, one for each rule of `judge`."""

    COST_UNKNOWN = "cost_unknown"
    WORTH_LESS = "worth_less"
    WORTH_LESS_BY_ITS_WASTE = "worth_less_by_its_waste"
    NOTHING_CAME = "nothing_came"
    MUCH_WASTE = "much_waste"
    WORTH_MORE = "worth_more"
    COST_WITHIN_WORTH = "cost_within_worth"
    COST_NOT_WHOLE = "cost_not_whole"
    UNITS_UNKNOWN = "units_unknown"
    NO_VALUE = "no_value"


@dataclass(frozen=True, slots=True)
class VerdictThresholds:
    """Ratios 0 to 1. Of the waste in the cost: from `shrink_waste` on it is too large,

    from `retire_waste` on nothing came of it. `least_coverage` of the time has a price, or what it
    cost is not known well enough to say that it earns.
    """

    shrink_waste: float = 0.4
    retire_waste: float = 0.95
    least_coverage: float = 0.95


@dataclass(frozen=True, slots=True)
class WorkloadFacts:
    """The known facts of a workload over some weeks, in micro-units; None is unknown.

    `cost` is what has a price, `coverage` the priced part of its time. `waste` is within `cost`.
    `worth` is the lowest and the highest of what it returned, by the value stated for a unit;
    None where no value is stated, or (`has_value`) its units are not counted.
    """

    cost: int | None
    waste: int | None
    coverage: float | None
    worth: tuple[int, int] | None
    has_value: bool

    @property
    def waste_ratio(self) -> float | None:
        """Of the cost; None without a cost above 0."""
        if self.waste is None or self.cost is None or self.cost <= 0:
            return None
        return self.waste / self.cost


def judge(facts: WorkloadFacts, limits: VerdictThresholds) -> tuple[Verdict, VerdictCause]:
    """The verdict, by the first rule that holds:

    1. without a cost above 0: unknown;
    2. worth at most less than it cost: retire; shrink where without its waste it would be worth it
       and less than `retire_waste` of it is waste (time without a price only adds to the cost);
    3. unless it is worth at least what it cost: `retire_waste` of it waste: retire; `shrink_waste`: shrink;
    4. no value stated: unknown, however good it is; units not counted: unknown;
    5. worth at least what it cost: earns, if enough of its time has a price;
    6. the cost lies within what it may be worth: unknown.
    """
    if not facts.cost or facts.cost < 0:
        return Verdict.UNKNOWN, VerdictCause.COST_UNKNOWN
    wasted = facts.waste_ratio or 0.0
    if facts.worth is not None and facts.worth[1] < facts.cost:
        useful = facts.cost - (facts.waste or 0)
        if wasted < limits.retire_waste and facts.worth[1] >= useful:
            return Verdict.SHRINK, VerdictCause.WORTH_LESS_BY_ITS_WASTE
        return Verdict.RETIRE, VerdictCause.WORTH_LESS
    # What returns its cost for sure is not shrunk for its waste alone: that takes a way to hold less, which is recommended by itself.
    is_worth_it = facts.worth is not None and facts.worth[0] >= facts.cost
    if wasted >= limits.retire_waste and not is_worth_it:
        return Verdict.RETIRE, VerdictCause.NOTHING_CAME
    if wasted >= limits.shrink_waste and not is_worth_it:
        return Verdict.SHRINK, VerdictCause.MUCH_WASTE
    return _by_worth(facts, facts.cost, limits)


def _by_worth(
    facts: WorkloadFacts, cost: int, limits: VerdictThresholds
) -> tuple[Verdict, VerdictCause]:
    if facts.worth is None:
        why = VerdictCause.UNITS_UNKNOWN if facts.has_value else VerdictCause.NO_VALUE
        return Verdict.UNKNOWN, why
    if facts.worth[0] < cost:
        return Verdict.UNKNOWN, VerdictCause.COST_WITHIN_WORTH
    if facts.coverage is not None and facts.coverage < limits.least_coverage:
        return Verdict.UNKNOWN, VerdictCause.COST_NOT_WHOLE
    return Verdict.EARNS, VerdictCause.WORTH_MORE
