"""A family's demand as a duration curve: hours sorted by demand, and what each level of it comes from."""

from collections.abc import Sequence

import numpy as np

from apps.economics.forecast.scores import Floats
from apps.economics.portfolio.costs import FamilyCosts
from apps.economics.portfolio.parts import DurationStep

STEPS = 100


def duration_steps(family: FamilyCosts, lots: Floats, owned: Sequence[bool]) -> list[DurationStep]:
    """Demand from its peak down; what is owned is used first, then what is committed. `owned`: by offer."""
    demand, capacity = family.family.demand, family.capacity(lots)
    use = family.use(capacity)
    of_own = family.owned_gpus + (lots * family.lot_gpus * np.array(owned)) @ family.covers
    from_own = np.minimum(demand, of_own)
    order = np.argsort(-demand.ravel(), kind="stable")
    layers = (
        *(demand, from_own, np.minimum(demand, capacity) - from_own),
        *(use.on_demand, use.spot, use.short),
    )
    parts = np.array_split(order, min(STEPS, len(order)))
    ends = np.cumsum([len(part) for part in parts]) / len(order)
    middles = ends - np.diff(ends, prepend=0.0) / 2
    return [
        DurationStep(float(middle), *(float(layer.ravel()[part].mean()) for layer in layers))
        for middle, part in zip(middles, parts, strict=True)
    ]
