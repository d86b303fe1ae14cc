"""Costs shared by everyone: as they were entered, and the weights of teams in them."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeAlias

from django.db.models import QuerySet

from apps.accounts.queries.paging import Page, PageRequest, page_of
from apps.pricing.models import SharedCost, SharedWeight

Rows: TypeAlias = "QuerySet[Any, Any]"
MILLIONTHS = 1_000_000
COLUMNS = (
    *("id", "name", "amount", "currency", "method", "period__startswith", "period__endswith"),
    "created_at",
)


@dataclass(frozen=True, slots=True)
class SharedCostRow:
    """A monthly amount as it was entered; `ends_at` None: until ended. `weights` are by team."""

    id: int
    name: str
    amount: Decimal
    currency: str
    method: str
    starts_at: datetime
    ends_at: datetime | None
    created_at: datetime
    weights: dict[int, Decimal] = field(default_factory=dict)


def shared_cost_rows() -> list[SharedCostRow]:
    """Every shared cost, by name, then since when."""
    costs = SharedCost.objects.order_by("name", "period", "id")
    return _shared_rows(costs)


def shared_cost_page(page_request: PageRequest) -> Page[SharedCostRow]:
    """Shared costs as they were entered, the newest first."""
    cost_rows: Rows = SharedCost.objects.values("id")
    page = page_of(cost_rows, page_request, "-id")
    ids = [row["id"] for row in page.rows]
    by_id = {row.id: row for row in _shared_rows(SharedCost.objects.filter(id__in=ids))}
    return Page([by_id[cost_id] for cost_id in ids], page.after, page.before)


def shared_cost(cost_id: int) -> SharedCostRow:
    """One shared cost; refuses SharedCost.DoesNotExist."""
    cost = shared_cost_if_entered(cost_id)
    if cost is None:
        raise SharedCost.DoesNotExist(f"there is no shared cost {cost_id}")
    return cost


def shared_cost_if_entered(cost_id: int) -> SharedCostRow | None:
    """One shared cost; None where there is none of this id."""
    return next(iter(_shared_rows(SharedCost.objects.filter(id=cost_id))), None)


def weights_of(cost_ids: Collection[int]) -> dict[int, dict[int, int]]:
    """Millionths by team, of each of these costs."""
    return {
        cost_id: {team_id: int(weight * MILLIONTHS) for team_id, weight in of.items()}
        for cost_id, of in _weights_by_cost(cost_ids).items()
    }


def _shared_rows(costs: "QuerySet[SharedCost]") -> list[SharedCostRow]:
    rows = list(costs.values_list(*COLUMNS))
    weights = _weights_by_cost([row[0] for row in rows])
    return [replace(SharedCostRow(*row), weights=weights.get(row[0], {})) for row in rows]


def _weights_by_cost(cost_ids: Collection[int]) -> dict[int, dict[int, Decimal]]:
    weight_rows = SharedWeight.objects.filter(cost__in=cost_ids).order_by("cost_id", "team_id")
    by_cost: dict[int, dict[int, Decimal]] = {}
    for cost_id, team_id, weight in weight_rows.values_list("cost_id", "team_id", "weight"):
        by_cost.setdefault(cost_id, {})[team_id] = weight
    return by_cost
