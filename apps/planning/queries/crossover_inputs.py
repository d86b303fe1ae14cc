"""Inputs that a kept scenario is answered from: its own tables over what was measured of a service."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.accounts.queries import organisation
from apps.economics.crossover.answer import CrossoverQuestion
from apps.economics.crossover.reading import question_of
from apps.economics.refusal import Refusal
from apps.ledger.queries import Window, calendar_of, window_of
from apps.ledger.queries.calendar import local_day
from apps.planning.queries.crossover_answers import measured_fields
from apps.planning.queries.scenario_text import scenario_tables
from apps.planning.queries.service_hours import ServiceMeasurement, service_measured
from apps.workloads.queries import WorkloadFact

MEASURED_WINDOW = "28d"
"""So long is looked back where a scenario is filled in from a service."""
MOST_OFF = 10
OFF = {"below", "above"}
"""How far a measured number may be off either way, as parts of it."""
ANY_SERVICE: Mapping[str, Any] = {
    "demand": {"million_tokens": 1.0, "input_share": 0.5},
    "self_host": {
        "pools": [
            {
                "name": "measured",
                "gpus": 1.0,
                "gpu_hour": 1.0,
                "input_tokens_per_second": 1.0,
                "output_tokens_per_second": 1.0,
            }
        ]
    },
}
"""Stands for what will be measured while a scenario is only read."""


@dataclass(frozen=True, slots=True)
class ScenarioInputs:
    """The whole document that is answered; `measured` says what of it is, None without a service."""

    document: dict[str, Any]
    measured: dict[str, Any] | None = None


def read_scenario(text: str, at: datetime, *, is_measured: bool) -> CrossoverQuestion:
    """The question as it reads before anything is measured. Refuses a Refusal by key and value."""
    if not is_measured:
        return question_of(merged_documents(_today(at), scenario_tables(text)))
    return question_of(
        merged_documents(_today(at) | dict(ANY_SERVICE), _tables_over_measured(text))
    )


def scenario_inputs(text: str, service: WorkloadFact | None, at: datetime) -> ScenarioInputs:
    """Everything a run needs, measured up to now. Refuses a Refusal.

    Where the text does not name a day, prices are those of today.
    """
    if service is None:
        return ScenarioInputs(merged_documents(_today(at), scenario_tables(text)))
    window = chosen_window(MEASURED_WINDOW, at)
    measured = service_measured(service.id, service.name, window)
    below = service_document(measured, at)
    return ScenarioInputs(
        merged_documents(below, _tables_over_measured(text)), measured_fields(measured)
    )


def chosen_window(text: str, at: datetime) -> Window:
    """The days that are meant, in the organisation's calendar. Refuses a Refusal."""
    chosen = organisation()
    return window_of(text, calendar_of(chosen.zone, chosen.week_starts_on, at))


def service_document(measured: ServiceMeasurement, at: datetime) -> dict[str, Any]:
    """A scenario of what was measured, on today's prices, in the ledger's currency."""
    return {"name": measured.name} | _today(at) | measured.service.document


def merged_documents(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of both; where both say something, `above` holds. Lists of tables go by place.

    A number below stays the likely value of `{ below, above }`, which say how far it may be off.
    """
    merged = dict(below)
    for key, value in above.items():
        merged[key] = _merged_values(merged.get(key), value)
    return merged


def _tables_over_measured(text: str) -> dict[str, Any]:
    """Those of a scenario of a service, whose amounts are the ledger's. Refuses a Refusal of another currency."""
    tables = scenario_tables(text)
    ours = organisation().currency
    if tables.get("currency", ours) != ours:
        message = f"{tables['currency']!r} is not {ours}, in which the service is measured"
        raise Refusal("currency", f"{message}: give the API’s prices in {ours}")
    return tables


def _merged_values(below: Any, above: Any) -> Any:
    if isinstance(below, int | float) and isinstance(above, Mapping) and OFF & above.keys():
        return _range_around(below, above)
    if isinstance(below, Mapping) and isinstance(above, Mapping):
        return merged_documents(below, above)
    has_tables = isinstance(above, list) and all(isinstance(row, Mapping) for row in above)
    if not isinstance(below, list) or not has_tables:
        return above
    both = [_merged_values(base, row) for base, row in zip(below, above, strict=False)]
    return [*both, *below[len(both) :], *above[len(both) :]]


def _range_around(likely: float, off: Mapping[str, Any]) -> dict[str, Any]:
    parts = {name: off.get(name, 0) for name in sorted(OFF)}
    for name, part in parts.items():
        is_number = isinstance(part, int | float) and not isinstance(part, bool)
        if not is_number or not 0 <= part <= MOST_OFF:
            raise Refusal(name, f"{part!r} is not a part of the number from 0 to {MOST_OFF}")
    other_fields = {name: value for name, value in off.items() if name not in OFF}
    low, high = likely * (1 - min(1, parts["below"])), likely * (1 + parts["above"])
    return {"low": low, "likely": likely, "high": high} | other_fields


def _today(at: datetime) -> dict[str, Any]:
    chosen = organisation()
    return {"on": local_day(at, chosen.zone), "currency": chosen.currency}
