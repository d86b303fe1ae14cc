"""Commitments in words and figures, as rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from apps.accounts.queries import special_teams, teams
from apps.console.pages.commitments.values import CommitmentRow
from apps.console.pages.listed import By
from apps.fleet.queries import pools
from apps.ledger.queries.commitments import Figures, ends_within
from apps.pricing.queries.commitments import CommitmentFact
from apps.show.amounts import counted
from apps.show.money import quoted_amount

KINDS = {
    "capacity_block": "Capacity block",
    "reserved": "Reservation",
    "committed_use": "Committed use",
    "savings_plan": "Savings plan",
}
"""In the order in which they are applied."""
RANKS = {kind: place for place, kind in enumerate(KINDS)}
UNITS = {"node": "node", "gpu": "GPU"}
COLUMNS: Mapping[str, By[CommitmentRow]] = {
    "name": By("Commitment", lambda row: row.name),
    "bought": By("Bought", lambda row: (row.rank, row.covers, row.name)),
    "ends": By("Ends", lambda row: row.ends_at),
    "coverage": By("Coverage", lambda row: row.coverage, is_number=True),
    "utilisation": By("Utilisation", lambda row: row.utilisation, is_number=True),
    "break-even": By("Break-even", lambda row: row.break_even, is_number=True),
    "savings": By("Savings rate", lambda row: row.savings_rate, is_number=True),
    "on-demand": By("On demand", lambda row: row.on_demand_micros, is_number=True),
    "cost": By("Cost", lambda row: row.cost_micros, is_number=True),
    "unused": By("Not used", lambda row: row.unused_micros, is_number=True),
    "owner": By("Carried by", lambda row: row.owner),
}


@dataclass(frozen=True, slots=True)
class Names:
    """Pools and teams by id, read once for a page."""

    pools: Mapping[int, str]
    teams: Mapping[int, str]
    platform_id: int

    def team(self, team_id: int | None) -> str:
        """A team; what nobody carries is Platform's."""
        return self.teams[team_id or self.platform_id]


def names() -> Names:
    """As they are now."""
    return Names(
        pools={pool.id: pool.name for pool in pools().values()},
        teams={team.id: team.name for team in teams()},
        platform_id=special_teams().platform_id,
    )


def covers(fact: CommitmentFact, said: Names) -> str:
    """Its scope in words."""
    parts = [fact.provider, fact.region, fact.instance_type, fact.gpu_model]
    if fact.pool_id is not None:
        parts.append(f"pool {said.pools[fact.pool_id]}")
    return " / ".join(part for part in parts if part)


def bought(fact: CommitmentFact) -> str:
    """Its units, or its spend."""
    if fact.units:
        return counted(fact.units, UNITS[fact.unit])
    return f"{quoted_amount(fact.spend, fact.currency)} an hour"


def standing(fact: CommitmentFact, at: datetime) -> str:
    """Whether it holds now."""
    if at < fact.starts_at:
        return "to come"
    if at < fact.ends_at:
        return "holds"
    return "ended early" if fact.ended_at is not None else "over"


def commitment_row(
    fact: CommitmentFact, found: Figures, said: Names, at: datetime
) -> CommitmentRow:
    """A commitment and its figures."""
    return CommitmentRow(
        name=fact.name,
        href=reverse("commitment", args=[fact.id]),
        kind=KINDS[fact.kind],
        rank=RANKS[fact.kind],
        covers=covers(fact, said),
        bought=bought(fact),
        owner=said.team(fact.owner_id),
        ends_at=fact.ends_at,
        standing=standing(fact, at),
        ends_soon=ends_within(fact, at) if at >= fact.starts_at else None,
        coverage=found.coverage,
        utilisation=found.utilisation,
        savings_rate=found.savings_rate,
        break_even=found.break_even,
        on_demand_micros=found.on_demand if found.used else None,
        cost_micros=found.cost if found.bought else None,
        unused_micros=found.unused_cost if found.bought else None,
    )
