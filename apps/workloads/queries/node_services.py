"""Services that hold a node in an hour: those whose requests its agent may count."""

from collections.abc import Collection
from datetime import datetime

from apps.economics.hours import HOUR
from apps.workloads.queries.holding import allocations_held
from apps.workloads.queries.ownership import owners_at


def services_on_node(node_id: int, hours: Collection[datetime]) -> set[tuple[int, datetime]]:
    """Return each workload with each of these hours in which a job of its holds the node.

    Whose a job is is asked of the rules in force at the start of the hour, as the ledger does.
    """
    allocations = allocations_held([node_id], min(hours), max(hours) + HOUR)
    if not allocations:
        return set()
    service_hours: set[tuple[int, datetime]] = set()
    for moments, owners in owners_at({held_fact.job_id for held_fact in allocations}, hours):
        for hour in moments:
            for allocation in allocations:
                workload_id = owners[allocation.job_id].workload_id
                if workload_id is not None and _is_held(
                    allocation.held_from, allocation.held_to, hour
                ):
                    service_hours.add((workload_id, hour))
    return service_hours


def _is_held(held_from: datetime, held_to: datetime, hour: datetime) -> bool:
    return held_from < hour + HOUR and hour < held_to
