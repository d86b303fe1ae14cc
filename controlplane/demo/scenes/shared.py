"""What nobody holds and everybody needs."""

from decimal import Decimal

from apps.pricing import actions as pricing
from controlplane.demo.company import Company


def share_costs(company: Company) -> None:
    """Support and a shared file system, which nobody holds and everybody needs."""
    weights = {"Language models": 5, "Vision": 3, "Ranking": 2}
    for name, amount, method, of_teams in (
        ("Cloud support", 4_200, "by_cost", {}),
        ("Shared file system", 6_500, "weighted", weights),
    ):
        pricing.add_shared_cost(
            cost=pricing.EnteredSharedCost(
                name=name,
                amount=Decimal(amount),
                currency="USD",
                method=method,
                starts_at=company.since,
                weights={company.team(team): Decimal(weight) for team, weight in of_teams.items()},
            ),
            at=company.week.at,
        )
