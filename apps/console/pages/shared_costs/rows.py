"""The rows of shared costs and of the teams they are allocated to."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.html import format_html

from apps.accounts import queries as accounts
from apps.console.kit.cells import (
    DAY_OR_INSTANT,
    FIGURE,
    MONEY,
    TEXT,
    Format,
    Locale,
    linked,
)
from apps.console.kit.request import Context
from apps.console.kit.table import CURRENCY_COLUMN, Column, Table
from apps.console.pages.shared_costs.values import CostRow, TeamRow
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.shared_costs import carried
from apps.pricing.queries.shared import METHODS, SharedCostRow, shared_cost_rows
from apps.show.money import quoted_amount

IN_FORCE, TO_COME, ENDED = "In force", "To come", "Ended"
NONE = "–"
WRAPPED = Format(TEXT.shown, TEXT.written, "wrap")


def _ways(row: CostRow, _: Locale) -> str:
    """What may be done with it; of one that ended, that it did."""
    weights = linked("Weights", row.weights_href) if row.weights_href else ""
    end = linked("End", row.end_href) if row.end_href else row.standing
    return format_html("{} {}", weights, end)


COSTS = Table[CostRow](
    "costs",
    "Shared costs",
    (
        Column("name", "Shared cost", lambda row: row.name, WRAPPED, csv="shared_cost"),
        Column("amount", "Per month", lambda row: row.number, FIGURE,
               shown=lambda row, _: row.amount, written=lambda row, _: f"{row.number:f}"),
        Column("currency", "", lambda row: row.currency),
        Column("method", "Allocated", lambda row: row.method, WRAPPED,
               shown=lambda row, _: f"{row.method}: {row.weights}" if row.weights else row.method),
        Column("weights", "", lambda row: row.weights),
        Column("last", "Last month", lambda row: row.last_micros, MONEY, csv="last_month",
               missing=NONE),
        Column("this", "This month", lambda row: row.this_micros, MONEY, csv="this_month",
               missing=NONE),
        Column("since", "Since", lambda row: row.starts_at, DAY_OR_INSTANT, csv="starts_at"),
        Column("until", "Until", lambda row: row.ends_at, DAY_OR_INSTANT, csv="ends_at",
               missing=NONE),
        Column("change", "Change", lambda row: row.standing, csv="standing", sorts=False,
               shown=_ways),
        replace(CURRENCY_COLUMN, csv="carried_in"),
    ),
    noun=("shared cost", "shared costs"),
    empty="Support, storage, network, licences and control nodes are shared here, by direct cost, "
    "time, energy, evenly or by stated weights: add one, or run manage.py add_shared_cost Support "
    "9000 --method by_cost --from 2026-11-01.",
    sort="sort",
    csv_first=("shared_cost", "amount", "currency", "method", "weights", "starts_at", "ends_at",
               "standing"),
)  # fmt: skip
TEAMS = Table[TeamRow](
    "teams",
    "Allocated to teams",
    (
        Column("cost", "Shared cost", lambda row: row.cost, WRAPPED, csv="shared_cost"),
        Column("team", "Team", lambda row: row.team, href=lambda row: row.href),
        Column("last", "Last month", lambda row: row.last_micros, MONEY, csv="last_month",
               missing=NONE),
        Column("this", "This month", lambda row: row.this_micros, MONEY, csv="this_month",
               missing=NONE),
        CURRENCY_COLUMN,
    ),
    sort="teams",
)  # fmt: skip
Carried = Mapping[int, Mapping[date, Mapping[int, int]]]


def months_of(who: Context) -> tuple[date, date]:
    """The last month and this one, by their first days."""
    this = local_day(who.at, who.organisation.zone).replace(day=1)
    last = date(this.year - (this.month == 1), (this.month - 2) % 12 + 1, 1)
    return last, this


def tables(who: Context) -> tuple[list[CostRow], list[TeamRow]]:
    """Every shared cost, and what of it was allocated to each team."""
    months = months_of(who)
    costs, of = shared_cost_rows(), carried(months)
    teams = {team.id: team.name for team in accounts.teams()}
    return (
        [_cost_row(cost, of, teams, who) for cost in costs],
        _team_rows({cost.id: cost.name for cost in costs}, of, teams, months),
    )


def weights_said(cost: SharedCostRow, teams: Mapping[int, str]) -> str:
    """As in `Research 3, Search 1`."""
    return ", ".join(
        f"{teams[team_id]} {weight.normalize():f}" for team_id, weight in cost.weights.items()
    )


def _cost_row(cost: SharedCostRow, of: Carried, teams: Mapping[int, str], who: Context) -> CostRow:
    last, this = (_sum(of, cost.id, month) for month in months_of(who))
    standing = _standing(cost, who)
    is_weighted = bool(cost.weights) and standing != ENDED
    href = reverse("change-shared-weights", args=[cost.id]) if is_weighted else ""
    return CostRow(
        id=cost.id,
        name=cost.name,
        amount=quoted_amount(cost.amount, cost.currency),
        number=cost.amount,
        currency=cost.currency,
        method=METHODS[cost.method],
        weights=weights_said(cost, teams),
        starts_at=cost.starts_at,
        ends_at=cost.ends_at,
        standing=standing,
        last_micros=last,
        this_micros=this,
        end_href="" if standing == ENDED else reverse("end-shared-cost", args=[cost.id]),
        weights_href=href,
    )


def _standing(cost: SharedCostRow, who: Context) -> str:
    if cost.starts_at > who.at:
        return TO_COME
    return ENDED if cost.ends_at is not None and cost.ends_at <= who.at else IN_FORCE


def _sum(of: Carried, cost_id: int, month: date) -> int | None:
    teams = of.get(cost_id, {}).get(month)
    return None if teams is None else sum(teams.values())


def _team_rows(
    costs: Mapping[int, str], of: Carried, teams: Mapping[int, str], months: tuple[date, date]
) -> list[TeamRow]:
    """Of one name together, whatever weights it had; the highest of this month first."""
    sums: dict[tuple[str, int], dict[date, int]] = {}
    for cost_id, by_month in of.items():
        for month, by_team in by_month.items():
            for team_id, micros in by_team.items():
                months_of_team = sums.setdefault((costs.get(cost_id, ""), team_id), {})
                months_of_team[month] = months_of_team.get(month, 0) + micros
    last, this = months
    rows = [
        TeamRow(
            cost=name,
            team=teams[team_id],
            href=f"{reverse('costs-team', args=[team_id])}?{urlencode({'window': 'month'})}",
            last_micros=found.get(last),
            this_micros=found.get(this),
        )
        for (name, team_id), found in sums.items()
    ]
    return sorted(rows, key=lambda row: (row.cost, -(row.this_micros or row.last_micros or 0)))
