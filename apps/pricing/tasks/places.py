"""Regions and zones as pools name them."""

from collections.abc import Iterable

from apps.fleet.queries import PoolFact


def lies_in(place: str, region: str) -> bool:
    """Whether a place is the region, or a zone of it (us-east-1a, us-central1-a)."""
    return place == region or (
        place.startswith(region) and place[len(region) :].strip("-").isalpha()
    )


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
