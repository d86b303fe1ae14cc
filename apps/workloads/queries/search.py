"""Workloads, jobs and runs by what somebody typed, each viewer within their own teams.

Whose a job is follows from the rules. Of a team's jobs the database is asked only for such as one
of the team's own rules asks for; which of these it really is theirs, the rules in their order say.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from django.db.models import Case, F, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Collate, Lower

from apps.accounts.queries import Viewer
from apps.accounts.queries.search import Hits, Kind, Search, SearchHit, about, begins_first, hits
from apps.economics.ownership import TEXT_MATCHES
from apps.workloads.models import Job, Run, RunSpan, Workload
from apps.workloads.queries.listing import JOB, Ruling
from apps.workloads.queries.ownership import RuleFact, rule_conditions, rules

MOST_LOOKED_AT = 500
"""Of jobs that a team's rules ask for and that bear the name, so many are judged."""

Rows: TypeAlias = "QuerySet[Any, Any]"


def search_workloads(viewer: Viewer, search: Search) -> Hits:
    """Workloads of the viewer's teams by a part of their name."""
    rows = Workload.objects.filter(name__icontains=search.text)
    if not viewer.sees_everything:
        rows = rows.filter(team_id__in=viewer.team_ids)
    ordered = rows.order_by(begins_first("name", search.text), "name", "id")
    matching = ordered.values_list("id", "name", "kind", "team__name")[: search.limit + 1]
    return hits(
        Kind.WORKLOAD,
        (SearchHit(id_, name, about(*details)) for id_, name, *details in matching),
        search,
    )


def search_jobs_and_runs(viewer: Viewer, search: Search) -> tuple[Hits, Hits]:
    """Jobs by the beginning of their id or name, and runs by that of their key."""
    if viewer.sees_everything:
        jobs = _search_jobs(Q(), search, search.limit + 1)
        return _job_hits(jobs, search), _run_hits(
            _search_runs(Q(), search.text)[: search.limit + 1], search
        )
    if not viewer.team_ids:
        return _job_hits([], search), _run_hits([], search)
    facts = rules()
    ruling = Ruling(facts)
    jobs = _search_jobs(_jobs_matching_rules(facts, viewer), search, MOST_LOOKED_AT)
    owner_of = ruling.owners(jobs)
    theirs = [job for job in jobs if viewer.sees_team(owner_of[job["id"]].team_id)]
    return _job_hits(theirs, search), _run_hits(_runs_of(viewer, search, ruling), search)


def _search_jobs(scope: Q, search: Search, most: int) -> list[dict[str, Any]]:
    """By id, the very one first, then by name; of one id or name the latest first."""
    jobs = Job.objects.filter(scope, merged_into=None).annotate(
        # In the order of the indexes: a beginning that many jobs share is read no further than needed.
        id_begun=Collate("raw_id", "C"),
        name_begun=Collate(Lower("name"), "C"),
    )
    rows_by_id: dict[int, dict[str, Any]] = {}
    for field, text in (("id_begun", search.text), ("name_begun", search.text.lower())):
        rows = jobs.filter(**{f"{field}__startswith": text}).order_by(field, "-id")
        rows_by_id |= {row["id"]: row for row in rows.values("cluster__name", *JOB)[:most]}
    return list(rows_by_id.values())


def _jobs_matching_rules(facts: list[RuleFact], viewer: Viewer) -> Q:
    """Jobs that some rule for the viewer's teams asks for, now or ever; wider than what is theirs."""
    alone: dict[str, set[str]] = {}
    scope = Q(id__in=[])
    for rule in (fact.rule for fact in facts if viewer.sees_team(fact.rule.team_id)):
        conditions = rule_conditions(rule)
        if len(conditions) == 1 and (field := next(iter(conditions))) in TEXT_MATCHES:
            alone.setdefault(field, set()).add(conditions[field])
        else:
            scope |= Q(**conditions) if conditions else ~Q(id=None)
    for field, texts in alone.items():
        scope |= Q(**{f"{field}__in": sorted(texts)})
    return scope


def _search_runs(scope: Q, text: str) -> Rows:
    first = RunSpan.objects.filter(run_id=OuterRef("id")).order_by("period__startswith", "job_id")
    rows: Rows = (
        Run.objects.annotate(
            key_lower=Lower("key"), first_job_id=Subquery(first.values("job_id")[:1])
        )
        .filter(scope, key_lower__startswith=text.lower())
        .order_by("-id")
        .values(
            "id",
            "key",
            "first_job_id",
            name=F("workload__name"),
            # Without a job it is whose word it is.
            own_team_id=Case(
                When(workload=None, first_job_id=None, then="team_id"),
                default="workload__team_id",
            ),
        )
    )
    return rows


def _runs_of(viewer: Viewer, search: Search, ruling: Ruling) -> Iterator[dict[str, Any]]:
    """A run of no workload is whose its first job is; without a job, of who told of it."""
    scope = Q(workload=None) | Q(workload__team_id__in=viewer.team_ids)
    runs = list(_search_runs(scope, search.text)[:MOST_LOOKED_AT])
    unnamed = [run["first_job_id"] for run in runs if run["own_team_id"] is None]
    jobs: Rows = Job.objects.filter(id__in=unnamed).order_by("id").values(*JOB)
    owner_of = ruling.owners(list(jobs)) if unnamed else {}
    for run in runs:
        owner = owner_of.get(run["first_job_id"])
        team_id = run["own_team_id"] or (owner and owner.team_id)
        if team_id and viewer.sees_team(team_id):
            yield run


def _job_hits(jobs: list[dict[str, Any]], search: Search) -> Hits:
    job_hits = (
        SearchHit(
            job["id"],
            job["raw_id"],
            about(job["name"], job["user"], job["state"].lower(), f"on {job['cluster__name']}"),
        )
        for job in jobs
    )
    return hits(Kind.JOB, job_hits, search)


def _run_hits(runs: Any, search: Search) -> Hits:
    run_hits = (SearchHit(run["id"], run["key"], run["name"] or "") for run in runs)
    return hits(Kind.RUN, run_hits, search)
