"""Targets of activity are set and removed; what they were stays in the audit trail."""

from datetime import datetime

from django.db import transaction

from apps.accounts import queries as accounts
from apps.economics.refusal import Refusal
from apps.fleet import queries as fleet
from apps.logs.changes import logged_change
from apps.planning.models import ActivityTarget, TargetMeasure
from apps.planning.queries.targets import CLUSTER, POOL, TEAM, EnteredActivityTarget


class TargetNotUnderstood(Refusal):
    """A refusal that says what is wrong with a field of a target."""


@logged_change()
@transaction.atomic
def set_activity_target(*, target: EnteredActivityTarget, at: datetime) -> int:
    """Set it, in the place of the one there is of the same measure; answers its id. Refuses as check_activity_target does."""
    check_activity_target(target)
    row, _ = ActivityTarget.objects.update_or_create(
        scope=target.scope,
        key=target.key,
        measure=target.measure,
        defaults={"target": target.target},
        create_defaults={"target": target.target, "created_at": at},
    )
    return row.pk


@logged_change()
@transaction.atomic
def remove_activity_target(*, target_id: int) -> None:
    """Hold nothing against it any more. Refuses ActivityTarget.DoesNotExist."""
    ActivityTarget.objects.select_for_update().get(pk=target_id).delete()


def check_activity_target(target: EnteredActivityTarget) -> None:
    """Refuse TargetNotUnderstood."""
    there = {
        CLUSTER: lambda: set(fleet.clusters()),
        POOL: lambda: set(fleet.pools()),
        TEAM: lambda: {team.id for team in accounts.teams()},
    }
    if target.scope not in there or target.key not in there[target.scope]():
        raise TargetNotUnderstood("of", f"there is no {target.scope} {target.key}")
    if target.measure not in TargetMeasure.values:
        raise TargetNotUnderstood("measure", f"it is one of {', '.join(TargetMeasure.values)}")
    share = target.target
    if not share.is_finite() or not 0 < share <= 1 or share != round(share, 6):
        raise TargetNotUnderstood("target", "a target is above 0 and at most 100 per cent")
