"""One commitment against one price on demand: the least-cost level in closed form."""

from math import ceil

import numpy as np

from apps.economics.forecast.scores import Floats

ROUNDING = 1e-12
"""What floats may be off where a whole number is meant."""


def newsvendor_level(demand: Floats, committed_rate: float, on_demand_rate: float) -> float:
    """The least level q with P(demand ≤ q) ≥ 1 − committed ÷ on demand: the critical fractile (Arrow, Harris and Marschak 1951).

    `demand` has one value for each hour and scenario, alike likely; rates are of a GPU-hour. The
    inverse of their distribution, never between two values. 0 where committing costs no less.
    """
    fractile = 1 - committed_rate / on_demand_rate
    if fractile <= 0:
        return 0.0
    rank = max(1, ceil(fractile * demand.size - ROUNDING))
    return float(np.partition(demand.ravel(), rank - 1)[rank - 1])


def newsvendor_cost(
    level: float, demand: Floats, committed_rate: float, on_demand_rate: float
) -> float:
    """Return the cost of `level` committed GPUs over all hours of `demand`, with the rest on demand."""
    short = np.maximum(demand - level, 0.0).sum()
    return committed_rate * level * demand.size + on_demand_rate * float(short)


def break_even_utilization(
    committed_rate: float, on_demand_rate: float, *, months: int = 1, monthly_decline: float = 0.0
) -> float:
    """The utilization from which a commitment of `months` costs less than on demand; over 1: never.

    u* = r·n ÷ (p·Σ(1 − g)^m) over months m from 0, where the price on demand falls by g a month.
    """
    on_demand = sum((1 - monthly_decline) ** month for month in range(months))
    return committed_rate * months / (on_demand_rate * on_demand)


def tail_mean(costs: Floats, alpha: float) -> float:
    """CVaR: the mean of the worst 1 − `alpha` of equally likely costs (Rockafellar and Uryasev 2000).

    A scenario that lies only in part among the worst counts by that part. `alpha` is from 0, below 1.
    """
    worst = np.sort(costs)[::-1]
    count = len(worst) * (1 - alpha)
    whole_count = int(count + ROUNDING)
    total = float(worst[:whole_count].sum())
    if count - whole_count > ROUNDING:
        total += (count - whole_count) * float(worst[whole_count])
    return total / count
