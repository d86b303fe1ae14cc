"""Kueue's flavors in the order of what they cost, a cohort that holds all GPUs, and a queue for each team."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from apps.accounts.queries import TeamFact, organisation, special_teams, teams
from apps.ledger.queries.calendar import local_day
from apps.placement.queries.scheduler_pools import (
    POOL_LABEL,
    TEAM_LABEL,
    ScheduledPool,
    ScheduledPools,
    SchedulerDocuments,
    kubernetes_name,
)
from apps.planning.queries.budgets import MONEY, RUNNING, TEAM, budgets

KUEUE = "kueue.x-k8s.io/v1beta2"
COHORT = "runrate"
FUNGIBILITY = {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"}
"""Take the cheapest flavor that has room in the cohort; go on to the next rather than preempt."""
MOST_FLAVORS = 64
LEAST_WEIGHT, THOUSANDTH = Decimal("0.001"), Decimal("0.001")
WITHOUT_CORES = (
    "only GPUs are covered: cover cpu and memory beside them, or leave both out of Kueue"
    " (resources.excludeResourcePrefixes of its configuration)"
)


def kueue_documents(scheduler_pools: ScheduledPools, at: datetime) -> SchedulerDocuments:
    """ResourceFlavors, a Cohort with their quotas, and a ClusterQueue for each team with its weight."""
    bundle = scheduler_pools.documents()
    bounded = [pool for pool in scheduler_pools.pools if pool.most_gpus is not None]
    bundle.notes += [
        f"left out: {pool.offer.name}, no quota says how many of its GPUs may be held at once"
        for pool in scheduler_pools.pools
        if pool.most_gpus is None
    ]
    bundle.notes += [f"left out: {pool.offer.name}, too many" for pool in bounded[MOST_FLAVORS:]]
    bounded = bounded[:MOST_FLAVORS]
    if not bounded:
        return bundle
    bundle.documents += [_flavor_document(pool) for pool in bounded]
    bundle.documents.append(
        _named_document("Cohort", COHORT, {"resourceGroups": _resource_groups(bounded, None)})
    )
    weights, unweighed = _team_weights(at)
    taken: list[str] = []
    for team in _assignable_teams():
        name = kubernetes_name(team.name, taken, team.id)
        taken.append(name)
        bundle.documents.append(_queue_document(name, weights[team.id], bounded))
    bundle.notes += [
        f"{name} has no running budget in money: its weight is 1" for name in unweighed
    ]
    bundle.notes.append(WITHOUT_CORES)
    return bundle


def _flavor_document(pool: ScheduledPool) -> dict[str, Any]:
    return _named_document("ResourceFlavor", pool.name, {"nodeLabels": {POOL_LABEL: pool.name}})


def _queue_document(name: str, weight: Decimal, pools: Sequence[ScheduledPool]) -> dict[str, Any]:
    spec = {
        "cohortName": COHORT,
        "namespaceSelector": {"matchLabels": {TEAM_LABEL: name}},
        "queueingStrategy": "BestEffortFIFO",
        "flavorFungibility": dict(FUNGIBILITY),
        "fairSharing": {"weight": f"{weight.normalize():f}"},
        "resourceGroups": _resource_groups(pools, 0),
    }
    return _named_document("ClusterQueue", name, spec)


def _resource_groups(pools: Sequence[ScheduledPool], quota: int | None) -> list[dict[str, Any]]:
    """A group for each vendor's resource, flavors as the pools come; the quota is the pool's where none is said."""
    return [
        {
            "coveredResources": [resource],
            "flavors": [
                {
                    "name": pool.name,
                    "resources": [
                        {
                            "name": resource,
                            "nominalQuota": pool.most_gpus if quota is None else quota,
                        }
                    ],
                }
                for pool in pools
                if pool.resource == resource
            ],
        }
        for resource in dict.fromkeys(pool.resource for pool in pools)
    ]


def _named_document(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": KUEUE, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _assignable_teams() -> list[TeamFact]:
    special = special_teams()
    return [team for team in teams() if team.id not in (special.platform_id, special.unowned_id)]


def _team_weights(at: datetime) -> tuple[dict[int, Decimal], list[str]]:
    """In proportion to what teams' running budgets in money give for a day, 1 on average; and who has none."""
    today = local_day(at, organisation().zone)
    a_day: dict[int, Decimal] = {}
    for budget in budgets(None):
        if budget.scope == TEAM and budget.measure == MONEY and budget.status_on(today) == RUNNING:
            first, end = budget.period_on(today)
            team_id, amount = int(budget.key), Decimal(budget.amount_on(first))
            a_day[team_id] = a_day.get(team_id, Decimal(0)) + amount / (end - first).days
    own_teams = _assignable_teams()
    daily_amounts = [a_day[team.id] for team in own_teams if a_day.get(team.id)]
    mean = sum(daily_amounts, Decimal(0)) / len(daily_amounts) if daily_amounts else Decimal(1)
    weights = {
        team.id: max(LEAST_WEIGHT, (a_day[team.id] / mean).quantize(THOUSANDTH))
        if a_day.get(team.id)
        else Decimal(1)
        for team in own_teams
    }
    return weights, [team.name for team in own_teams if not a_day.get(team.id)]
