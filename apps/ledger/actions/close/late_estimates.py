"""What hours of a closed month would cost by what came since: bills' long rows are spread by it."""

from datetime import datetime

from apps.ledger.models import LateEstimate
from apps.ledger.queries.bills.hours import NodeEstimate
from apps.marks.actions import Mark
from apps.marks.queries import BillUnit, Pass


def keep_late_estimates(hour: datetime, found: set[NodeEstimate]) -> list[Mark]:
    """Keep what the nodes of an hour would cost; the mark for its bills, where that is new."""
    held = LateEstimate.objects.filter(hour=hour)
    before = {NodeEstimate(*row) for row in held.values_list("node_id", "pool_id", "weight")}
    wanted = {*found, NodeEstimate(None, None, 0)}
    if before == wanted:
        return []
    held.delete()
    LateEstimate.objects.bulk_create(
        LateEstimate(hour=hour, **each._asdict()) for each in sorted(wanted, key=repr)
    )
    return [Mark(Pass.BILLS, BillUnit.WEIGHTS, hour)]


def forget_late_estimates(starts_at: datetime, ends_at: datetime) -> list[Mark]:
    """Forget those of a month that is opened; the marks for its bills."""
    held = LateEstimate.objects.filter(hour__gte=starts_at, hour__lt=ends_at)
    hours = set(held.values_list("hour", flat=True))
    held.delete()
    return [Mark(Pass.BILLS, BillUnit.WEIGHTS, hour) for hour in hours]
