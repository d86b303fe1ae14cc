"""A service's hours as the ledger and its counters have them, for scenarios made of measurements."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from apps.economics.crossover.fleets import fleet_changed_at
from apps.economics.crossover.measured import MeasuredService, measured_service
from apps.economics.crossover.served import ServedHour
from apps.economics.hours import HOUR_MS
from apps.economics.refusal import Refusal
from apps.economics.serving import SERVICE_KINDS
from apps.economics.states import State
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.tables import rows
from apps.ledger.queries.windows import Window
from apps.unit_economics.queries.unit_costs import UnitCost, UnitFilter, unit_cost_groups
from apps.workloads import queries as workloads
from apps.workloads.queries import WorkloadFact
from apps.workloads.queries.requests import Counts, request_hours

MICROS = 1_000_000
GPU_HOURS = """
SELECT hour, sum(unit_milliseconds)::int8,
       coalesce(sum(unit_milliseconds) FILTER (WHERE state = %(active)s), 0)::int8
FROM ledger_line_fact
WHERE workload_id = %(workload)s AND hour >= %(from)s AND hour < %(to)s AND state IS NOT NULL
GROUP BY hour
"""


@dataclass(frozen=True, slots=True)
class ServiceMeasurement:
    """A service as it was measured over a window: what was asked for, from when its fleet is as it is.

    `changed_at` is the hour in which it became so; None: it was so from the first.
    """

    name: str
    window: Window
    changed_at: datetime | None
    service: MeasuredService


def service_measured(workload_id: int, name: str, window: Window) -> ServiceMeasurement:
    """A service's demand and fleet in a window. Refuses a Refusal.

    Hours in which nobody counted tokens, or in which it held no GPU, are left out on both sides, and
    so are the days up to the last change of its fleet: what if asks of the fleet that there is.
    """
    hours = served_hours(workload_id, (window.starts_at, window.ends_at))
    window, changed_at = _since_last_change(hours, window)
    span = window.starts_at, window.ends_at
    cost = _ledger_cost(workload_id, window)
    per_million = cost.units.million_tokens if cost is not None else None
    if cost is None or cost.micros is None or per_million is None:
        raise Refusal("service", f"{name} has no unit cost from {span[0]} to {span[1]}")
    service = measured_service(
        name,
        [hour for hour in hours if hour.hour >= span[0]],
        cost=cost.micros / MICROS,
        ledger_per_million=float(per_million) / MICROS,
        prefill_ratio=1 - (cost.decode_ratio or 0.0),
    )
    return ServiceMeasurement(name, window, changed_at, service)


def served_hours(workload_id: int, span: tuple[datetime, datetime]) -> list[ServedHour]:
    """The hours in which tokens were counted and GPUs held, in order."""
    counted = _counted_hours(workload_id, span)
    gpu_rows = rows(
        GPU_HOURS,
        {"workload": workload_id, "active": int(State.ACTIVE), "from": span[0], "to": span[1]},
    )
    return [
        ServedHour(hour, *counted[hour], gpu_ms / HOUR_MS, active_ms / HOUR_MS)
        for hour, gpu_ms, active_ms in sorted(gpu_rows)
        if hour in counted
    ]


def visible_services(team_ids: frozenset[int] | None) -> list[WorkloadFact]:
    """The services of these teams (None: of all), by name."""
    facts = [
        fact
        for fact in workloads.workloads().values()
        if fact.kind in SERVICE_KINDS and (team_ids is None or fact.team_id in team_ids)
    ]
    return sorted(facts, key=lambda fact: (fact.name, fact.id))


def service_named(name: str, team_ids: frozenset[int] | None = None) -> WorkloadFact:
    """The one service of this name among those of these teams. Refuses a Refusal."""
    services = [fact for fact in visible_services(team_ids) if fact.name == name]
    if len(services) != 1:
        many = "several services" if services else "no service"
        raise Refusal("service", f"{name!r} is the name of {many}")
    return services[0]


def _since_last_change(hours: list[ServedHour], window: Window) -> tuple[Window, datetime | None]:
    """The days of a window on which the fleet was as at its end: the ledger's costs are by day."""
    changed_at = fleet_changed_at(hours)
    if changed_at is None:
        return window, None
    first_day = local_day(changed_at - timedelta(hours=1), window.zone) + timedelta(days=1)
    if first_day >= local_day(hours[-1].hour, window.zone):
        return window, None
    return replace(window, first_day=first_day), changed_at


def _ledger_cost(workload_id: int, window: Window) -> UnitCost | None:
    """Effective cost with all that is shared out to it, idle time included."""
    costs = unit_cost_groups(UnitFilter(window, workload_ids=frozenset({workload_id})))
    return costs[0] if costs else None


def _counted_hours(
    workload_id: int, span: tuple[datetime, datetime]
) -> dict[datetime, tuple[int, int, int]]:
    """Prompt, cached and output tokens by hour, of the source that counted more: both see the same."""
    by_source: dict[tuple[datetime, str], list[Counts]] = {}
    for count in request_hours([workload_id], span):
        by_source.setdefault((count.hour, count.source), []).append(count.counts)
    counted: dict[datetime, tuple[int, int, int]] = {}
    for (hour, _), counts in by_source.items():
        tokens = _tokens_of(counts)
        if tokens is not None:
            counted[hour] = max(counted.get(hour, tokens), tokens, key=sum)
    return counted


def _tokens_of(counts: Iterable[Counts]) -> tuple[int, int, int] | None:
    """Tokens of all features; None where one of them does not report its own."""
    prompt = cached = output = 0
    for count in counts:
        if count.prompt_tokens is None or count.output_tokens is None:
            return None
        prompt += count.prompt_tokens
        cached += count.cached_tokens or 0
        output += count.output_tokens
    return prompt, cached, output
