"""What one run cost, by where its time went, by day and by job."""

from collections.abc import Sequence

from apps.accounts.queries import Viewer
from apps.ledger.queries.runs.values import RunAnatomy


def run_costs(run_id: int, viewer: Viewer) -> RunAnatomy | None:
    """One run that the viewer may see; None where there is none."""
    return None


def runs_compared(run_ids: Sequence[int], viewer: Viewer) -> tuple[RunAnatomy, ...]:
    """Those of these runs that the viewer may see, in the order asked."""
    found = (run_costs(run_id, viewer) for run_id in dict.fromkeys(run_ids))
    return tuple(each for each in found if each is not None)
