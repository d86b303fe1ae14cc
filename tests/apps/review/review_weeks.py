"""Weeks of a small company's costs, put straight into the roll-ups."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from apps.accounts.queries import Viewer, viewer_of_user
from apps.ledger.models import LedgerDay, LedgerPoolDay, LedgerTeamDay
from apps.review.queries.weekly.weeks import review_week
from apps.workloads.actions.workloads import add_workload
from tests import make
from tests.apps.review.history import make_service_days

HOUR_MS = 3_600_000
DOLLAR = 1_000_000
WEEK = review_week("2026-W07")
"""From 2026-02-09 on: the sixth week of the history that services have."""
MONDAY = datetime(2026, 2, 16, 9, tzinfo=UTC)
ACTIVE, HELD_IDLE, UNALLOCATED = 1, 2, 6


def plant_cell(day: date, team_id: int, pool_id: int | None, **given: Any) -> None:
    """A day's lines of one kind in all the tables that sum them: 24 active GPU-hours at $2 unless said."""
    hours = given.pop("hours", 24)
    rate = given.pop("rate", 2)
    state = given.pop("state", ACTIVE)
    workload_id = given.pop("workload_id", None)
    micros = None if rate is None else hours * rate * DOLLAR
    milliseconds = hours * HOUR_MS
    is_held = state in (ACTIVE, HELD_IDLE)
    cell: dict[str, Any] = {
        "day": day,
        "posting_month": day.replace(day=1),
        "status": "estimated",
        "kind": "node_hour",
        "team_id": team_id,
        "unit": "gpu",
        "state": state,
        "flags": 0,
        **dict.fromkeys(("list_micros", "contracted_micros", "effective_micros"), micros),
        "unit_milliseconds": milliseconds,
        "held_milliseconds": milliseconds if is_held else 0,
        "observed_milliseconds": milliseconds if is_held else 0,
        "unpriced_milliseconds": 0 if micros is not None else milliseconds,
        **given,
    }
    LedgerTeamDay.objects.create(**cell)
    LedgerPoolDay.objects.create(**cell, pool_id=pool_id)
    LedgerDay.objects.create(
        **cell, pool_id=pool_id, workload_id=workload_id, is_of_job=workload_id is not None
    )


class Company:
    """Two teams: search has a service that answers, ads a training; platform what nobody held."""

    def __init__(self) -> None:
        make.make_organisation()
        self.petra: Viewer = viewer_of_user(
            make.make_person("petra@example.org", name="Petra", role="platform")
        )
        self.search, self.ads = make.make_team("search"), make.make_team("ads")
        self.pool = make.make_pool("h100")
        self.chat = add_workload(name="chat", team_id=self.search, kind="serving")
        self.train = add_workload(name="train", team_id=self.ads, kind="training")

    def plant(self, weeks: int = 6) -> None:
        """As many weeks of it up to WEEK; in the last the training has doubled, and half of it is idle."""
        make_service_days(self.chat, self.search, self.pool, price=lambda _: 2.0, days=6 * 7)
        first = WEEK.back(weeks - 1).first_day
        for place in range(weeks * 7):
            day = first + timedelta(days=place)
            plant_cell(day, self.search, self.pool, hours=100, workload_id=self.chat)
            plant_cell(day, self.ads, self.pool, workload_id=self.train)
            plant_cell(day, self.ads, self.pool, hours=3, state=UNALLOCATED)
            if day >= WEEK.first_day:
                more = {"workload_id": self.train, "state": HELD_IDLE}
                plant_cell(day, self.ads, self.pool, rate=3, **more)
