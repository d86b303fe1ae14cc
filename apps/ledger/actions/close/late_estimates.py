"""The cost of hours of a closed month by what came since: bills' long rows are spread by it."""

from datetime import datetime

from apps.ledger.models import LateEstimate
from apps.ledger.queries.bills.hours import NodeEstimate
from apps.marks.actions import Mark
from apps.marks.queries import BillUnit, Pass


def keep_late_estimates(hour: datetime, estimates: set[NodeEstimate]) -> list[Mark]:
    """Keep what the nodes of an hour would cost; the mark for its bills, where that is new."""
    stored_estimates = LateEstimate.objects.filter(hour=hour)
    before = {
        NodeEstimate(*row) for row in stored_estimates.values_list("node_id", "pool_id", "weight")
    }
    wanted = {*estimates, NodeEstimate(None, None, 0)}
    if before == wanted:
        return []
    stored_estimates.delete()
    LateEstimate.objects.bulk_create(
        LateEstimate(hour=hour, **estimate._asdict()) for estimate in sorted(wanted, key=repr)
    )
    return [Mark(Pass.BILLS, BillUnit.WEIGHTS, hour)]


def forget_late_estimates(starts_at: datetime, ends_at: datetime) -> list[Mark]:
    """Forget those of a month that is opened; the marks for its bills."""
    stored_estimates = LateEstimate.objects.filter(hour__gte=starts_at, hour__lt=ends_at)
    hours = set(stored_estimates.values_list("hour", flat=True))
    stored_estimates.delete()
    return [Mark(Pass.BILLS, BillUnit.WEIGHTS, hour) for hour in hours]
