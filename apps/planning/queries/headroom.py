"""Headroom policies, and the stored forecasts held against them: GPUs needed, GPUs there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from math import ceil
from typing import Annotated

from apps.accounts.queries import organisation
from apps.accounts.queries.facts import facts_of
from apps.economics.budgets import sum_ahead
from apps.economics.demand_gates import DemandGrounds, demand_gates, term_gate
from apps.economics.gates import Gate
from apps.economics.headroom import critical_level, demand_quantile, erlang_c, least_servers
from apps.economics.hours import HOUR, hour_from
from apps.economics.hours_ahead import place_counts
from apps.economics.money import Money
from apps.fleet import queries as fleet
from apps.ledger.queries.windows import DAY
from apps.planning.models import HeadroomPolicy
from apps.planning.queries.ahead import (
    AheadSpan,
    SeriesAhead,
    gates_of_spans,
    series_ahead,
)
from apps.planning.queries.capacity_places import gpus_by_pool, pool_series
from apps.planning.queries.room import RoomAhead
from apps.planning.queries.series import GPU_HOURS, GPU_MODEL, POOL, SeriesKey, name_of_key
from apps.show.entries import Entry, Micros, Ratio

ROUNDING = 1e-6
"""What halving may leave above a whole number."""


@dataclass(frozen=True, slots=True)
class EnteredHeadroomPolicy:
    """A policy as it is set; see its table for what each field is."""

    name: Annotated[str, Entry("Name")]
    dimension: str
    key: Annotated[str, Entry(help="the id of a pool, else the model or the class")]
    pool_ids: Annotated[
        tuple[int, ...],
        Entry(
            "Pools it may run in", "Only of a class: whose GPUs are there for it.", is_picked=True
        ),
    ]
    short_cost: Annotated[
        Decimal,
        Entry(
            "Being short of a GPU for an hour costs, in {currency}",
            "What the work that waits is worth, or what the GPU costs on demand.",
            example="6.00",
        ),
    ]
    idle_cost: Annotated[
        Decimal, Entry("A GPU that idles for an hour costs, in {currency}", example="2.00")
    ]
    lead_days: Annotated[int, Entry("Lead time in days", "Until more are there.", example="14")]
    most_waiting: Annotated[
        Decimal | None,
        Entry("Most jobs that may wait, in per cent", "Empty: nothing said.", example="5"),
    ] = None
    gpus_per_job: Annotated[int, Entry("GPUs of a job", initial="1")] = 1
    note: Annotated[str, Entry("Note")] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadroomPolicyFact(EnteredHeadroomPolicy):
    """A policy as it was set."""

    id: int
    created_at: datetime

    @property
    def series(self) -> SeriesKey:
        """The demand that it is for."""
        return SeriesKey(GPU_HOURS, self.dimension, self.key)

    @property
    def of(self) -> str:
        """The pool's name, the model or the class."""
        return name_of_key(self.series)

    @property
    def level(self) -> Ratio:
        """The share of hours in which capacity is to suffice: the critical fractile of its costs."""
        return critical_level(float(self.short_cost), float(self.idle_cost))

    @property
    def short_micros(self) -> Micros:
        """The cost of an hour in which a GPU is lacking."""
        return Money(self.short_cost, organisation().currency).micros()

    @property
    def idle_micros(self) -> Micros:
        """The cost of an hour in which a GPU idles."""
        return Money(self.idle_cost, organisation().currency).micros()

    @property
    def most_waiting_ratio(self) -> Ratio | None:
        """The share of jobs that may wait; None where nothing is promised."""
        return None if self.most_waiting is None else float(self.most_waiting)

    @property
    def its_pools(self) -> frozenset[int]:
        """The pools whose GPUs are there for it."""
        if self.dimension == POOL:
            return frozenset([int(self.key)])
        if self.dimension == GPU_MODEL:
            pools = fleet.pools().values()
            return frozenset(pool.id for pool in pools if pool.gpu_model == self.key)
        return frozenset(self.pool_ids)


@dataclass(frozen=True, slots=True)
class HeadroomFigures:
    """A policy against the newest forecasts over its lead time, in GPUs; None where it has none with an interval.

    `for_cost` is the quantile of demand that costs least, `for_waiting` what keeps the promise on
    waiting in the busiest hour expected, `waiting` the share that would wait then with the GPUs there; both None
    where nothing is promised. `spans` say from which forecast which hours are, `gates` what it was held against.
    """

    policy: HeadroomPolicyFact
    there: int
    for_cost: int | None = None
    for_waiting: int | None = None
    waiting: Ratio | None = None
    busiest: float | None = None
    spans: tuple[AheadSpan, ...] = ()
    gates: tuple[Gate, ...] = ()

    @property
    def needed(self) -> int | None:
        """Return the GPUs that both cost and the promise on waiting ask for; None where that of cost is not known."""
        if self.for_cost is None:
            return None
        return max(self.for_cost, self.for_waiting or 0)

    @property
    def shortfall(self) -> int | None:
        """GPUs that are lacking; below zero, those beyond what is needed."""
        return None if self.needed is None else self.needed - self.there


def headroom_policies() -> list[HeadroomPolicyFact]:
    """Every policy by name."""
    return list(facts_of(HeadroomPolicyFact, HeadroomPolicy.objects.order_by("name")))


def headroom_of(policies: Sequence[HeadroomPolicyFact], at: datetime) -> list[HeadroomFigures]:
    """Each policy held against the newest forecasts of its demand."""
    begins = hour_from(at)
    wanted: dict[SeriesKey, datetime] = {}
    for policy in policies:
        ends_at = begins + policy.lead_days * DAY
        for series in (policy.series, *pool_series(policy.series)):
            wanted[series] = max(ends_at, wanted.get(series, ends_at))
    ahead, rooms = series_ahead(wanted, at), RoomAhead(at)
    there = gpus_by_pool(at)
    return [
        _with_gates(
            _headroom_figures(
                policy,
                ahead.get(policy.series),
                sum(there[pool] for pool in policy.its_pools),
                begins,
            ),
            ahead,
            rooms,
            begins,
        )
        for policy in policies
    ]


def _with_gates(
    figures: HeadroomFigures,
    ahead: Mapping[SeriesKey, SeriesAhead],
    rooms: RoomAhead,
    begins: datetime,
) -> HeadroomFigures:
    """Return the figures with their gates: its forecasts' own gates, what can be there all of its lead time, and its pools together."""
    policy = figures.policy
    hours = policy.lead_days * DAY // HOUR

    def expected(series: SeriesKey) -> float | None:
        its = ahead.get(series)
        if its is None:
            return None
        return sum_ahead([(its.hours, (begins - its.starts_at) // HOUR)], hours).expected

    own_ahead = ahead.get(policy.series)
    since = None if own_ahead is None else own_ahead.known_since
    grounds = DemandGrounds(
        forecast=None if own_ahead is None else gates_of_spans(figures.spans),
        wanted=figures.needed,
        there=min(rooms.of_pools(policy.its_pools, begins, hours), default=None),
        waiting_price=float(policy.short_cost),
        currency=organisation().currency,
        whole=expected(policy.series) or 0.0,
        parts=[] if own_ahead is None else [expected(pool) for pool in pool_series(policy.series)],
    )
    history_days = None if since is None else (begins - since) / DAY
    gates = (*demand_gates(grounds), term_gate(history_days, policy.lead_days))
    return replace(figures, gates=gates)


def _headroom_figures(
    policy: HeadroomPolicyFact, ahead: SeriesAhead | None, there: int, begins: datetime
) -> HeadroomFigures:
    if ahead is None:
        return HeadroomFigures(policy, there)
    ends_at = begins + policy.lead_days * DAY
    first, hours = (begins - ahead.starts_at) // HOUR, (ends_at - begins) // HOUR
    quantile = demand_quantile(ahead.hours, first, hours, policy.level)
    counts = place_counts(len(ahead.hours.points), first, hours)
    points = zip(ahead.hours.points, counts, strict=True)
    busiest = max(point for point, count in points if count)
    jobs = max(0.0, busiest) / policy.gpus_per_job
    least, waiting = None, None
    if policy.most_waiting is not None:
        least = least_servers(jobs, float(policy.most_waiting)) * policy.gpus_per_job
        waiting = erlang_c(there // policy.gpus_per_job, jobs)
    return HeadroomFigures(
        policy,
        there,
        for_cost=None if quantile is None else ceil(quantile - ROUNDING),
        for_waiting=least,
        waiting=waiting,
        busiest=busiest,
        spans=ahead.spans_within(begins, ends_at),
    )
