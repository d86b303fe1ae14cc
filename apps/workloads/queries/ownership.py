"""Owners of jobs, by the rules in force; and who nobody owns yet."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from django.db import connection
from django.db.models.query import QuerySet
from psycopg.types.range import TimestamptzRange

from apps.economics.ownership import TEXT_MATCHES, JobTraits, Rule, in_rank, rules_of
from apps.workloads.models import Allocation, Job, OwnershipRule

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
    """A job's holding, cut to the period of a rule that matches it."""

    job_id: int
    node_id: int | None
    starts_at: datetime
    ends_at: datetime
    gpus: Fraction


@dataclass(frozen=True, slots=True)
class AccountWithoutOwner:
    """Jobs of one name that no rule gives to anybody.

    `bears` is what of a job has that `name`: its account, else its namespace, user or partition;
    empty where its scheduler said none of them.
    """

    cluster_id: int
    cluster: str
    bears: str
    name: str
    jobs: int
    gpu_milliseconds: int


def owners(job_ids: Collection[int], at: datetime) -> dict[int, OwnerFact]:
    """Return whose each job is by the rules in force at `at`; every job asked for has an answer."""
    ((_, owners_by_job),) = owners_at(job_ids, [at])
    return owners_by_job


def owners_at(
    job_ids: Collection[int], moments: Collection[datetime]
) -> Iterator[tuple[list[datetime], dict[int, OwnerFact]]]:
    """`owners` at each of these moments: those at which the same rules are in force, together."""
    span = TimestamptzRange(min(moments), max(moments), "[]")
    all_rules = rules(OwnershipRule.objects.filter(period__overlap=span))
    together: dict[tuple[Rule, ...], list[datetime]] = {}
    for moment in moments:
        ranked = in_rank(fact.rule for fact in all_rules if fact.is_in_force(moment))
        together.setdefault(ranked, []).append(moment)
    alike = list(_alike_jobs([fact.rule for fact in all_rules], job_ids)) if all_rules else []
    for ranked, of_rules in together.items():
        decided = rules_of(((place, traits) for place, (traits, _) in enumerate(alike)), ranked)
        owners_by_job = dict.fromkeys(job_ids, NOBODY)
        for place, rule in decided.items():
            _, ids = alike[place]
            owners_by_job |= dict.fromkeys(ids, OwnerFact(rule.team_id, rule.workload_id))
        yield of_rules, owners_by_job


def deciding_rule(job_id: int, at: datetime) -> RuleFact | None:
    """The rule in force at `at` that says whose the job is; None: no rule does."""
    facts = {
        fact.rule.id: fact for fact in rules(OwnershipRule.objects.filter(period__contains=at))
    }
    ranked = in_rank(fact.rule for fact in facts.values())
    rule = rules_of(traits(Job.objects.filter(id=job_id)), ranked).get(job_id)
    return None if rule is None else facts[rule.id]


def rules(queryset: QuerySet[OwnershipRule] | None = None) -> list[RuleFact]:
    """The rules (None: all there ever were) by id."""
    rows = OwnershipRule.objects.all() if queryset is None else queryset
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
    """Yield what jobs that the rule matches held in its period, up to `until`; known node or not."""
    starts_at = fact.starts_at or BEGINNING_OF_TIME
    ends_at = until if fact.ends_at is None else min(fact.ends_at, until)
    if starts_at >= ends_at:
        return
    rule = fact.rule
    rows = Allocation.objects.filter(
        period__overlap=(starts_at, ends_at), **rule_conditions(rule, "job__")
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


def unowned_accounts(starts_at: datetime, ends_at: datetime) -> list[AccountWithoutOwner]:
    """Accounts with held GPU time in `[starts_at, ends_at)` that nobody owns, the largest first.

    Judged by the rules in force at the end of it.
    """
    ranked = in_rank(fact.rule for fact in rules() if fact.is_in_force(ends_at))
    likenesses = list(_held_by_likeness(ranked, starts_at, ends_at))
    owned = rules_of(((place, traits) for place, (traits, _) in enumerate(likenesses)), ranked)
    accounts: dict[tuple[int, str, str], AccountWithoutOwner] = {}
    for place, (_, account) in enumerate(likenesses):
        if place in owned:
            continue
        key = account.cluster_id, account.bears, account.name
        if (summed := accounts.get(key)) is not None:
            account = replace(
                account,
                jobs=summed.jobs + account.jobs,
                gpu_milliseconds=summed.gpu_milliseconds + account.gpu_milliseconds,
            )
        accounts[key] = account
    return sorted(
        accounts.values(), key=lambda one: (-one.gpu_milliseconds, one.cluster, one.bears, one.name)
    )


def _held_by_likeness(
    ranked: Sequence[Rule], starts_at: datetime, ends_at: datetime
) -> Iterator[tuple[JobTraits, AccountWithoutOwner]]:
    """Jobs alike in account, cluster and whatever else these rules look at; the rest stays empty."""
    looked_at = _rule_columns(ranked)
    columns = ", ".join(looked_at.values())
    with connection.cursor() as cursor:
        cursor.execute(LIKENESSES.format(columns=columns), {"from": starts_at, "to": ends_at})
        for *row, cluster, bears, name, jobs, milliseconds in cursor:
            traits = _traits_of(looked_at, row)
            yield (
                traits,
                AccountWithoutOwner(
                    traits.cluster_id, cluster, bears, name, jobs, int(milliseconds)
                ),
            )


def _alike_jobs(
    ranked: Sequence[Rule], job_ids: Collection[int]
) -> Iterator[tuple[JobTraits, list[int]]]:
    """These jobs, by what these rules look at: an hour's thousands are of a hundred accounts."""
    looked_at = _rule_columns(ranked)
    columns = ", ".join(looked_at.values())
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT array_agg(job.id), {columns} FROM workloads_job AS job"  # noqa: S608  # names of columns
            f" WHERE job.id = ANY(%s) GROUP BY {columns}",
            [list(job_ids)],
        )
        for ids, *row in cursor:
            yield _traits_of(looked_at, row), ids


def _rule_columns(ranked: Sequence[Rule]) -> dict[str, str]:
    """Columns of `job` by the trait: cluster, account and whatever else any of these rules asks."""
    asked_names = [name for name in TEXT_MATCHES if any(getattr(rule, name) for rule in ranked)]
    columns = {"cluster_id": "job.cluster_id", "account": "job.account"}
    columns |= {name: f'job."{name}"' for name in asked_names}
    columns |= {"name": "job.name"} if any(rule.name for rule in ranked) else {}
    columns |= {"labels": "job.labels::text"} if any(rule.label for rule in ranked) else {}
    return columns


def _traits_of(looked_at: Iterable[str], row: Sequence[Any]) -> JobTraits:
    values = dict(zip(looked_at, row, strict=True))
    return JobTraits(**values | {"labels": json.loads(values.get("labels", "{}"))})


# OFFSET keeps the join a walk along the key: the planner would read every job there ever was.
LIKENESSES = """
SELECT {columns}, cluster.name,
       CASE WHEN job.account <> '' THEN 'account' WHEN job.namespace <> '' THEN 'namespace'
            WHEN job."user" <> '' THEN 'user' WHEN job.partition <> '' THEN 'partition'
            ELSE '' END AS bears,
       coalesce(nullif(job.account, ''), nullif(job.namespace, ''), nullif(job."user", ''),
                job.partition) AS named,
       count(*), sum(held.milliseconds)
FROM (
    SELECT job_id, round(sum(
        1000 * extract(epoch FROM least(upper(period), %(to)s) - greatest(lower(period), %(from)s))
        * gpus_numerator / gpus_denominator
    )) AS milliseconds
    FROM workloads_allocation
    WHERE period && tstzrange(%(from)s, %(to)s) AND gpus_numerator > 0
    GROUP BY job_id
) AS held
CROSS JOIN LATERAL (SELECT * FROM workloads_job WHERE id = held.job_id OFFSET 0) AS job
JOIN fleet_cluster_fact AS cluster ON cluster.id = job.cluster_id
GROUP BY {columns}, cluster.name, bears, named
"""


def rule_conditions(rule: Rule, prefix: str = "") -> dict[str, Any]:
    """Return what the database can judge of a rule; the name is judged by `matches_name`."""
    conditions: dict[str, Any] = {
        prefix + name: getattr(rule, name) for name in TEXT_MATCHES if getattr(rule, name)
    }
    if rule.cluster_id is not None:
        conditions[prefix + "cluster_id"] = rule.cluster_id
    if rule.label:
        key, _, value = rule.label.partition("=")
        conditions[prefix + "labels__contains"] = {key: value}
    return conditions
