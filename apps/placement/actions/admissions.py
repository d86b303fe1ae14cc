"""Admissions are kept as they were answered; what was denied is let pass by a word with a name and a reason."""

from dataclasses import asdict
from datetime import datetime

from django.db import transaction

from apps.accounts.queries import Viewer
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change, logged_pass
from apps.placement.models import JobAdmission
from apps.placement.queries.admission_limits import DENY, AdmissionJob, answer_admission
from apps.placement.queries.admissions import OVERRIDE_HOLDS, admission
from apps.placement.queries.slurm_cache import ADMISSION_LABEL, LABELLED_WITHIN
from apps.workloads import queries as workloads

LONGEST_OVERRIDE_REASON = 2_000


class NothingToOverride(Refusal):
    """The admission was not denied, or is overridden already."""


class OverrideReasonMissing(Refusal):
    """An override says why."""


@logged_change()
@transaction.atomic
def request_admission(*, job: AdmissionJob, by: Viewer, at: datetime) -> int:
    """Hold a job against budgets and quotas and keep the answer; its id. Refuses as `answer_admission` does."""
    answer = answer_admission(job, at)
    return JobAdmission.objects.create(
        asked_at=at,
        asked_by_id=by.person_id,
        asked_name=by.name,
        team_id=job.team_id,
        job=asdict(job),
        digest=answer.digest,
        verdict=answer.verdict,
        answer=answer.answer,
    ).pk


@logged_change()
@transaction.atomic
def override_admission(*, admission_id: int, reason: str, by: Viewer, at: datetime) -> None:
    """Let a denied job pass. Refuses NothingToOverride, OverrideReasonMissing, JobAdmission.DoesNotExist."""
    row = JobAdmission.objects.select_for_update().get(pk=admission_id)
    if not reason.strip():
        raise OverrideReasonMissing("reason", "say why it may start all the same")
    if row.verdict != DENY:
        raise NothingToOverride("", "it was not denied")
    if row.overridden_at is not None:
        raise NothingToOverride("", f"{row.overridden_name} overrode it already")
    row.overridden_at, row.override_reason = at, reason.strip()
    row.overridden_by_id, row.overridden_name = by.person_id, by.name
    row.save()


@logged_change()
@transaction.atomic
def use_override(*, admission_id: int, by: str, at: datetime) -> bool:
    """Have one job pass by an override; whether it may. `by` says which it is, as the table's `used_by`.

    The same passes again within RETRIED_WITHIN, another never. Refuses JobAdmission.DoesNotExist.
    """
    row = JobAdmission.objects.select_for_update().get(pk=admission_id)
    if not admission(admission_id).lets_pass(by, at):
        return False
    if row.used_at is None:
        row.used_at, row.used_by = at, by
        row.save()
    return True


@logged_pass("use_overrides_of_jobs")
def use_overrides_of_jobs(*, at: datetime) -> int:
    """Have overrides used by the first job that was submitted with each and began; how many.

    It began where its scheduler let it pass: that is kept however long ago the override was.
    """
    unused = JobAdmission.objects.filter(
        overridden_at__gt=at - OVERRIDE_HOLDS - LABELLED_WITHIN, overridden_at__lte=at, used_at=None
    )
    ids = [str(key) for key in unused.order_by("id").values_list("id", flat=True)]
    labelled = workloads.jobs_labelled(ADMISSION_LABEL, ids, since=at - LABELLED_WITHIN)
    return sum(
        JobAdmission.objects.filter(pk=int(admission_id), used_at=None).update(
            used_at=jobs[0].started_at, used_by=f"job:{jobs[0].id}"
        )
        for admission_id, jobs in sorted(labelled.items())
    )
