"""Admissions as they were answered, and overridden."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.accounts.queries.paging import PageAsked, Slice, page_of
from apps.placement.models import JobAdmission
from apps.placement.queries.admission_limits import DENY

COLUMNS = (
    "id", "asked_at", "asked_name", "team_id", "team__name", "job", "digest", "verdict", "answer",
    "overridden_at", "overridden_name", "override_reason",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AdmissionFact:
    """An admission; see its table for what each field is."""

    id: int
    asked_at: datetime
    asked_name: str
    team_id: int
    team: str
    job: dict[str, Any]
    digest: str
    verdict: str
    answer: dict[str, Any]
    overridden_at: datetime | None
    overridden_name: str
    override_reason: str

    @property
    def is_admitted(self) -> bool:
        """Whether it may start: not denied, or let pass all the same."""
        return self.verdict != DENY or self.overridden_at is not None


def admission(admission_id: int) -> AdmissionFact:
    """One; refuses JobAdmission.DoesNotExist."""
    return AdmissionFact(*JobAdmission.objects.values_list(*COLUMNS).get(pk=admission_id))


def admission_page(asked: PageAsked) -> Slice[AdmissionFact]:
    """A page of admissions, the newest first."""
    page = page_of(JobAdmission.objects.values(*COLUMNS), asked, "-asked_at", "-id")
    rows = [AdmissionFact(*(row[name] for name in COLUMNS)) for row in page.rows]
    return Slice(rows, page.after, page.before)
