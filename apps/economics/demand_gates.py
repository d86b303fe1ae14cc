"""What a demand for GPUs that is forecast is held against: headroom, requests for capacity and plans stand on it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from apps.economics.gates import (
    Gate,
    GateName,
    capacity_gate,
    history_gate,
    parts_gate,
    worst_gate,
)

OF_FORECAST = (GateName.BASELINE, GateName.COVERAGE)
NO_FORECAST = "there is no forecast of its place, which would be tried on what came"
UNTRIED = "its forecast was not tried on what came"
UNPRICED = "nobody said what waiting costs"
FIRST_WEEKS = "its first weeks alone are borne by it"
OWN_FORECAST = "its own forecast, which is no sum of those of its pools"


@dataclass(frozen=True, slots=True)
class DemandGrounds:
    """What GPUs that are needed, or asked for, stand on: their forecast's own gates, None without one.

    `wanted` are the most GPUs at once (None: not known), `there` those that can be held then (None: nothing bounds them), and
    `waiting_price` is of a GPU-hour that is waited for, None where nobody said. `whole` is what is expected of all pools
    together, `parts` of each, None of one without a forecast; none where the whole is one pool.
    """

    forecast: Sequence[Gate] | None
    wanted: float | None
    there: float | None
    waiting_price: float | None
    whole: float = 0.0
    parts: Sequence[float | None] = ()


def own_gates(forecast: Sequence[Gate] | None) -> tuple[Gate, ...]:
    """Of a forecast how it did beside its best baseline and what its intervals covered: of several of a name the worst."""
    return tuple(_own_gate(forecast, name) for name in OF_FORECAST)


def demand_gates(grounds: DemandGrounds) -> tuple[Gate, ...]:
    """Its forecast's baseline and intervals, what is there, and its pools (else its hours) beside the whole."""
    return (*own_gates(grounds.forecast), _room_gate(grounds), _pools_gate(grounds))


def term_gate(history_days: float | None, term_days: float) -> Gate:
    """Whether the history of its forecast bears a term of so many days; without a forecast nobody can tell."""
    if history_days is None:
        return Gate(GateName.HISTORY, None, NO_FORECAST)
    gate = history_gate(history_days, term_days)
    return gate if gate.is_passed else replace(gate, fallback=FIRST_WEEKS)


def _own_gate(forecast: Sequence[Gate] | None, name: GateName) -> Gate:
    found = [gate for gate in forecast or () if gate.name is name]
    if found:
        return worst_gate(found)
    return Gate(name, None, NO_FORECAST if forecast is None else UNTRIED)


def _room_gate(grounds: DemandGrounds) -> Gate:
    wanted, there, price = grounds.wanted, grounds.there, grounds.waiting_price
    if wanted is None:
        return Gate(GateName.CAPACITY, None, "what will be needed is not known")
    beyond = wanted - (there or 0.0)
    priced = UNPRICED if price is None else f"at {price:,.4g} an hour each"
    fallback = f"what is there; what is beyond it waits, up to {beyond:,.4g} GPUs, {priced}"
    return capacity_gate(wanted, there, "GPUs", fallback)


def _pools_gate(grounds: DemandGrounds) -> Gate:
    known = [part for part in grounds.parts if part is not None]
    lacking = len(grounds.parts) - len(known)
    own = [gate for gate in grounds.forecast or () if gate.name is GateName.PARTS]
    if lacking:
        says = f"of {lacking} of its {len(grounds.parts)} pools there is no forecast"
        return worst_gate([*own, Gate(GateName.PARTS, None, says)])
    if not known:
        return worst_gate(own or [parts_gate(grounds.whole, ())])
    gate = parts_gate(grounds.whole, known)
    return worst_gate([*own, gate if gate.is_passed else replace(gate, fallback=OWN_FORECAST)])
