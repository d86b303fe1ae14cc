"""How many GPUs can be held ahead: those in service, and nodes that are entered to come or go; of what scales, the quota."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise

from apps.economics.hours import HOUR
from apps.economics.purchase import PurchaseOption
from apps.fleet import queries as fleet
from apps.planning.queries.capacity_places import pools_of
from apps.planning.queries.gpu_quotas import gpu_quotas
from apps.planning.queries.series import GPU_HOURS, GPU_MODEL, POOL, SeriesKey

BY_THE_HOUR = frozenset({PurchaseOption.ON_DEMAND, PurchaseOption.SPOT})
LATELY = timedelta(days=28)
FURTHEST = timedelta(days=600)


@dataclass(frozen=True)
class RoomAhead:
    """The bounds of the GPUs held of any series from `at` on; the fleet is read once."""

    at: datetime
    _steps: dict[int, list[tuple[datetime, int]]] = field(default_factory=dict, repr=False)

    def of_hours(self, series: SeriesKey, starts_at: datetime, hours: int) -> list[float]:
        """GPUs of each hour from `starts_at` on, 0 where none are left; empty where nothing on record bounds them."""
        bounds = [(starts_at + place * HOUR, 1) for place in range(hours)]
        return self._within(series, bounds)

    def of_pools(self, pool_ids: frozenset[int], starts_at: datetime, hours: int) -> list[float]:
        """Return the GPUs of these pools together, of each hour from `starts_at` on; empty where nothing on record bounds them."""
        bounds = [(starts_at + place * HOUR, 1) for place in range(hours)]
        return self._of_spans(pool_ids & frozenset(self._gpu_pools), bounds)

    def is_bounded(self, pool_ids: frozenset[int]) -> bool:
        """Whether none of these pools starts more GPUs as they are asked for: those that nobody entered are not there then."""
        pools = pool_ids & frozenset(self._gpu_pools)
        return all(self._bound(pool) is not None for pool in pools)

    def of_days(self, series: SeriesKey, begins: Sequence[datetime]) -> list[float]:
        """GPU-hours of each day that begins at one of these moments, the last of which only ends the day before."""
        bounds = [(begin, (end - begin) // HOUR) for begin, end in pairwise(begins)]
        return self._within(series, bounds)

    def _within(self, series: SeriesKey, spans: Sequence[tuple[datetime, int]]) -> list[float]:
        return self._of_spans(self._pools_of(series), spans)

    def _of_spans(
        self, pools: frozenset[int], spans: Sequence[tuple[datetime, int]]
    ) -> list[float]:
        """The GPUs at the beginning of each span, times its hours."""
        if any(self._bound(pool) is None for pool in pools):
            return []
        if not any(self._bound(pool) or pool in self._known for pool in pools):
            return []
        changes = sorted(change for pool in pools for change in self._bound(pool) or ())
        gpu_hours, there, place = [], 0, 0
        for begin, hours in spans:
            while place < len(changes) and changes[place][0] <= begin:
                there += changes[place][1]
                place += 1
            gpu_hours.append(float(there * hours))
        return gpu_hours

    def _pools_of(self, series: SeriesKey) -> frozenset[int]:
        if series.measure != GPU_HOURS:
            return frozenset()
        if series.dimension == POOL:
            pool_ids = pools_of(int(series.key), "")
            return pool_ids & frozenset(self._gpu_pools)
        if series.dimension == GPU_MODEL:
            return pools_of(None, series.key) & frozenset(self._gpu_pools)
        return frozenset(self._gpu_pools)

    @cached_property
    def _gpu_pools(self) -> frozenset[int]:
        return frozenset(pool.id for pool in fleet.pools().values() if not pool.counts_cores)

    @cached_property
    def _known(self) -> frozenset[int]:
        """Pools that ever had a node: one without any now has room for nothing, of others nobody said what is there."""
        return fleet.pools_with_nodes()

    @cached_property
    def _lives(self) -> dict[int, list[fleet.NodeFact]]:
        by_pool: dict[int, list[fleet.NodeFact]] = defaultdict(list)
        for node in fleet.nodes_alive_between(self.at - LATELY, self.at + FURTHEST):
            by_pool[node.pool_id].append(node)
        return by_pool

    @cached_property
    def _quotas(self) -> dict[int, int]:
        """The least quota that a pool counts against."""
        least: dict[int, int] = {}
        for quota in gpu_quotas():
            for pool_id in quota.pool_ids:
                least[pool_id] = min(quota.most_gpus, least.get(pool_id, quota.most_gpus))
        return least

    def _bound(self, pool_id: int) -> list[tuple[datetime, int]] | None:
        """When GPUs come and go, by the moment; None where more of them are started as they are asked for."""
        if pool_id not in self._steps:
            nodes = self._lives.get(pool_id, [])
            if not self._scales(pool_id, nodes):
                changes = [(node.lived_from, node.units) for node in nodes]
                changes += [
                    (node.lived_to, -node.units)
                    for node in nodes
                    if node.lived_to < self.at + FURTHEST
                ]
                self._steps[pool_id] = changes
            elif pool_id in self._quotas:
                self._steps[pool_id] = [(self.at - LATELY, self._quotas[pool_id])]
            else:
                return None
        return self._steps[pool_id]

    def _scales(self, pool_id: int, nodes: Sequence[fleet.NodeFact]) -> bool:
        """Whether it is rented by the hour, and nodes of it came or went in the last four weeks, or it has none now."""
        if fleet.pools()[pool_id].purchase_option not in BY_THE_HOUR:
            return False
        return not nodes or any(
            node.lived_from > self.at - LATELY or node.lived_to <= self.at for node in nodes
        )
