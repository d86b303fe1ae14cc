"""Figures of services and training by the day, and what they are made of, to tell when they changed."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import LiteralString

from apps.economics.money import sum_or_unknown
from apps.economics.run_time import Bucket
from apps.economics.serving import Purpose
from apps.economics.unit_change import DISCOUNTS, UnitSpend, Weighed
from apps.ledger.queries.costs import Basis
from apps.ledger.queries.kinds import ChargeKind, Status
from apps.ledger.queries.tables import rows
from apps.ledger.queries.windows import Window
from apps.unit_economics.models import ServicePart
from apps.unit_economics.queries.unit_costs import UnitCost, UnitFilter, unit_cost_groups

NOT_TRAINING = (Bucket.UNTOLD, Bucket.CAPACITY_WAIT, Bucket.IDLE_AFTER_END)


@dataclass(frozen=True, slots=True)
class ServedDay:
    """A day of a service, or of a feature of it: what it cost and answered; all of it is known.

    Provisional days, and those of which a part has no price, are not here.
    """

    workload_id: int
    feature: str
    day: date
    micros: int
    requests: int
    tokens: int | None


@dataclass(frozen=True, slots=True)
class TrainedDay:
    """A day of a workload's runs: what of their time is `amount` (waited, or worked at peak)."""

    workload_id: int
    day: date
    gpu_model: str
    cell: Weighed
    micros: int | None


def served_days(window: Window, workload_id: int | None = None) -> list[ServedDay]:
    """Each service as a whole (feature ""), and each feature of those that have several.

    With `workload_id` of that service alone.
    """
    only = None if workload_id is None else frozenset({workload_id})
    chosen = UnitFilter(window, Basis.EFFECTIVE, workload_ids=only)
    by_service = [
        _served_day(cost, cost.keys[0], "", cost.keys[1])
        for cost in unit_cost_groups(chosen, ["service", "day"])
    ]
    by_feature = [
        _served_day(cost, cost.keys[0], cost.keys[1], cost.keys[2])
        for cost in unit_cost_groups(chosen, ["service", "feature", "day"])
        if cost.purpose is Purpose.ANSWERED
    ]
    names: dict[int, set[str]] = {}
    for served_day in filter(None, by_feature):
        names.setdefault(served_day.workload_id, set()).add(served_day.feature)
    several = [
        service_day
        for service_day in by_feature
        if service_day and len(names[service_day.workload_id]) > 1
    ]
    return [
        service_day
        for service_day in (*by_service, *several)
        if service_day is not None and service_day.micros > 0
    ]


def spend_of_days(
    workload_id: int, feature: str, days: Collection[date]
) -> dict[date, dict[str, UnitSpend]]:
    """Return the cost of a service, or of a feature of it, on these days by GPU model.

    "" is without GPU time; what of that is given back, or owed for a commitment that nobody used,
    is `DISCOUNTS`.
    """
    spend_rows = rows(
        SPEND,
        {
            "workload": workload_id,
            "feature": feature,
            "days": sorted(days),
            "answered": int(ServicePart.ANSWERED),
            "uncounted": int(ServicePart.UNCOUNTED),
            "discounts": DISCOUNTS,
            "given_back": [str(ChargeKind.CREDIT), str(ChargeKind.COMMITMENT_UNUSED)],
        },
    )
    spent: dict[date, dict[str, UnitSpend]] = {}
    for day, model, *of_model in spend_rows:
        spent.setdefault(day, {})[model] = UnitSpend(*of_model)
    return spent


def pools_of_days(workload_ids: Collection[int], first: date, last: date) -> dict[int, list[date]]:
    """The first and last day in a span on which these workloads cost anything in a pool."""
    params = {"workloads": sorted(workload_ids), "first": first, "last": last}
    return {pool_id: [begun, ended] for pool_id, begun, ended in rows(POOLS, params)}


def waited_days(window: Window, workload_id: int | None = None) -> list[TrainedDay]:
    """Waiting for data of all told time of training, by workload, day and GPU model."""
    params: Mapping[str, object] = {
        "first": window.first_day,
        "end": window.end_day,
        "only": workload_id,
        "wait": int(Bucket.DATA_WAIT),
        "not_told": [int(bucket) for bucket in NOT_TRAINING],
        "provisional": str(Status.PROVISIONAL),
    }
    return _trained_days(WAITED, params)


def used_days(window: Window, workload_id: int | None = None) -> list[TrainedDay]:
    """MFU of the runs that began on a day, weighed by their GPU time; doubted ones are left out."""
    params: Mapping[str, object] = {
        "first": window.first_day,
        "end": window.end_day,
        "only": workload_id,
        "from": window.starts_at,
        "to": window.ends_at,
        "zone": window.zone,
    }
    return _trained_days(USED, params)


def _served_day(cost: UnitCost, workload_id: int, feature: str, day: date) -> ServedDay | None:
    requests = cost.answered_requests
    if cost.micros is None or not requests or cost.unpriced_milliseconds:
        return None
    if Status.PROVISIONAL in cost.statuses:
        return None
    tokens = sum_or_unknown((cost.told.prompt_tokens, cost.told.output_tokens))
    return ServedDay(workload_id, feature, day, cost.micros, requests, tokens)


def _trained_days(query: LiteralString, params: Mapping[str, object]) -> list[TrainedDay]:
    return [
        TrainedDay(workload_id, day, model, Weighed(float(amount), float(weight)), micros)
        for workload_id, day, model, amount, weight, micros in rows(query, params)
    ]


SPEND: LiteralString = """
SELECT told.day,
       CASE WHEN told.kind = ANY(%(given_back)s) THEN %(discounts)s
            WHEN told.unit_milliseconds = 0 THEN '' ELSE coalesce(pool.gpu_model, '') END,
       sum(told.effective_micros)::int8, sum(told.unit_milliseconds)::int8,
       CASE WHEN count(told.contracted_micros) = count(*)
            THEN sum(told.contracted_micros)::int8 END
FROM ledger_serviceday AS told LEFT JOIN fleet_pool_fact AS pool ON pool.id = told.pool_id
WHERE told.workload_id = %(workload)s AND told.day = ANY(%(days)s)
  AND told.effective_micros IS NOT NULL AND told.part <> %(uncounted)s
  AND (%(feature)s = '' OR told.part = %(answered)s AND told.feature = %(feature)s)
GROUP BY 1, 2 ORDER BY 1, 2
"""
POOLS: LiteralString = """
SELECT pool_id, min(day), max(day) FROM ledger_ledgerday_fact
WHERE workload_id = ANY(%(workloads)s) AND day BETWEEN %(first)s AND %(last)s
  AND pool_id IS NOT NULL
GROUP BY pool_id ORDER BY pool_id
"""
WAITED: LiteralString = """
SELECT told.workload_id, told.day, coalesce(pool.gpu_model, ''),
       coalesce(sum(told.unit_milliseconds) FILTER (WHERE told.bucket = %(wait)s), 0)::int8,
       sum(told.unit_milliseconds)::int8, sum(told.effective_micros)::int8
FROM ledger_runday AS told LEFT JOIN fleet_pool_fact AS pool ON pool.id = told.pool_id
WHERE told.day >= %(first)s AND told.day < %(end)s AND told.workload_id IS NOT NULL
  AND (%(only)s::int8 IS NULL OR told.workload_id = %(only)s)
  AND told.bucket <> ALL(%(not_told)s)
GROUP BY 1, 2, 3
HAVING sum(told.unit_milliseconds) > 0 AND NOT bool_or(told.status = %(provisional)s)
ORDER BY 1, 2, 3
"""
USED: LiteralString = """
SELECT workload_id, (began_at AT TIME ZONE %(zone)s)::date, gpu_model,
       sum(mfu_ratio * unit_milliseconds), sum(unit_milliseconds)::int8,
       sum(effective_micros)::int8
FROM ledger_runfigures
WHERE began_at >= %(from)s AND began_at < %(to)s AND workload_id IS NOT NULL
  AND (%(only)s::int8 IS NULL OR workload_id = %(only)s)
  AND mfu_ratio > 0 AND mfu_doubt = '' AND unit_milliseconds > 0
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
