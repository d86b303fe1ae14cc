"""Admissions as they were answered, and overridden."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet

from apps.accounts.queries.paging import PageAsked, Slice, page_of
from apps.fleet import queries as fleet
from apps.placement.models import JobAdmission
from apps.placement.queries.admission_limits import DENY, VERDICTS, WARN
from apps.workloads import queries as workloads

LARGEST_KEY = 2**63 - 1
OVERRIDE_HOLDS = timedelta(days=7)
"""So long after it a job may use an override."""
RETRIED_WITHIN = timedelta(minutes=5)
"""The task that used an override passes by it again for so long, as its launch may fail and be tried again."""
COLUMNS = (
    "id", "asked_at", "asked_name", "team_id", "team__name", "job", "digest", "verdict", "answer",
    "overridden_at", "overridden_name", "override_reason", "used_at", "used_by",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AdmissionFact:
    """An admission; see its table for what each field is. Pool and workload by name, empty: not said."""

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
    used_at: datetime | None
    used_by: str
    pool: str
    workload: str

    @property
    def is_admitted(self) -> bool:
        """Whether it may start: not denied, or let pass all the same."""
        return self.verdict != DENY or self.overridden_at is not None

    def lets_pass(self, by: str, at: datetime) -> bool:
        """Whether its override may be used by this one: nobody did yet, or the same just now."""
        if self.overridden_at is None or at > self.overridden_at + OVERRIDE_HOLDS:
            return False
        return self.used_at is None or (self.used_by == by and at <= self.used_at + RETRIED_WITHIN)

    @property
    def limits(self) -> list[dict[str, Any]]:
        """What it was held against, each a LimitCheck with its verdict; those that decided come first."""
        rising = sorted(self.answer["limits"], key=lambda each: VERDICTS.index(each["verdict"]))
        return rising[::-1]


@dataclass(frozen=True, slots=True)
class AdmissionsWanted:
    """Those asked in `[starts_at, ends_at)`, by these teams, held against this limit (its kind and id); None: any."""

    starts_at: datetime
    ends_at: datetime
    team_ids: frozenset[int] | None = None
    limit: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class AdmissionCounts:
    """How many were asked, and of these warned of, denied, and let pass after a denial."""

    asked: int
    warned: int
    denied: int
    overridden: int


def admission(admission_id: int) -> AdmissionFact:
    """One; refuses JobAdmission.DoesNotExist."""
    (fact,) = _facts([JobAdmission.objects.values(*COLUMNS).get(pk=admission_id)])
    return fact


def admission_if_kept(admission_id: int) -> AdmissionFact | None:
    """One; None where there is none of this id."""
    if admission_id > LARGEST_KEY:
        return None
    return next(iter(_facts(JobAdmission.objects.filter(pk=admission_id).values(*COLUMNS))), None)


def admission_page(asked: PageAsked) -> Slice[AdmissionFact]:
    """A page of admissions, the newest first."""
    page = page_of(JobAdmission.objects.values(*COLUMNS), asked, "-asked_at", "-id")
    return Slice(_facts(page.rows), page.after, page.before)


def newest_admissions(wanted: AdmissionsWanted, verdict: str, limit: int) -> list[AdmissionFact]:
    """Up to `limit` of these, the newest first; with a verdict those that were answered so."""
    found = _those(wanted).filter(**{"verdict": verdict} if verdict else {})
    return _facts(found.order_by("-asked_at", "-id").values(*COLUMNS)[:limit])


def admission_counts(wanted: AdmissionsWanted) -> AdmissionCounts:
    """How these were answered."""
    return AdmissionCounts(
        **_those(wanted).aggregate(
            asked=Count("id"),
            warned=Count("id", filter=Q(verdict=WARN)),
            denied=Count("id", filter=Q(verdict=DENY)),
            overridden=Count("id", filter=Q(overridden_at__isnull=False)),
        )
    )


def is_admission_asked_ever() -> bool:
    """Whether there is any."""
    return JobAdmission.objects.exists()


def _those(wanted: AdmissionsWanted) -> QuerySet[JobAdmission]:
    found = JobAdmission.objects.filter(asked_at__gte=wanted.starts_at, asked_at__lt=wanted.ends_at)
    if wanted.team_ids is not None:
        found = found.filter(team_id__in=wanted.team_ids)
    if wanted.limit is not None:
        kind, limit_id = wanted.limit
        found = found.filter(answer__limits__contains=[{"kind": kind, "id": limit_id}])
    return found


def _facts(rows: Iterable[dict[str, Any]]) -> list[AdmissionFact]:
    """Rows of COLUMNS with the names of what they point at."""
    pools, work = fleet.pools(), workloads.workloads()
    facts = []
    for row in rows:
        job = row["job"]
        names = [_name_of(pools.get(job["pool_id"])), _name_of(work.get(job["workload_id"]))]
        facts.append(AdmissionFact(*[row[name] for name in COLUMNS], *names))
    return facts


def _name_of(found: Any) -> str:
    return found.name if found else ""
