"""How much capacity to have ready: the newsvendor's level over the lead time, and Erlang's for queues."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import count
from math import ceil, log, sqrt

from apps.economics.forecast.names import SEEN_LEVELS
from apps.economics.hours_ahead import HoursAhead, place_counts

_HALVINGS = 50
_MIDDLE = 0.5
_TAIL_SHAPE, _TAIL_WIDER = 0.25, 1.1
_TAIL = (0.8, 0.6, 0.45, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001, 0.0001)
"""Shares of what is above the highest quantile at which its tail is drawn, straight in between."""


def critical_level(short_cost: float, idle_cost: float) -> float:
    """The share of hours that capacity is to suffice for: p* = C_u ÷ (C_u + C_o), both of a GPU-hour and above 0.

    The critical fractile (Arrow, Harris and Marschak 1951): a GPU more costs C_o where it idles and
    saves C_u where it was short.
    """
    return short_cost / (short_cost + idle_cost)


def demand_quantile(ahead: HoursAhead, first: int, hours: int, level: float) -> float | None:
    """The least capacity that suffices for a share `level` of demand over `hours` hours from place `first` on.

    Demand of all these hours together, each as likely: one capacity c for them costs least where the
    mean of P(D_h ≤ c) is p*. Between quantiles straight lines, below the outermost two of them on
    with their slope, not below 0. Above the highest a generalised Pareto tail, as wide as the widest pair of the upper half says
    and a tenth more; of an hour that has none up to the highest, what came of all hours lately instead (`seen`). Nowhere above
    the ceiling, if the quantiles are not. None without quantiles.
    """
    levels = sorted(ahead.quantiles)
    if not levels:
        return None
    weights = place_counts(len(ahead.points), first, hours)
    curves = [
        (
            weight,
            _ended_curve(levels, [ahead.quantiles[quantile][place] for quantile in levels], ahead),
        )
        for place, weight in enumerate(weights)
        if weight
    ]
    low = min(values[0] for _, (values, _) in curves)
    high = max(values[-1] for _, (values, _) in curves)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        reached = sum(weight * _share_below(middle, *curve) for weight, curve in curves)
        if reached >= level * hours:
            high = middle
        else:
            low = middle
    return high


def erlang_c(servers: int, load: float) -> float:
    """The chance that a job waits: Poisson arrivals, exponential service, `load` = arrivals × mean service.

    By Erlang's recursion for loss, B_k = a·B ÷ (k + a·B), and C = c·B ÷ (c − a·(1 − B)) (Erlang 1917;
    Cooper, *Introduction to Queueing Theory*, 2nd ed., 3.4). 1 where the load is not below the servers.
    """
    if load >= servers:
        return 1.0
    return next(waits for busy, waits in _waiting_shares(load) if busy == servers)


def mean_wait(servers: int, load: float) -> float:
    """How long a job waits on average, in mean service times: C ÷ (c − a); `load` is below `servers`."""
    return erlang_c(servers, load) / (servers - load)


def least_servers(load: float, most_waiting: float) -> int:
    """The fewest servers at which at most the share `most_waiting` (above 0) of jobs waits."""
    return next(
        servers
        for servers, waits in _waiting_shares(load)
        if servers > load and waits <= most_waiting
    )


def square_root_servers(load: float, beta: float) -> int:
    """The quick rule a + β·√a, rounded up (Halfin and Whitt 1981)."""
    return ceil(load + beta * sqrt(load))


def _waiting_shares(load: float) -> Iterator[tuple[int, float]]:
    """Of 1, 2, … servers the chance that a job waits; 1 up to the load. One step of the recursion for each."""
    loss = 1.0
    for servers in count(1):
        loss = load * loss / (servers + load * loss)
        is_enough = servers > load
        yield servers, servers * loss / (servers - load * (1 - loss)) if is_enough else 1.0


def _ended_curve(
    levels: Sequence[float], values: Sequence[float], ahead: HoursAhead
) -> tuple[list[float], list[float]]:
    """Values and levels from below the lowest on: there the outermost pair goes on with its slope, above is a tail.

    Nine quantiles of nothing say nothing of what comes in one hour of twenty: what came says it.
    """
    if len(levels) == 1:
        return [values[0]] * 2, [0.0, 1.0]
    first = values[0] - levels[0] * (values[1] - values[0]) / (levels[1] - levels[0])
    if values[-1] <= 0 and ahead.seen:
        tail = [
            point for point in zip(ahead.seen, SEEN_LEVELS, strict=True) if point[1] > levels[-1]
        ]
        ends, reached = ([point[part] for point in tail] for part in (0, 1))
    else:
        ends, reached = _pareto_tail(levels, values)
    most = max(ahead.ceiling, values[-1])
    return (
        [
            max(0.0, first),
            *(max(0.0, value) for value in values),
            *(max(0.0, min(end, most)) for end in ends),
        ],
        [0.0, *levels, *reached],
    )


def _pareto_tail(
    levels: Sequence[float], values: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Values above the highest quantile, and their levels.

    An excess over the highest quantile is taken as a generalised Pareto one (Pickands 1975) of shape 1 ÷ 4, heavier than an
    exponential, its scale the largest that a pair of quantiles of the upper half says and a tenth more: a rule on the safe
    side, as a straight line would end where one in twenty is yet above.
    """
    over = 1 - levels[-1]
    scale = _TAIL_WIDER * max(
        (values[-1] - value) / log((1 - level) / over)
        for level, value in zip(levels[:-1], values[:-1], strict=True)
        if level >= min(_MIDDLE, levels[-2])
    )
    ends = [values[-1] + scale * (part**-_TAIL_SHAPE - 1) / _TAIL_SHAPE for part in _TAIL]
    return ends, [*(1 - over * part for part in _TAIL[:-1]), 1.0]


def _share_below(capacity: float, values: Sequence[float], levels: Sequence[float]) -> float:
    """P(demand ≤ capacity)."""
    place = bisect_right(values, capacity)
    if place == 0:
        return 0.0
    if place == len(values):
        return 1.0
    (under, over), (below, above) = values[place - 1 : place + 1], levels[place - 1 : place + 1]
    return below + (above - below) * (capacity - under) / (over - under)
