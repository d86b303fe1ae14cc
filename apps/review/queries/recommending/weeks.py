"""The weeks that detectors look at, read once for all of them."""

from datetime import datetime

from apps.accounts.queries.reading import once
from apps.placement.queries.moves.work import FleetWork, fleet_work, move_week

_work_of_week = once(fleet_work)


def work_seen(at: datetime) -> FleetWork:
    """All work of the whole weeks before the one that a moment is in, at the margin."""
    return _work_of_week(move_week(at))
