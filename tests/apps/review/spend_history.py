"""Weeks of spend put straight into the roll-ups: a shared pool, teams, workloads and users."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from apps.ledger.models import LedgerDay, LedgerPoolDay, LedgerTeamDay, LedgerUserDay
from apps.review.models import AnomalyVerdict, SpendAnomaly
from tests.apps.review.history import noise
from tests.copied_rows import copy_rows

FIRST = date(2026, 1, 5)
"""A Monday."""
HOUR_MS = 3_600_000
WEEK = (1.0, 1.0, 1.05, 1.0, 0.95, 0.6, 0.5)
Dollars = Callable[[int], float]


@dataclass(frozen=True)
class Spender:
    """Who spends in which pool; `hours` GPU-hours and `price` dollars an hour, by day."""

    team_id: int
    workload_id: int | None
    pool_id: int | None
    hours: Dollars
    price: Dollars = lambda _: 2.0
    user: str = "ada"
    kind: str = "node_hour"


def usual(number: int, size: float = 100.0) -> Dollars:
    """GPU-hours with a week and a little noise, the same each time."""
    return lambda day: size * WEEK[day % 7] * noise(1_000 * number + day, 0.04)


def write_days(spenders: list[Spender], first: int, last: int, status: str = "estimated") -> None:
    """The days `[first, last)` of each in all roll-ups."""
    tables: dict[Any, list[dict[str, Any]]] = {LedgerDay: [], LedgerTeamDay: [], LedgerPoolDay: [], LedgerUserDay: []}  # fmt: skip
    for day in range(first, last):
        on = FIRST + timedelta(days=day)
        for each in spenders:
            hours, is_time = each.hours(day), each.kind == "node_hour"
            micros = round(hours * each.price(day) * 1_000_000)
            ms = round(hours * HOUR_MS) if is_time else 0
            values = {
                "day": on, "posting_month": on.replace(day=1), "status": status, "kind": each.kind,
                "state": 1 if is_time else None, "flags": 0, "list_micros": micros,
                "contracted_micros": micros, "effective_micros": micros, "billed_micros": micros,
                "unit_milliseconds": ms, "held_milliseconds": ms, "observed_milliseconds": ms,
                "unpriced_milliseconds": 0, "team_id": each.team_id,
            }  # fmt: skip
            tables[LedgerTeamDay].append(values)
            tables[LedgerPoolDay].append(values | {"pool_id": each.pool_id})
            of_job = {"workload_id": each.workload_id, "pool_id": each.pool_id, "is_of_job": True}
            tables[LedgerDay].append(values | of_job)
            tables[LedgerUserDay].append(values | of_job | {"user_name": each.user})
    for table, found in tables.items():
        copy_rows(table, found)


def spend_anomaly_of(team_id: int, name: str, at: datetime) -> dict[str, int]:
    """An anomaly of a team's spend that is muted, by the names of its ids in addresses."""
    found = SpendAnomaly.objects.create(
        subject="team", key=str(team_id), name=name, team_id=team_id, began_on=at.date(),
        first_seen_on=at.date(), last_seen_on=at.date(), days=1, expected_micros=613_000_000,
        spent_micros=977_000_000, parts=[{"name": "volume", "micros": 364_000_000}],
        drivers=[{"dimension": "user", "rows": [{"name": "ada", "micros": 364_000_000}]}],
    )  # fmt: skip
    said = AnomalyVerdict.objects.create(
        verdict="muted", series=f"spend_team|{team_id}", at=at, who="Petra", reason="a launch"
    )
    return {"anomaly_id": found.pk, "verdict_id": said.pk}
