"""Costs shared by everyone: as they were entered, and the weights of teams in them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, TypeAlias

from django.db.models import F, QuerySet

from apps.accounts.queries.paging import Page, PageRequest, page_of
from apps.economics.sharing import METHODS
from apps.pricing.models import SharedCost, SharedWeight
from apps.pricing.queries.kept_amounts import stored_amount
from apps.show.entries import Entry

Rows: TypeAlias = "QuerySet[Any, Any]"
MILLIONTHS = 1_000_000
COLUMNS = ("id", "name", "amount", "currency", "method", "created_at")
SPAN = {"starts_at": F("period__startswith"), "ends_at": F("period__endswith")}


@dataclass(frozen=True, slots=True)
class Sharing:
    """A monthly amount to be shared in a span, by a ShareMethod and perhaps by teams' weights."""

    amount: Annotated[Decimal, Entry("Amount a month, in {currency}", example="9000")]
    method: Annotated[
        str,
        Entry(
            "Shared",
            "Each line says by what it really was.",
            choices={key: words.capitalize() for key, words in METHODS.items()},
            initial="by_cost",
        ),
    ]
    starts_at: Annotated[datetime, Entry("From", is_now=True)]
    ends_at: Annotated[datetime | None, Entry("Until", "Empty: open-ended.")] = None
    weights: Mapping[int, Decimal] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnteredSharedCost(Sharing):
    """A shared cost as it is entered; `weights` are by team where it is weighted."""

    name: Annotated[str, Entry("What is shared")]
    currency: str

    def __post_init__(self) -> None:
        """The amount as it is kept, whichever way it comes in."""
        object.__setattr__(self, "amount", stored_amount(self.amount))


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCostRow(EnteredSharedCost):
    """A monthly amount as it was entered; `ends_at` None: until ended. `weights` are by team."""

    id: int
    created_at: datetime


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
    rows = list(costs.values(*COLUMNS, **SPAN))
    weights = _weights_by_cost([row["id"] for row in rows])
    return [SharedCostRow(**row, weights=weights.get(row["id"], {})) for row in rows]


def _weights_by_cost(cost_ids: Collection[int]) -> dict[int, dict[int, Decimal]]:
    weight_rows = SharedWeight.objects.filter(cost__in=cost_ids).order_by("cost_id", "team_id")
    by_cost: dict[int, dict[int, Decimal]] = {}
    for cost_id, team_id, weight in weight_rows.values_list("cost_id", "team_id", "weight"):
        by_cost.setdefault(cost_id, {})[team_id] = weight
    return by_cost
