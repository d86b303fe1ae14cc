"""Names that jobs hold something on and that are not ours: said with a reason, and taken back."""

from collections.abc import Sequence
from datetime import datetime

from apps.accounts.actions.removal import delete_locked
from apps.economics.refusal import Refusal
from apps.logs.changes import answered, items_of, logged_change
from apps.workloads.models import ExcludedNodeName


class ExclusionUnexplained(Refusal):
    """Whoever leaves a node out of all sums says why."""


@logged_change(count=items_of("names"))
def exclude_nodes(
    *, names: Sequence[tuple[int, str]], reason: str, by: int | None, at: datetime
) -> None:
    """Ask about these names, each with its cluster's id, no more; what was said before stays.

    `by` is the person. Refuses ExclusionUnexplained.
    """
    if not reason.strip():
        raise ExclusionUnexplained("reason", "say why they are not yours")
    ExcludedNodeName.objects.bulk_create(
        [
            ExcludedNodeName(
                cluster_id=cluster_id, name=name, reason=reason, decided_by_id=by, decided_at=at
            )
            for cluster_id, name in names
        ],
        ignore_conflicts=True,
    )


@logged_change(count=answered)
def take_back_exclusion(*, exclusion_id: int) -> int:
    """Ask about the name again; how many were taken back: none where somebody else did."""
    return delete_locked(ExcludedNodeName.objects.filter(id=exclusion_id))
