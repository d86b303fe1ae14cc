"""Promises of services, and changes of workloads: the facts beside what was counted."""

from datetime import datetime

from django.db import transaction

from apps.accounts.queries.arriving import arriving_personal_fields, pseudonymise
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.workloads.models import Run, ServiceObjective, Workload, WorkloadChange
from apps.workloads.queries.promises import EnteredObjective
from apps.workloads.queries.requests import EnteredChange

AVAILABILITY = "availability"
MOST_BUDGET_DAYS = 366


class ObjectiveNotUnderstood(Refusal):
    """A share that is not between 0 and 1, no time at all, or an end before its start."""


class ObjectiveExists(Refusal):
    """A refusal: the same promise is in force then already; it is ended before another takes its place."""


class ObjectiveAlreadyEnded(Refusal):
    """A promise that ended is not ended later: another is made."""


class ShippedByAnotherTeam(Refusal):
    """A model that is shipped was made by a run of one's own."""


@logged_change()
@transaction.atomic
def add_objective(*, objective: EnteredObjective) -> int:
    """A promise of a service, in force from `starts_at` on; its id.

    Refuses ObjectiveNotUnderstood and ObjectiveExists.
    """
    refuse_nonsense(objective)
    # Two that promise the same at once wait for each other here.
    Workload.objects.select_for_update(no_key=True).get(id=objective.workload_id)
    same = ServiceObjective.objects.filter(
        workload_id=objective.workload_id,
        feature=objective.feature,
        measure=objective.measure,
        within_seconds=objective.within_seconds,
        period__overlap=(objective.starts_at, None),
    )
    if same.exists():
        raise ObjectiveExists("", "the same is promised then already; end that promise first")
    period = (objective.starts_at, None)
    return ServiceObjective.objects.create(**objective.columns, period=period).id


@logged_change()
@transaction.atomic
def end_objective(*, objective_id: int, ended_at: datetime) -> None:
    """The promise counts no more from then on.

    Refuses ObjectiveAlreadyEnded and ObjectiveNotUnderstood.
    """
    objective = ServiceObjective.objects.select_for_update().get(id=objective_id)
    since, until = objective.period.lower, objective.period.upper
    if until is not None:
        raise ObjectiveAlreadyEnded(
            "ended_at", f"promise {objective_id} ended at {until:%Y-%m-%d %H:%M}Z"
        )
    if since is not None and ended_at <= since:
        raise ObjectiveNotUnderstood(
            "ended_at", f"promise {objective_id} begins at {since:%Y-%m-%d %H:%M}Z"
        )
    objective.period = (since, ended_at)
    objective.save(update_fields=["period"])


@logged_change()
@transaction.atomic
def record_change(*, change: EnteredChange) -> tuple[int, bool]:
    """Something that changed about a workload: its id, and whether it is new.

    The same one again changes nothing but a run that was not known. Refuses ShippedByAnotherTeam.
    """
    (change,) = pseudonymise([change], arriving_personal_fields("workloads.workloadchange"))
    workload = Workload.objects.get(id=change.workload_id)
    if change.run_id is not None:
        made_for = Run.objects.select_related("workload").get(id=change.run_id).workload
        if made_for is not None and made_for.team_id != workload.team_id:
            raise ShippedByAnotherTeam("run", "the run is of another team")
    stored_change, is_new = WorkloadChange.objects.get_or_create(
        workload_id=change.workload_id,
        feature=change.feature,
        kind=change.kind,
        name=change.name,
        at=change.at,
        defaults={"run_id": change.run_id},
    )
    if not is_new and stored_change.run_id is None and change.run_id is not None:
        stored_change.run_id = change.run_id
        stored_change.save(update_fields=["run"])
    return stored_change.id, is_new


def refuse_nonsense(objective: EnteredObjective) -> None:
    """Refuse what no promise can be."""
    if not 0 < objective.target_ratio < 1:
        raise ObjectiveNotUnderstood(
            "target_ratio", f"{objective.target_ratio} is not between 0 and 1"
        )
    if not 1 <= objective.budget_days <= MOST_BUDGET_DAYS:
        raise ObjectiveNotUnderstood(
            "budget_days", f"an error budget is of 1 to {MOST_BUDGET_DAYS} days"
        )
    if objective.measure == AVAILABILITY:
        if objective.within_seconds is not None:
            raise ObjectiveNotUnderstood("within_seconds", "availability asks for no time")
    elif objective.within_seconds is None or objective.within_seconds <= 0:
        raise ObjectiveNotUnderstood(
            "within_seconds", f"{objective.within_seconds} s is no time to answer in"
        )
