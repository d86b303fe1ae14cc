"""Changes about the time at which a figure changed: releases, prices, commitments, machines."""

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

from apps.economics.hours import first_hour
from apps.fleet import queries as fleet
from apps.ledger.queries.calendar import local_day
from apps.pricing import queries as pricing
from apps.pricing.queries.commitments import commitments_in
from apps.unit_economics.queries.measured import pools_of_days
from apps.workloads.queries import workloads
from apps.workloads.queries.requests import changes_of

NEAR_DAYS = 7
USED_DAYS = 28
KINDS = {"deploy": "deployment", "model": "model", "prompt": "prompt", "config": "settings"}


@dataclass(frozen=True, slots=True)
class NearbyChange:
    """Something that changed; `days` after the figure did (below 0: before)."""

    kind: str
    what: str
    on: str
    days: int


def causes_of(workload_id: int, feature: str, day: date, zone: str) -> list[dict[str, Any]]:
    """All that is known to have changed within a week of the day, the nearest first."""
    changes = [
        *_reported_changes(workload_id, feature, day, zone),
        *_machine_causes(workload_id, day),
        *_price_causes([workload_id], (), day, zone),
    ]
    return _nearest_first(changes)


def causes_of_spend(
    workload_ids: Collection[int], pool_ids: Collection[int], day: date, zone: str
) -> list[dict[str, Any]]:
    """Return the causes near a day for workloads and pools: what is reported of each, and what changed their prices; each once."""
    named = workloads()
    changes = [
        replace(reported_change, what=f"{reported_change.what} ({named[workload_id].name})")
        for workload_id in workload_ids
        for reported_change in (
            *_reported_changes(workload_id, "", day, zone),
            *_machine_causes(workload_id, day),
        )
    ]
    changes += _price_causes(workload_ids, pool_ids, day, zone)
    return _nearest_first(dict.fromkeys(changes))


def _nearest_first(changes: Iterable[NearbyChange]) -> list[dict[str, Any]]:
    return [
        asdict(change)
        for change in sorted(
            changes, key=lambda nearby_change: (abs(nearby_change.days), nearby_change.what)
        )
    ]


def _reported_changes(workload_id: int, feature: str, day: date, zone: str) -> list[NearbyChange]:
    """Return the changes of a workload that people or pipelines reported; of a feature, and of the whole service."""
    first, last = day - timedelta(days=NEAR_DAYS), day + timedelta(days=NEAR_DAYS + 1)
    span = (first_hour(first, zone), first_hour(last, zone))
    return [
        _cause_near(KINDS[change.kind], change.name, local_day(change.at, zone), day)
        for change in changes_of(workload_id, span)
        if not feature or change.feature in ("", feature)
    ]


def _machine_causes(workload_id: int, day: date) -> list[NearbyChange]:
    """Pools in which the workload began, or ceased, to run about then."""
    used = timedelta(days=USED_DAYS)
    named, causes = fleet.pools(), []
    for pool_id, (begun, ended) in pools_of_days([workload_id], day - used, day + used).items():
        pool = named[pool_id]
        what = f"{pool.gpu_model or pool.name} in {pool.name}"
        if _is_near(begun, day) and begun > day - used:
            causes.append(_cause_near("machines", f"began to run on {what}", begun, day))
        left_on = ended + timedelta(days=1)
        if left_on <= day + timedelta(days=1) and _is_near(left_on, day):
            causes.append(_cause_near("machines", f"no longer runs on {what}", left_on, day))
    return causes


def _price_causes(
    workload_ids: Collection[int], pool_ids: Collection[int], day: date, zone: str
) -> list[NearbyChange]:
    """Rates of these pools and of those of the workloads, and commitments, that began or ended about then."""
    near = timedelta(days=NEAR_DAYS)
    first, last = first_hour(day - near, zone), first_hour(day + near + timedelta(days=1), zone)
    used = {*pool_ids}
    if workload_ids:
        used |= {*pools_of_days(workload_ids, day - timedelta(days=USED_DAYS), day + near)}
    named = fleet.pools()
    pools = {pool_id: named[pool_id] for pool_id in sorted(used)}
    causes = []
    for pool_id, spans in pricing.pool_rates(pools, first, last).items():
        for was, now in pairwise(spans):
            if was.paid_rate != now.paid_rate:
                what = f"the price of {named[pool_id].name} changed"
                causes.append(_cause_near("price", what, local_day(now.starts_at, zone), day))
    for commitment in commitments_in(first, last) if pools else []:
        if first < commitment.starts_at < last:
            on = local_day(commitment.starts_at, zone)
            causes.append(_cause_near("price", f"a commitment began: {commitment.name}", on, day))
        if first < commitment.ends_at < last:
            on = local_day(commitment.ends_at, zone)
            causes.append(_cause_near("price", f"a commitment ended: {commitment.name}", on, day))
    return causes


def _is_near(on: date, day: date) -> bool:
    return abs((on - day).days) <= NEAR_DAYS


def _cause_near(kind: str, what: str, on: date, day: date) -> NearbyChange:
    return NearbyChange(kind, what, on.isoformat(), (on - day).days)
