"""Regions and zones as pools name them."""

from collections.abc import Iterable

from apps.economics.places import lies_in
from apps.fleet.queries import PoolFact


def place_of(pools: Iterable[PoolFact], *, instance_type: str, region: str, zone: str = "") -> str:
    """What pools of this type call the region, or the zone, that something was bought for.

    Pools name a region or a zone as they please; what was bought covers what bears its name.
    """
    named = {
        pool.region
        for pool in pools
        if pool.instance_type == instance_type and lies_in(pool.region, region)
    }
    if zone:
        return region if region in named and zone not in named else zone
    return named.pop() if len(named) == 1 else region
