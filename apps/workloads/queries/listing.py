"""Workloads, runs, jobs, allocations and rules as lists and single things, for whoever asks.

Whose a job is follows from the rules, not from a column: a page that shows some owners' jobs alone
is read in parts until it is full, or until MOST_SCANNED jobs were looked at. Such a page may hold
fewer rows than it could, and still has a next one.
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any, TypeAlias

from django.db.models import F, Min, Q, QuerySet

from apps.accounts.queries import Viewer
from apps.accounts.queries.paging import Page, PageRequest, equality_conditions, page_of
from apps.economics.ownership import JobTraits, Rule, in_rank, rules_of
from apps.workloads.models import Allocation, Job, JobEvent, OwnershipRule, Run, RunSpan, Workload
from apps.workloads.queries.ownership import NOBODY, OwnerFact, RuleFact, rules

MOST_SCANNED = 20_000
PART = 1_000
MOST_EVENTS = 200

Rows: TypeAlias = "QuerySet[Any, Any]"
Found: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WorkloadsWanted:
    """A filter of workloads; None: any."""

    team_ids: frozenset[int] | None = None
    name: str | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class JobsWanted:
    """A filter of jobs; None: any. `name` and `raw_id` are beginnings; the moments bound when they lived."""

    cluster: str | None = None
    state: str | None = None
    user: str | None = None
    account: str | None = None
    partition: str | None = None
    name: str | None = None
    raw_id: str | None = None
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    team_ids: frozenset[int] | None = None
    workload_ids: frozenset[int] | None = None

    @property
    def asks_owner(self) -> bool:
        """Whether rules must be asked about each job."""
        return self.team_ids is not None or self.workload_ids is not None


@dataclass(frozen=True, slots=True)
class AllocationsWanted:
    """A filter of allocations; None: any. `device` is a UUID that was granted."""

    job_id: int | None = None
    node_id: int | None = None
    device: str | None = None
    starts_at: datetime | None = None
    ends_at: datetime | None = None


def workload_page(wanted: WorkloadsWanted, page_request: PageRequest) -> Page[Found]:
    """Workloads by name, then id."""
    chosen = {"team_id__in": wanted.team_ids, "name": wanted.name, "kind": wanted.kind}
    return page_of(
        Workload.objects.filter(equality_conditions(chosen)).values(*WORKLOAD),
        page_request,
        "name",
        "id",
    )


def workload_row(workload_id: int) -> Found | None:
    """One workload; None where there is none."""
    return _first_row(Workload.objects.values(*WORKLOAD).filter(id=workload_id))


def workload_of(team_id: int, name: str) -> Found | None:
    """The workload of this name of a team."""
    return _first_row(Workload.objects.values(*WORKLOAD).filter(team_id=team_id, name=name))


def job_page(wanted: JobsWanted, viewer: Viewer, page_request: PageRequest) -> Page[Found]:
    """Jobs that the viewer may see, those recorded last first, each with `owner`, an OwnerFact."""
    job_rows: Rows = Job.objects.filter(_jobs_chosen(wanted)).values("cluster__name", *JOB)
    ruling = Ruling()
    if viewer.sees_everything and not wanted.asks_owner:
        page = page_of(job_rows, page_request, "-id")
        return Page(_with_owner(page.rows, ruling.owners(page.rows)), page.after, page.before)

    def kept(rows: Sequence[Found]) -> list[Found]:
        owned = _with_owner(rows, ruling.owners(rows))
        return [row for row in owned if _is_wanted(row["owner"], wanted, viewer)]

    return _scanned_page(job_rows, page_request, kept)


def job_events(job_id: int) -> list[Found]:
    """Return what was stated of a job, in the order of the events, the first MOST_EVENTS of them."""
    rows = JobEvent.objects.filter(job_id=job_id).order_by("at", "kind", "id")[:MOST_EVENTS]
    return [
        {"event": row.get_kind_display(), "at": row.at, "source_rank": row.source_rank}
        for row in rows
    ]


def allocations_of_job(job_id: int) -> list[Found]:
    """Return what a job holds and held, in the order it was granted."""
    rows: Rows = Allocation.objects.filter(job_id=job_id).annotate(**LIFE).values(*ALLOCATION)
    return list(rows.order_by("starts_at", "node_name", "part"))


def allocation_page(wanted: AllocationsWanted, page_request: PageRequest) -> Page[Found]:
    """Allocations, those recorded last first; each with its job's `owner`, an OwnerFact."""
    chosen = {"job_id": wanted.job_id, "node_id": wanted.node_id}
    allocations = Allocation.objects.filter(equality_conditions(chosen))
    if wanted.device is not None:
        allocations = allocations.filter(device_uuids__contains=[wanted.device])
    if wanted.starts_at is not None or wanted.ends_at is not None:
        allocations = allocations.filter(period__overlap=(wanted.starts_at, wanted.ends_at))
    page = page_of(
        allocations.annotate(**LIFE).values("job__raw_id", *ALLOCATION), page_request, "-id"
    )
    jobs = Job.objects.filter(id__in={row["job_id"] for row in page.rows}).values(*JOB)
    owner_of = Ruling().owners(list(jobs))
    rows = [{**row, "owner": owner_of.get(row["job_id"], NOBODY)} for row in page.rows]
    return Page(rows, page.after, page.before)


def runs_by_id(run_ids: Collection[int], viewer: Viewer) -> dict[int, Found]:
    """These runs as `runs_with_jobs` tells them."""
    rows: Rows = Run.objects.values("id", "key", "workload_id").filter(id__in=run_ids)
    return {run["id"]: run for run in runs_with_jobs(list(rows), viewer)}


def run_with_jobs(run_id: int, viewer: Viewer) -> Found | None:
    """One run as `runs_with_jobs` tells it; None where there is none."""
    return runs_by_id([run_id], viewer).get(run_id)


def runs_with_jobs(rows: Sequence[Found], viewer: Viewer) -> list[Found]:
    """Runs with their jobs, the first and last moment of these, and `owner`.

    A run that nobody gave to a workload belongs to whom its first job belongs; without a job, to
    the team that told of it. Its jobs that the viewer may not see count for its time and states,
    and are not named.
    """
    spans = (
        RunSpan.objects.filter(run_id__in=[row["id"] for row in rows])
        .values("run_id", "job_id")
        .annotate(since=Min("period__startswith"))
        .order_by("since", "job_id")
    )
    jobs_of: dict[int, list[int]] = {}
    for span in spans:
        jobs_of.setdefault(span["run_id"], []).append(span["job_id"])
    jobs = {
        job["id"]: job
        for job in Job.objects.filter(id__in={job_id for ids in jobs_of.values() for job_id in ids})
        .order_by("id")
        .values(*JOB)
    }
    # Who sees everything asks the rules only of runs that nobody gave to a workload.
    ruled = {
        job_id
        for row in rows
        if row["workload_id"] is None or not viewer.sees_everything
        for job_id in jobs_of.get(row["id"], ())
    }
    owner_of = Ruling().owners([jobs[job_id] for job_id in sorted(ruled)]) if ruled else {}
    teams = dict(Workload.objects.order_by("id").values_list("id", "team_id"))
    owned = _tellers_of([row["id"] for row in rows if row["id"] not in jobs_of])
    owned |= {run_id: owner_of.get(ids[0], NOBODY) for run_id, ids in jobs_of.items()}
    owned |= {
        row["id"]: OwnerFact(teams[row["workload_id"]], row["workload_id"])
        for row in rows
        if row["workload_id"] is not None
    }
    runs = [
        _run_with_jobs(row, jobs_of.get(row["id"], []), jobs, owned.get(row["id"], NOBODY))
        for row in rows
    ]
    hidden = {job_id for job_id, owner in owner_of.items() if not viewer.sees_team(owner.team_id)}
    return [
        {**run, "jobs": [job_id for job_id in run["jobs"] if job_id not in hidden]} for run in runs
    ]


def rule_page(team_ids: frozenset[int] | None, page_request: PageRequest) -> Page[Found]:
    """Rules by priority, then id (of some teams)."""
    rule_rows = OwnershipRule.objects.filter(equality_conditions({"team_id__in": team_ids}))
    return page_of(_rule_rows(rule_rows), page_request, "priority", "id")


def rule_row(rule_id: int) -> Found | None:
    """One rule; None where there is none."""
    return _first_row(_rule_rows(OwnershipRule.objects.filter(id=rule_id)))


def rule_fact(rule_id: int) -> RuleFact | None:
    """One rule as it is tried; None where there is none."""
    return next(iter(rules(OwnershipRule.objects.filter(id=rule_id))), None)


def rule_like(rule: RuleFact) -> int | None:
    """The rule that is kept already and says exactly this."""
    columns = {name: getattr(rule.rule, name) for name in Rule.__slots__ if name != "id"}
    same_rules = OwnershipRule.objects.filter(
        equality_conditions(columns),
        **{f"{name}__isnull": True for name, value in columns.items() if value is None},
        # By its ends: an end before the start is no range that could be asked for.
        period__startswith=rule.starts_at,
        period__endswith=rule.ends_at,
    )
    return same_rules.values_list("id", flat=True).first()


class Ruling:
    """The owners of jobs when each began, by the rules in force then; the rules are read once."""

    def __init__(self, facts: Sequence[RuleFact] | None = None) -> None:
        self._facts = rules() if facts is None else facts
        moments = {edge for fact in self._facts for edge in (fact.starts_at, fact.ends_at) if edge}
        self._edges = sorted(moments)
        self._ranked: dict[int, tuple[Rule, ...]] = {}

    def owners(self, jobs: Sequence[Found]) -> dict[int, OwnerFact]:
        """The owner of each job, given as rows that hold what rules look at."""
        of_era: dict[int, list[Found]] = {}
        for job in jobs:
            of_era.setdefault(bisect_right(self._edges, _began_at(job)), []).append(job)
        owners_by_job: dict[int, OwnerFact] = {job["id"]: NOBODY for job in jobs}
        for era, alike in of_era.items():
            ranked = self._in_force(era, _began_at(alike[0]))
            decided = rules_of(((job["id"], _traits_of_row(job)) for job in alike), ranked)
            for job_id, rule in decided.items():
                owners_by_job[job_id] = OwnerFact(rule.team_id, rule.workload_id)
        return owners_by_job

    def _in_force(self, era: int, at: datetime) -> tuple[Rule, ...]:
        if era not in self._ranked:
            self._ranked[era] = in_rank(f.rule for f in self._facts if f.is_in_force(at))
        return self._ranked[era]


TRAITS = tuple(JobTraits.__slots__)
JOB = (
    *("id", "raw_id", "restart_count", "state", "exit_code", "submitted_at", "opened_at"),
    *("started_at", "ended_at", "array_id", "qos"),
    *TRAITS,
)
WORKLOAD = ("id", "name", "team_id", "kind")
LIFE = {"starts_at": F("period__startswith"), "ends_at": F("period__endswith")}
ALLOCATION = (
    *("id", "job_id", "node_id", "node_name", "gpus_numerator", "gpus_denominator"),
    *("device_uuids", "divided_evenly", "gpus_unknown", "starts_at", "ends_at"),
)


def _jobs_chosen(wanted: JobsWanted) -> Q:
    chosen = {
        "cluster__name": wanted.cluster,
        "state": wanted.state,
        "user": wanted.user,
        "account": wanted.account,
        "partition": wanted.partition,
        "name__startswith": wanted.name,
        "raw_id__startswith": wanted.raw_id,
    }
    condition = Q(merged_into=None) & equality_conditions(chosen)
    if wanted.ends_at is not None:
        condition &= Q(opened_at__lt=wanted.ends_at)
    if wanted.starts_at is not None:
        condition &= Q(ended_at=None) | Q(ended_at__gt=wanted.starts_at)
    return condition


def _first_row(rows: Rows) -> Found | None:
    row: Found | None = rows.first()
    return row


def _is_wanted(owner: OwnerFact, wanted: JobsWanted, viewer: Viewer) -> bool:
    if not viewer.sees_team(owner.team_id):
        return False
    if wanted.team_ids is not None and owner.team_id not in wanted.team_ids:
        return False
    return wanted.workload_ids is None or owner.workload_id in wanted.workload_ids


def _with_owner(rows: Iterable[Found], owner_of: Mapping[int, OwnerFact]) -> list[Found]:
    return [{**row, "owner": owner_of[row["id"]]} for row in rows]


def _scanned_page(
    candidates: Rows,
    page_request: PageRequest,
    keep_wanted: Callable[[Sequence[Found]], list[Found]],
) -> Page[Found]:
    """A page of what `keep_wanted` keeps of rows by falling id, or by rising for the page before."""
    backward = page_request.before is not None
    start = page_request.before if backward else page_request.after
    edge = None if start is None else int(start[0])
    rows: list[Found] = []
    looked_at, is_over = 0, False
    while len(rows) <= page_request.limit and looked_at < MOST_SCANNED and not is_over:
        part = _next_part(candidates, edge, is_rising=backward)
        rows += keep_wanted(part)
        looked_at += len(part)
        is_over = len(part) < PART
        edge = part[-1]["id"] if part else edge
    has_more = len(rows) > page_request.limit or not is_over
    if len(rows) > page_request.limit:
        del rows[page_request.limit :]
        edge = rows[-1]["id"]
    beyond = (edge,) if has_more and edge is not None else None
    first = (rows[0]["id"],) if rows else None
    if backward:
        return Page(rows[::-1], after=first, before=beyond)
    return Page(rows, after=beyond, before=first if page_request.after is not None else None)


def _next_part(candidates: Rows, edge: int | None, *, is_rising: bool) -> list[Found]:
    """The next rows beyond `edge` in the way of reading."""
    if edge is not None:
        candidates = candidates.filter(id__gt=edge) if is_rising else candidates.filter(id__lt=edge)
    return list(candidates.order_by("id" if is_rising else "-id")[:PART])


def _began_at(job: Found) -> datetime:
    began_at: datetime = job["started_at"] or job["submitted_at"] or job["opened_at"]
    return began_at


def _traits_of_row(job: Found) -> JobTraits:
    return JobTraits(**{name: job[name] for name in TRAITS})


def _tellers_of(run_ids: Collection[int]) -> dict[int, OwnerFact]:
    """Return whose these runs are by who told of them, where nobody's word is not all."""
    if not run_ids:
        return {}
    rows = Run.objects.filter(id__in=run_ids, team__isnull=False).order_by("id")
    return {run_id: OwnerFact(team, None) for run_id, team in rows.values_list("id", "team_id")}


def _run_with_jobs(
    run: Found,
    job_ids: Sequence[int],
    jobs: Mapping[int, Found],
    owner: OwnerFact,
) -> Found:
    carried = [jobs[job_id] for job_id in job_ids]
    ends = [job["ended_at"] for job in carried]
    return {
        **run,
        "owner": owner,
        "jobs": list(job_ids),
        "states": _in_order(job["state"] for job in carried),
        "started_at": min((_began_at(job) for job in carried), default=None),
        "ended_at": max(ends) if ends and None not in ends else None,
    }


def _in_order(states: Collection[str] | Iterable[str]) -> list[str]:
    return list(dict.fromkeys(states))


def _rule_rows(ownership_rules: "QuerySet[OwnershipRule]") -> Rows:
    rows: Rows = ownership_rules.annotate(cluster_name=F("cluster__name"), **LIFE).values(
        *("id", "priority", "team_id", "workload_id", "cluster_id", "cluster_name"),
        *("account", "partition", "namespace", "user", "label", "name", "starts_at", "ends_at"),
    )
    return rows


def gpus_in_words(numerator: int, denominator: int) -> str:
    """`8`, or `1/4` for a share."""
    return str(Fraction(numerator, denominator))
