"""The part of a line's capacity that has one rate: its unit, its machine, and how and where it is bought."""

from collections.abc import Mapping

from apps.economics.variance import CapacityCell
from apps.fleet.queries import PoolFact


def capacity_cell(
    pools: Mapping[int, PoolFact],
    pool_id: int | None,
    bought: tuple[str | None, str | None] | None,
    *,
    is_core: bool,
) -> CapacityCell:
    """The cell of a pool's time; `bought` has the line's own GPU model and purchase option, None where it keeps none.

    Pools of one machine, purchase option, provider and region are one. One whose machine nobody knows is its own.
    """
    pool = None if pool_id is None else pools.get(pool_id)
    if bought is None:
        bought = (None, None) if pool is None else (pool.gpu_model, pool.purchase_option)
    model, option = (text or "" for text in bought)
    place = () if pool is None else (pool.provider, pool.region, pool.instance_type)
    machine = model or (pool.instance_type if pool else "") or f"pool {pool_id}"
    return CapacityCell("core" if is_core else "gpu", machine, (option, *place))
