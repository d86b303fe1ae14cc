"""Whose jobs are, by the rules in force; and who nobody owns yet."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from django.db.models.query import QuerySet

from apps.economics.ownership import TEXT_MATCHES, JobTraits, Rule, in_rank, rules_of
from apps.fleet.queries import clusters
from apps.workloads.models import Allocation, Job, OwnershipRule

MILLISECONDS_PER_SECOND = 1_000
BEGINNING_OF_TIME = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class OwnerFact:
    """The team and workload a job belongs to; None: nobody said."""

    team_id: int | None
    workload_id: int | None


NOBODY = OwnerFact(None, None)


@dataclass(frozen=True, slots=True)
class RuleFact:
    """A rule and when it is in force, half-open; `ends_at` None: until further notice."""

    rule: Rule
    starts_at: datetime | None
    ends_at: datetime | None

    def is_in_force(self, at: datetime) -> bool:
        """Whether the rule counts at `at`."""
        return (self.starts_at is None or self.starts_at <= at) and (
            self.ends_at is None or at < self.ends_at
        )


@dataclass(frozen=True, slots=True)
class MatchedHolding:
    """What one job held, cut to the period of a rule that matches it."""

    job_id: int
    node_id: int | None
    starts_at: datetime
    ends_at: datetime
    gpus: Fraction


@dataclass(frozen=True, slots=True)
class UnownedAccount:
    """An account whose jobs no rule gives to anybody."""

    cluster_id: int
    cluster: str
    account: str
    jobs: int
    gpu_milliseconds: Fraction


def owners(job_ids: Collection[int], at: datetime) -> dict[int, OwnerFact]:
    """Whose each job is by the rules in force at `at`; every job asked for has an answer."""
    ranked = in_rank(fact.rule for fact in rules(OwnershipRule.objects.filter(period__contains=at)))
    if not ranked:
        return dict.fromkeys(job_ids, NOBODY)
    found = dict.fromkeys(job_ids, NOBODY)
    found |= {
        job_id: OwnerFact(rule.team_id, rule.workload_id)
        for job_id, rule in rules_of(traits(Job.objects.filter(id__in=job_ids)), ranked).items()
    }
    return found


def rules(found: QuerySet[OwnershipRule] | None = None) -> list[RuleFact]:
    """The rules (None: all there ever were) by id."""
    rows = OwnershipRule.objects.all() if found is None else found
    columns = (*Rule.__slots__, "period")
    return [
        RuleFact(Rule(*row), period.lower, period.upper)
        for *row, period in rows.order_by("id").values_list(*columns)
    ]


def traits(jobs: QuerySet[Job]) -> Iterable[tuple[int, JobTraits]]:
    """Each job's id and what rules may look at, in no particular order."""
    for job_id, *row in jobs.values_list("id", *JobTraits.__slots__).iterator(chunk_size=5_000):
        yield job_id, JobTraits(*row)


def held_by_matching(fact: RuleFact, until: datetime) -> Iterator[MatchedHolding]:
    """What jobs that the rule matches held in its period, up to `until`; known node or not."""
    starts_at = fact.starts_at or BEGINNING_OF_TIME
    ends_at = until if fact.ends_at is None else min(fact.ends_at, until)
    if starts_at >= ends_at:
        return
    rule = fact.rule
    rows = Allocation.objects.filter(
        period__overlap=(starts_at, ends_at), **_asked_of_jobs(rule, "job__")
    )
    columns = ("job_id", "node_id", "period", "gpus_numerator", "gpus_denominator", "job__name")
    for job_id, node_id, period, gpus, parts, name in rows.values_list(*columns).iterator():
        if rule.matches_name(name):
            yield MatchedHolding(
                job_id=job_id,
                node_id=node_id,
                starts_at=max(period.lower, starts_at),
                ends_at=ends_at if period.upper is None else min(period.upper, ends_at),
                gpus=Fraction(gpus, parts),
            )


def unowned_accounts(starts_at: datetime, ends_at: datetime) -> list[UnownedAccount]:
    """Accounts with held GPU time in `[starts_at, ends_at)` that nobody owns, the largest first.

    Judged by the rules in force at the end of it.
    """
    held = held_milliseconds(starts_at, ends_at)
    owned = owners(held.keys(), ends_at)
    names = {cluster_id: fact.name for cluster_id, fact in clusters().items()}
    found: dict[tuple[int, str], tuple[int, Fraction]] = {}
    unowned = [job_id for job_id, owner in owned.items() if owner.team_id is None]
    for job_id, job in traits(Job.objects.filter(id__in=unowned)):
        jobs, milliseconds = found.get((job.cluster_id, job.account), (0, Fraction(0)))
        found[job.cluster_id, job.account] = jobs + 1, milliseconds + held[job_id]
    accounts = [
        UnownedAccount(cluster_id, names[cluster_id], account, *sums)
        for (cluster_id, account), sums in found.items()
    ]
    return sorted(accounts, key=lambda one: (-one.gpu_milliseconds, one.cluster, one.account))


def held_milliseconds(starts_at: datetime, ends_at: datetime) -> dict[int, Fraction]:
    """GPU-milliseconds each job held in `[starts_at, ends_at)`, on known nodes and others."""
    found: dict[int, Fraction] = {}
    rows = Allocation.objects.filter(period__overlap=(starts_at, ends_at), gpus_numerator__gt=0)
    columns = ("job_id", "gpus_numerator", "gpus_denominator", "period")
    for job_id, gpus, parts, period in rows.values_list(*columns).iterator(chunk_size=5_000):
        until = ends_at if period.upper is None else min(period.upper, ends_at)
        length = milliseconds_between(max(period.lower, starts_at), until)
        found[job_id] = found.get(job_id, Fraction(0)) + Fraction(gpus * length, parts)
    return found


def _asked_of_jobs(rule: Rule, prefix: str) -> dict[str, Any]:
    """What the database can judge of a rule; the name is judged by `matches_name`."""
    asked: dict[str, Any] = {
        prefix + name: getattr(rule, name) for name in TEXT_MATCHES if getattr(rule, name)
    }
    if rule.cluster_id is not None:
        asked[prefix + "cluster_id"] = rule.cluster_id
    if rule.label:
        key, _, value = rule.label.partition("=")
        asked[prefix + "labels__contains"] = {key: value}
    return asked


def milliseconds_between(starts_at: datetime, ends_at: datetime) -> int:
    """Whole milliseconds, rounded down."""
    length = ends_at - starts_at
    return (length.days * 86_400 + length.seconds) * MILLISECONDS_PER_SECOND + (
        length.microseconds // 1_000
    )
