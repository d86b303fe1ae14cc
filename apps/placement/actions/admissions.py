"""Admissions are kept as they were answered; what was denied is let pass by a word with a name and a reason."""

from dataclasses import asdict
from datetime import datetime

from django.db import transaction

from apps.accounts.queries import Viewer
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.placement.models import JobAdmission
from apps.placement.queries.admission_limits import DENY, AdmissionJob, answer_admission

LONGEST_OVERRIDE_REASON = 2_000


class NothingToOverride(Refusal):
    """The admission was not denied, or is overridden already."""


class OverrideReasonMissing(Refusal):
    """An override says why."""


@logged_change()
@transaction.atomic
def ask_admission(*, job: AdmissionJob, by: Viewer, at: datetime) -> int:
    """Hold a job against budgets and quotas and keep the answer; its id. Refuses as `answer_admission` does."""
    found = answer_admission(job, at)
    return JobAdmission.objects.create(
        asked_at=at,
        asked_by_id=by.person_id,
        asked_name=by.name,
        team_id=job.team_id,
        job=asdict(job),
        digest=found.digest,
        verdict=found.verdict,
        answer=found.answer,
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
