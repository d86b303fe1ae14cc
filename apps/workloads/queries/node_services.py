"""Which services hold a node in an hour: those whose requests its agent may count."""

from collections.abc import Collection
from datetime import datetime

from apps.economics.hours import HOUR
from apps.workloads.queries.holding import allocations_held
from apps.workloads.queries.ownership import owners_at


def services_on_node(node_id: int, hours: Collection[datetime]) -> set[tuple[int, datetime]]:
    """Return each workload with each of these hours in which a job of its holds the node.

    Whose a job is is asked of the rules in force at the start of the hour, as the ledger does.
    """
    held = allocations_held([node_id], min(hours), max(hours) + HOUR)
    if not held:
        return set()
    found: set[tuple[int, datetime]] = set()
    for moments, owners in owners_at({each.job_id for each in held}, hours):
        for hour in moments:
            for each in held:
                workload_id = owners[each.job_id].workload_id
                if workload_id is not None and _is_held(each.held_from, each.held_to, hour):
                    found.add((workload_id, hour))
    return found


def _is_held(held_from: datetime, held_to: datetime, hour: datetime) -> bool:
    return held_from < hour + HOUR and hour < held_to
