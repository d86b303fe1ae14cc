"""The tables of shared costs, and of the teams they are allocated to."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import NamedTuple
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.html import format_html

from apps.accounts import queries as accounts
from apps.console.kit.cells import DAY_OR_INSTANT, FIGURE, MONEY, WRAPPED, Locale, linked
from apps.console.kit.months import months_before, this_month
from apps.console.kit.request import Context
from apps.console.kit.table import Table
from apps.economics.sharing import METHODS
from apps.ledger.queries.shared_costs import carried
from apps.pricing.queries.shared import SharedCostRow, shared_cost_rows
from apps.show.money import quoted_amount
from apps.tables.column import CURRENCY_COLUMN, Column

IN_FORCE, TO_COME, ENDED = "In force", "To come", "Ended"
NONE = "–"


class AllocatedCost(NamedTuple):
    """A shared cost, and what was allocated of it: None before anything was charged."""

    cost: SharedCostRow
    weights: str
    status: str
    last_micros: int | None
    this_micros: int | None


class AllocatedShare(NamedTuple):
    """The allocation to a team of one shared cost, or of fees of bills that a rule shares."""

    cost: str
    is_of_bills: bool
    team_id: int
    team: str
    last_micros: int | None
    this_micros: int | None


def _ways_to_change(row: AllocatedCost, _: Locale) -> str:
    """Render what may be done with a shared cost; of one that ended, that it did."""
    if row.status == ENDED:
        return ENDED
    cost_id = row.cost.id
    weights = linked("Weights", reverse("change-shared-weights", args=[cost_id]))
    end = linked("End", reverse("end-shared-cost", args=[cost_id]))
    return format_html("{} {}", weights if row.cost.weights else "", end)


def _method_words(row: AllocatedCost, _: Locale) -> str:
    method = METHODS[row.cost.method]
    return f"{method}: {row.weights}" if row.weights else method


COSTS = Table[AllocatedCost](
    "costs",
    "Shared costs",
    (
        Column("name", "Shared cost", lambda row: row.cost.name, WRAPPED),
        Column("amount", "Per month", lambda row: row.cost.amount, FIGURE,
               shown=lambda row, _: quoted_amount(row.cost.amount, row.cost.currency),
               written=lambda row, _: f"{row.cost.amount:f}"),
        Column("currency", "", lambda row: row.cost.currency),
        Column("method", "Allocated", lambda row: METHODS[row.cost.method], WRAPPED,
               shown=_method_words),
        Column("weights", "", lambda row: row.weights),
        Column("last", "Last month", lambda row: row.last_micros, MONEY, csv="last_month",
               missing=NONE),
        Column("this", "This month", lambda row: row.this_micros, MONEY, csv="this_month",
               missing=NONE),
        Column("since", "Since", lambda row: row.cost.starts_at, DAY_OR_INSTANT, csv="starts_at"),
        Column("until", "Until", lambda row: row.cost.ends_at, DAY_OR_INSTANT, csv="ends_at",
               missing=NONE),
        Column("change", "Change", lambda row: row.status, csv="standing", sorts=False,
               shown=_ways_to_change),
        replace(CURRENCY_COLUMN, csv="carried_in"),
    ),
    noun=("shared cost", "shared costs"),
    empty="Support, storage, network, licences and control nodes are shared here, by direct cost, "
    "time, energy, evenly or by stated weights. Add the first above.",
    sort="sort",
    csv_first=("name", "amount", "currency", "method", "weights", "starts_at", "ends_at",
               "standing"),
)  # fmt: skip
TEAMS = Table[AllocatedShare](
    "teams",
    "Allocated to teams",
    (
        Column("cost", "Shared cost", lambda row: row.cost, WRAPPED, csv="shared_cost"),
        Column("team", "Team", lambda row: row.team,
               href=lambda row: f"{reverse('costs-team', args=[row.team_id])}?"
               f"{urlencode({'window': 'month'})}"),
        Column("last", "Last month", lambda row: row.last_micros, MONEY, csv="last_month",
               missing=NONE),
        Column("this", "This month", lambda row: row.this_micros, MONEY, csv="this_month",
               missing=NONE),
        CURRENCY_COLUMN,
    ),
    sort="teams",
)  # fmt: skip
Allocated = Mapping[int | str, Mapping[date, Mapping[int, int]]]


def shown_months(context: Context) -> tuple[date, date]:
    """The last month and this one, by their first days."""
    this, last = months_before(this_month(context), 2)
    return last, this


def allocated_costs(context: Context) -> tuple[list[AllocatedCost], list[AllocatedShare]]:
    """Every shared cost, and what of it was allocated to each team."""
    months = shown_months(context)
    costs, allocated = shared_cost_rows(), carried(months)
    teams = {team.id: team.name for team in accounts.teams()}
    rows = [
        AllocatedCost(
            cost,
            weight_words(cost, teams),
            cost_status(cost, context.at),
            *(_month_sum(allocated, cost.id, month) for month in months),
        )
        for cost in costs
    ]
    return rows, _team_shares({cost.id: cost.name for cost in costs}, allocated, teams, months)


def weight_words(cost: SharedCostRow, teams: Mapping[int, str]) -> str:
    """As in `Research 3, Search 1`."""
    return ", ".join(
        f"{teams[team_id]} {weight.normalize():f}" for team_id, weight in cost.weights.items()
    )


def cost_status(cost: SharedCostRow, at: datetime) -> str:
    """Whether it is shared at `at`."""
    if cost.starts_at > at:
        return TO_COME
    return ENDED if cost.ends_at is not None and cost.ends_at <= at else IN_FORCE


def _month_sum(allocated: Allocated, cost_id: int, month: date) -> int | None:
    teams = allocated.get(cost_id, {}).get(month)
    return None if teams is None else sum(teams.values())


def _team_shares(
    costs: Mapping[int, str],
    allocated: Allocated,
    teams: Mapping[int, str],
    months: Sequence[date],
) -> list[AllocatedShare]:
    """Of one name together, whatever weights it had; the highest of this month first."""
    sums: dict[tuple[str, bool, int], dict[date, int]] = {}
    for key, by_month in allocated.items():
        is_of_bills = isinstance(key, str)
        name = f"{key or 'Fees'}, from bills" if isinstance(key, str) else costs.get(key, "")
        for month, by_team in by_month.items():
            for team_id, micros in by_team.items():
                of_team = sums.setdefault((name, is_of_bills, team_id), {})
                of_team[month] = of_team.get(month, 0) + micros
    rows = [
        AllocatedShare(
            *(name, is_of_bills, team_id, teams[team_id]),
            *(by_month.get(month) for month in months),
        )
        for (name, is_of_bills, team_id), by_month in sums.items()
    ]
    return sorted(rows, key=lambda row: (row.cost, -(row.this_micros or row.last_micros or 0)))
