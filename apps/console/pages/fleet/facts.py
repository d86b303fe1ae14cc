"""Facts behind the list of pools and nodes: the question of its address, and what there is now."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction

from django.http import QueryDict
from django.urls import reverse

from apps.console.kit.filters import Reading, filter_of, key_parser, name_filter, one_of
from apps.console.kit.frame import Filter
from apps.console.kit.request import Context
from apps.console.pages.fleet.hours import GpuTime, by_key, time_of
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.show.amounts import share
from apps.show.strip import strip_of_states
from apps.workloads import queries as workloads

SHOWS = {
    "": "In service",
    "trouble": "Silent or out of service",
    "unconfirmed": "Not confirmed",
    "ended": "Ended in 30 days",
}
DEFAULTS = {"pool": "", "show": "", "sort": ""}
DEFAULT_WORDS = {"pool": "all pools", "show": "those in service", "sort": ""}


@dataclass(frozen=True, slots=True)
class FleetQuestion:
    """The question of which nodes the address asks for; what of it is not understood is in `reading`.

    `pool_ids` None: of all pools.
    """

    pool_ids: frozenset[int] | None
    show: str
    reading: Reading
    filters: tuple[Filter, ...]

    def href(self, part: str = "", **changes: str) -> str:
        """The address of the same question, changed, at this part of the page."""
        return self.reading.href(reverse("fleet"), **changes) + (f"#{part}" if part else "")

    def has_pool(self, pool_id: int) -> bool:
        """Whether nodes of this pool are asked for."""
        return self.pool_ids is None or pool_id in self.pool_ids


@dataclass(frozen=True, slots=True)
class FleetFacts:
    """Every pool and node; `held` is never more than a node has, `by_pool` sums the living."""

    pools: Mapping[int, fleet.PoolFact]
    nodes: Sequence[fleet.NodeStatus]
    held: Mapping[int, Fraction]
    by_pool: Mapping[int, "Holdings"]
    at: datetime

    def of(self, pools: Iterable[fleet.PoolFact]) -> "Holdings":
        """Return what the living nodes of these pools have, and what is held of it now.

        Units are GPUs; cores are not added to them, and are told where there are only cores.
        """
        there = [pool for pool in pools if pool.id in self.by_pool]
        counted = {pool.id for pool in _of_one_unit(there)}
        return _sum_of_holdings(
            [
                self.by_pool[pool.id]
                if pool.id in counted
                else replace(self.by_pool[pool.id], units=0, held=Fraction(0))
                for pool in there
            ]
        )


@dataclass(frozen=True, slots=True)
class Holdings:
    """Nodes, how many of them are silent, their units, and what is held of those."""

    nodes: int = 0
    units: int = 0
    held: Fraction = Fraction(0)
    silent: int = 0


def requested_fleet(context: Context) -> tuple[FleetQuestion, FleetFacts]:
    """The question of the address, and what is known of the fleet now."""
    facts = fleet_facts(context.at)
    pools = {pool.name: pool.id for pool in facts.pools.values()}
    return fleet_question(context.query, pools), facts


def fleet_question(query: QueryDict, pools: Mapping[str, int]) -> FleetQuestion:
    """Parse the address; nothing in it is refused."""
    reading = Reading(query, DEFAULTS, DEFAULT_WORDS)
    reading.read("sort", str)
    pool_ids = reading.read("pool", lambda text: one_of(pools, text, "pool"))
    show = reading.read("show", key_parser(SHOWS, "Nodes cannot be chosen by {!r}."))
    return FleetQuestion(
        pool_ids,
        show,
        reading,
        (
            name_filter("pool", "Pool", sorted(pools), reading.texts, "All pools"),
            filter_of("show", "Nodes", SHOWS, reading.texts),
        ),
    )


def fleet_facts(at: datetime) -> FleetFacts:
    """Every pool and node, and what jobs hold of it now."""
    nodes, pools = fleet.node_statuses(at), fleet.pools()
    in_cores = [node.id for node in nodes if pools[node.pool_id].counts_cores]
    claimed = workloads.held_by_node(at, in_cores)
    held_units = {
        node.id: min(claimed.get(node.id, Fraction(0)), Fraction(node.units)) for node in nodes
    }
    of_pool: dict[int, list[Holdings]] = {}
    for node in nodes:
        if node.lives(at):
            one = Holdings(1, node.units, held_units[node.id], int(node.is_silent(at)))
            of_pool.setdefault(node.pool_id, []).append(one)
    by_pool = {pool_id: _sum_of_holdings(parts) for pool_id, parts in of_pool.items()}
    return FleetFacts(pools, nodes, held_units, by_pool, at)


def time_together(
    chosen: Iterable[fleet.PoolFact], spans: Mapping[int, ledger.PoolSpan]
) -> ledger.PoolSpan:
    """The time of these pools together: of GPUs, or of cores where there are only these."""
    of_pools = [spans[pool.id] for pool in _of_one_unit(chosen) if pool.id in spans]
    states: dict[int, int] = {}
    for span in of_pools:
        for state, milliseconds in span.by_state.items():
            states[state] = states.get(state, 0) + milliseconds
    return ledger.PoolSpan(
        states, sum(span.held for span in of_pools), sum(span.observed for span in of_pools)
    )


def time_in(span: ledger.PoolSpan, chosen: Iterable[fleet.PoolFact]) -> GpuTime:
    """Return the time of a span as a strip and ratios; what cores did is measured by nobody, and so not known."""
    if all(pool.counts_cores for pool in chosen):
        return GpuTime(strip=strip_of_states(by_key(span.by_state)))
    return GpuTime(
        strip=strip_of_states(by_key(span.by_state)),
        active_ratio=time_of(span.by_state).active_ratio,
        coverage_ratio=share(span.observed, span.held),
    )


def _of_one_unit(pools: Iterable[fleet.PoolFact]) -> list[fleet.PoolFact]:
    """Those measured in GPUs; all of them where none is."""
    chosen = list(pools)
    return [pool for pool in chosen if not pool.counts_cores] or chosen


def _sum_of_holdings(parts: Sequence[Holdings]) -> Holdings:
    return Holdings(
        nodes=sum(part.nodes for part in parts),
        units=sum(part.units for part in parts),
        held=sum((part.held for part in parts), Fraction(0)),
        silent=sum(part.silent for part in parts),
    )
