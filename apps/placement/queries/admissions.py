"""Admissions as they were answered, and overridden."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet

from apps.accounts.queries import teams_below
from apps.accounts.queries.paging import Page, PageRequest, equality_conditions, page_of
from apps.fleet import queries as fleet
from apps.ledger.queries.windows import Window
from apps.placement.models import JobAdmission
from apps.placement.queries.admission_limits import (
    BUDGET_LIMIT,
    DENY,
    QUOTA_LIMIT,
    VERDICTS,
    WARN,
)
from apps.planning.queries.budgets import TAG, budgets
from apps.planning.queries.gpu_quotas import gpu_quotas
from apps.workloads import queries as workloads

LARGEST_KEY = 2**63 - 1
OVERRIDE_HOLDS = timedelta(days=7)
"""So long after it a job may use an override."""
RETRIED_WITHIN = timedelta(minutes=5)
"""The task that used an override passes by it again for so long, as its launch may fail and be tried again."""
COLUMNS = (
    "id", "asked_at", "asked_name", "team_id", "team__name", "job", "verdict", "answer",
    "overridden_at", "overridden_name", "override_reason", "used_at", "used_by",
    "digest",
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
    verdict: str
    answer: dict[str, Any]
    overridden_at: datetime | None
    overridden_name: str
    override_reason: str
    used_at: datetime | None
    used_by: str
    digest: str
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
        """Return the limits that the job was held against, each a LimitCheck with its verdict; those that decided come first."""
        rising = sorted(self.answer["limits"], key=lambda limit: VERDICTS.index(limit["verdict"]))
        return rising[::-1]


@dataclass(frozen=True, slots=True)
class AdmissionsWanted:
    """Those asked in `[starts_at, ends_at)`, of these teams and pools, answered so, held against this limit (its kind and id); None and empty: any."""

    starts_at: datetime | None = None
    ends_at: datetime | None = None
    team_ids: frozenset[int] | None = None
    limit: tuple[str, int] | None = None
    verdict: str = ""
    pool_ids: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class AdmissionCounts:
    """How many were asked, and of these warned of, denied, and let pass after a denial."""

    asked: int
    warned: int
    denied: int
    overridden: int


def admission(admission_id: int) -> AdmissionFact:
    """One; refuses JobAdmission.DoesNotExist."""
    (fact,) = _admission_facts([JobAdmission.objects.values(*COLUMNS).get(pk=admission_id)])
    return fact


def admission_if_stored(admission_id: int) -> AdmissionFact | None:
    """One; None where there is none of this id."""
    if admission_id > LARGEST_KEY:
        return None
    return next(
        iter(_admission_facts(JobAdmission.objects.filter(pk=admission_id).values(*COLUMNS))), None
    )


def limit_names(seen_budgets: frozenset[int] | None = None) -> dict[str, str]:
    """Budgets and quotas that jobs are held against, by the key that a filter says: `budget:12`, `quota:3`.

    Of who sees `seen_budgets` alone (None: everything) these are all.
    """
    limit_budgets = [budget for budget in budgets(None) if budget.scope != TAG]
    if seen_budgets is not None:
        return {
            f"{BUDGET_LIMIT}:{budget.id}": budget.name
            for budget in limit_budgets
            if budget.id in seen_budgets
        }
    return {
        **{f"{BUDGET_LIMIT}:{budget.id}": budget.name for budget in limit_budgets},
        **{
            f"{QUOTA_LIMIT}:{gpu_quota.id}": f"Quota {gpu_quota.name}" for gpu_quota in gpu_quotas()
        },
    }


def wanted_admissions(
    span: Window | None, team_ids: Iterable[int], verdict: str, limit: str
) -> AdmissionsWanted:
    """Return the admissions that filters ask for: a span, teams with those below, an answer, a key of `limit_names`; empty: any."""
    chosen = frozenset[int]().union(*map(teams_below, team_ids))
    kind, _, limit_id = limit.partition(":")
    return AdmissionsWanted(
        span.starts_at if span else None,
        span.ends_at if span else None,
        chosen or None,
        (kind, int(limit_id)) if limit else None,
        verdict,
    )


def admission_page(wanted: AdmissionsWanted, page_request: PageRequest) -> Page[AdmissionFact]:
    """A page of these, the newest first."""
    page = page_of(_wanted_rows(wanted).values(*COLUMNS), page_request, "-asked_at", "-id")
    return Page(_admission_facts(page.rows), page.after, page.before)


def newest_admissions(wanted: AdmissionsWanted, limit: int) -> list[AdmissionFact]:
    """Up to `limit` of these, the newest first."""
    return _admission_facts(
        _wanted_rows(wanted).order_by("-asked_at", "-id").values(*COLUMNS)[:limit]
    )


def admission_counts(wanted: AdmissionsWanted) -> AdmissionCounts:
    """How these were answered, whatever answer is wanted."""
    return AdmissionCounts(
        **_wanted_rows(replace(wanted, verdict="")).aggregate(
            asked=Count("id"),
            warned=Count("id", filter=Q(verdict=WARN)),
            denied=Count("id", filter=Q(verdict=DENY)),
            overridden=Count("id", filter=Q(overridden_at__isnull=False)),
        )
    )


def has_admissions() -> bool:
    """Whether there is any."""
    return JobAdmission.objects.exists()


def _wanted_rows(wanted: AdmissionsWanted) -> QuerySet[JobAdmission]:
    conditions = {
        "asked_at__gte": wanted.starts_at,
        "asked_at__lt": wanted.ends_at,
        "team_id__in": wanted.team_ids,
        "verdict": wanted.verdict or None,
        "job__pool_id__in": None if wanted.pool_ids is None else sorted(wanted.pool_ids),
    }
    admissions = JobAdmission.objects.filter(equality_conditions(conditions))
    if wanted.limit is not None:
        kind, limit_id = wanted.limit
        admissions = admissions.filter(answer__limits__contains=[{"kind": kind, "id": limit_id}])
    return admissions


def _admission_facts(rows: Iterable[dict[str, Any]]) -> list[AdmissionFact]:
    """Rows of COLUMNS with the names of what they point at."""
    pools, work = fleet.pools(), workloads.workloads()
    facts = []
    for row in rows:
        job = row["job"]
        names = [_name_of(pools.get(job["pool_id"])), _name_of(work.get(job["workload_id"]))]
        facts.append(AdmissionFact(*[row[name] for name in COLUMNS], *names))
    return facts


def _name_of(record: Any) -> str:
    return record.name if record else ""
