"""Preview of what a rule would move before anybody keeps it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from itertools import pairwise

from apps.economics.hours import MILLISECOND
from apps.economics.ownership import NOT_KEPT, Rule, in_rank, rules_of
from apps.workloads.models import Job
from apps.workloads.queries.ownership import (
    NOBODY,
    MatchedHolding,
    OwnerFact,
    RuleFact,
    held_by_matching,
    rules,
    traits,
)


@dataclass(frozen=True, slots=True)
class Move:
    """The jobs and GPU time that would change hands with one owner; `team_id` None: nobody owns it."""

    team_id: int | None
    workload_id: int | None
    jobs: int
    gpu_milliseconds: Fraction
    job_ids: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class RulePreview:
    """The jobs and GPU time that a rule matches, and what of them would change hands, the largest first."""

    matched_jobs: int
    matched_gpu_milliseconds: Fraction
    moves: tuple[Move, ...]


def preview_rule(rule: RuleFact, at: datetime) -> RulePreview:
    """Return what the rule would move of what was held up to `at`; held GPU time is exact.

    Jobs on nodes that nobody knows yet count too: they will cost something once their node is.
    """
    holdings = list(held_by_matching(rule, at))
    return _summed_moves(holdings, _decided_by(rule, holdings))


def preview_end(rule: RuleFact, ended_at: datetime, at: datetime) -> RulePreview:
    """Return what a kept rule would lose of what was held from `ended_at` up to `at`, and to whom."""
    lost = RuleFact(rule.rule, ended_at, rule.ends_at)
    holdings = list(held_by_matching(lost, at))
    return _summed_moves(holdings, _decided_by(rule, holdings))


def _summed_moves(
    holdings: Sequence[MatchedHolding], moves_of_jobs: Iterable[tuple[int, OwnerFact, Fraction]]
) -> RulePreview:
    moved: dict[OwnerFact, dict[int, Fraction]] = {}
    for job_id, owner, milliseconds in moves_of_jobs:
        of_jobs = moved.setdefault(owner, {})
        of_jobs[job_id] = of_jobs.get(job_id, Fraction(0)) + milliseconds
    moves = [
        Move(
            team_id=owner.team_id,
            workload_id=owner.workload_id,
            jobs=len(of_jobs),
            gpu_milliseconds=sum(of_jobs.values(), Fraction(0)),
            job_ids=frozenset(of_jobs),
        )
        for owner, of_jobs in moved.items()
    ]
    return RulePreview(
        matched_jobs=len({holding.job_id for holding in holdings}),
        matched_gpu_milliseconds=sum(
            (
                holding.gpus * ((holding.ends_at - holding.starts_at) // MILLISECOND)
                for holding in holdings
            ),
            Fraction(0),
        ),
        moves=tuple(sorted(moves, key=lambda one: (-one.gpu_milliseconds, one.team_id or 0))),
    )


def _decided_by(
    fact: RuleFact, holdings: Sequence[MatchedHolding]
) -> Iterator[tuple[int, OwnerFact, Fraction]]:
    """Each job's time that the rule decides, with whose it is without the rule, if another's.

    Cut where the rules in force change; a rule that is not kept yet counts in all of it.
    """
    taken = OwnerFact(fact.rule.team_id, fact.rule.workload_id)
    jobs = list(traits(Job.objects.filter(id__in={matched.job_id for matched in holdings})))
    for since, until, ruling in _eras_of_rules(rules(), holdings):
        others = [rule for rule in ruling if rule.id != fact.rule.id]
        decided = rules_of(
            jobs, in_rank([*others, fact.rule] if fact.rule.id == NOT_KEPT else ruling)
        )
        without = rules_of(jobs, in_rank(others))
        for holding in holdings:
            start, end = max(holding.starts_at, since), min(holding.ends_at, until)
            decides, owner = (
                decided.get(holding.job_id),
                _owner_by_rule(without.get(holding.job_id)),
            )
            if start < end and decides and decides.id == fact.rule.id and owner != taken:
                yield holding.job_id, owner, holding.gpus * ((end - start) // MILLISECOND)


def _eras_of_rules(
    facts: Sequence[RuleFact], holdings: Sequence[MatchedHolding]
) -> Iterator[tuple[datetime, datetime, list[Rule]]]:
    """The time in which anything was held, cut so that in each part the same rules count."""
    if not holdings:
        return
    first, last = (
        min(holding.starts_at for holding in holdings),
        max(holding.ends_at for holding in holdings),
    )
    edges = {edge for fact in facts for edge in (fact.starts_at, fact.ends_at) if edge is not None}
    for since, until in pairwise(sorted({first, last} | {e for e in edges if first < e < last})):
        yield since, until, [fact.rule for fact in facts if fact.is_in_force(since)]


def _owner_by_rule(rule: Rule | None) -> OwnerFact:
    return NOBODY if rule is None else OwnerFact(rule.team_id, rule.workload_id)
