"""The gates of a forecast demand for GPUs: headroom, requests for capacity and plans stand on it."""

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
from apps.economics.number_words import number_text, quantity_text
from apps.economics.waiting_words import hourly_price_words

NO_FORECAST = "there is no forecast of its place, which would be tried on what came"
UNTRIED = "its forecast was not tried on what came"
FIRST_WEEKS = "its first weeks alone are borne by it"
OWN_FORECAST = "its own forecast, which is no sum of those of its pools"


@dataclass(frozen=True, slots=True)
class DemandGrounds:
    """The grounds of GPUs that are needed, or asked for: their forecast's own gates, None without one.

    `wanted` are the most GPUs at once (None: not known), `there` those that can be held then (None: nothing bounds them), and
    `waiting_price` is of a GPU-hour that is waited for in units of `currency`, None where nobody said. `whole` is what is expected of all pools
    together, `parts` of each, None of one without a forecast; none where the whole is one pool.
    """

    forecast: Sequence[Gate] | None
    wanted: float | None
    there: float | None
    waiting_price: float | None
    currency: str
    whole: float = 0.0
    parts: Sequence[float | None] = ()


def own_gates(forecast: Sequence[Gate] | None) -> tuple[Gate, Gate]:
    """Of a forecast how it did beside its best baseline and what its intervals covered: of several of a name the worst."""
    return _own_gate(forecast, GateName.BASELINE), _own_gate(forecast, GateName.COVERAGE)


def demand_gates(grounds: DemandGrounds) -> tuple[Gate, ...]:
    """Its forecast's baseline and intervals, what is there, and its pools (else its hours) beside the whole."""
    baseline, coverage, pools = forecast_gates(grounds.forecast, grounds.whole, grounds.parts)
    room = room_gate(grounds.wanted, grounds.there, grounds.waiting_price, grounds.currency)
    return baseline, coverage, room, pools


def forecast_gates(
    forecast: Sequence[Gate] | None, expected_total: float = 0.0, parts: Sequence[float | None] = ()
) -> tuple[Gate, Gate, Gate]:
    """Its baseline, its intervals, and its pools (else its hours) beside the whole: see `DemandGrounds`."""
    baseline, coverage = own_gates(forecast)
    return baseline, coverage, _pools_gate(forecast, expected_total, parts)


def term_gate(history_days: float | None, term_days: float) -> Gate:
    """Whether the history of its forecast bears a term of so many days; without a forecast nobody can tell."""
    if history_days is None:
        return Gate(GateName.HISTORY, None, NO_FORECAST)
    gate = history_gate(history_days, term_days)
    return gate if gate.is_passed else replace(gate, fallback=FIRST_WEEKS)


def _own_gate(forecast: Sequence[Gate] | None, name: GateName) -> Gate:
    named_gates = [gate for gate in forecast or () if gate.name is name]
    if named_gates:
        return worst_gate(named_gates)
    return Gate(name, None, NO_FORECAST if forecast is None else UNTRIED)


def room_gate(
    wanted: float | None, there: float | None, waiting_price: float | None, currency: str
) -> Gate:
    """Whether GPUs that are wanted at once are there; else what of them waits, at the price of a GPU-hour of waiting.

    None: what is wanted, or what waiting costs, is not known; of `there`: nothing bounds them.
    """
    if wanted is None:
        return Gate(GateName.CAPACITY, None, "what will be needed is not known")
    beyond = quantity_text(number_text(wanted - (there or 0.0)), "GPUs")
    priced = hourly_price_words(waiting_price, currency)
    fallback = f"what is there; what is beyond it waits, up to {beyond}, {priced}"
    return capacity_gate(wanted, there, "GPUs", fallback)


def _pools_gate(
    forecast: Sequence[Gate] | None, expected_total: float, parts: Sequence[float | None]
) -> Gate:
    known_parts = [part for part in parts if part is not None]
    lacking = len(parts) - len(known_parts)
    own_parts_gates = [gate for gate in forecast or () if gate.name is GateName.PARTS]
    if lacking:
        sentence = f"of {lacking} of its {len(parts)} pools there is no forecast"
        return worst_gate([*own_parts_gates, Gate(GateName.PARTS, None, sentence)])
    if not known_parts:
        return worst_gate(own_parts_gates or [parts_gate(expected_total, ())])
    gate = parts_gate(expected_total, known_parts)
    return worst_gate(
        [*own_parts_gates, gate if gate.is_passed else replace(gate, fallback=OWN_FORECAST)]
    )
