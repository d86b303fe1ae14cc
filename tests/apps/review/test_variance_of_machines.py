"""Two weeks of H100s, T4s and cores, whose differences are known by hand: the explorer, its file, REST and a review say the same."""

from collections.abc import Callable
from datetime import date

import pytest

from apps.ledger.models import LedgerPoolDay
from apps.ledger.queries.cube import CubeQuestion, variance_of, variances_by_team
from apps.ledger.queries.windows import Window
from apps.review.queries.weekly.week_reading import week_variance
from tests import make
from tests.apps.console.people import csv_rows
from tests.apps.console.people import signed_in as browser_of
from tests.rest import with_token

pytestmark = pytest.mark.django_db

BEFORE, AFTER = date(2026, 3, 2), date(2026, 3, 9)
AFTER_WINDOW = Window("", AFTER, date(2026, 3, 16), "UTC")
BEFORE_WINDOW = Window("", BEFORE, AFTER, "UTC")
DOLLAR, HOUR_MS = 1_000_000, 3_600_000
Paid = Callable[..., None]


@pytest.fixture
def paid() -> Paid:
    """Puts hours of a pool on a day at a price: by default on demand and at work, of the first team."""
    make.make_organisation()
    teams = [make.make_team(), make.make_team("Inference")]

    def of_pool(
        day: date,
        pool_id: int,
        hours: int,
        price: float,
        *,
        option: str = "on_demand",
        **given: int,
    ) -> None:
        cores = bool(given.get("cores"))
        model = "" if cores else "T4" if given.get("t4") else "H100"
        micros, time = round(hours * price * DOLLAR), hours * HOUR_MS
        LedgerPoolDay.objects.create(
            day=day,
            posting_month=day.replace(day=1),
            status="estimated",
            kind="node_hour",
            unit="core" if cores else "gpu",
            team_id=teams[given.get("team", 0)],
            pool_id=pool_id,
            gpu_model=model,
            purchase_option=option,
            state=given.get("state", 1),
            flags=0,
            list_micros=micros,
            contracted_micros=micros,
            effective_micros=micros,
            unit_milliseconds=time,
            held_milliseconds=time,
            observed_milliseconds=time,
            unpriced_milliseconds=0,
        )

    return of_pool


def causes_by_face() -> list[dict[str, int]]:
    """In whole dollars those causes that moved it: on the explorer's file, over REST, in a review, and of each team summed."""
    question = CubeQuestion(AFTER_WINDOW, against=BEFORE_WINDOW)
    given = {"window": "2026-03-09/2026-03-16", "compare": "2026-03-02/2026-03-09"}
    file = csv_rows(browser_of("finance").get("/costs.csv", given | {"table": "causes"}))
    over_rest = with_token("read").get("costs/explore", **given).json()["variance"]
    frozen = week_variance(variance_of(question))
    faces = [
        {row["cause"].split()[0].lower(): float(row["change"]) for row in file},
        {name: float(over_rest[name]["amount"]) for name in frozen.causes},
        {name: micros / DOLLAR for name, micros in frozen.causes.items()},
    ]
    by_team = variances_by_team(question)
    for team in by_team.values():
        assert team is not None
        assert sum(team.causes.values()) == team.after_micros - team.before_micros
    return [{name: round(amount) for name, amount in face.items() if amount} for face in faces]


def test_t4s_and_cores_that_came_beside_h100s_are_capacity(paid: Paid) -> None:
    h100 = make.make_pool("h100")
    t4 = make.make_pool("t4", instance_type="g4dn.xlarge", gpu_model="T4", gpus_per_node=1)
    cores = make.make_pool(
        "cpu", instance_type="c7i.metal", gpu_model="", gpus_per_node=0, unit="core"
    )
    for day, t4_hours, core_hours in ((BEFORE, 100, 2000), (AFTER, 300, 6000)):
        paid(day, h100, 100, 10)
        paid(day, t4, t4_hours, 0.5, t4=1, team=1)
        paid(day, cores, core_hours, 0.05, cores=1, team=1)

    # 200 hours at .50, and 4,000 at .05.
    assert causes_by_face() == [{"capacity": 300}] * 3


def test_a_move_to_spot_is_mix_in_one_pool_and_between_pools_and_a_new_rate_is_price(
    paid: Paid,
) -> None:
    one, other = make.make_pool("mixed"), make.make_pool("spot", purchase_option="spot")
    paid(BEFORE, one, 100, 10)
    paid(AFTER, one, 40, 11)
    paid(AFTER, one, 30, 4, option="spot")
    paid(AFTER, other, 30, 4, option="spot", team=1)

    # 60 hours at 6 less; 40 at 1 more.
    assert causes_by_face() == [{"mix": -360, "price": 40}] * 3


def test_a_pool_that_takes_the_place_of_one_alike_at_another_rate_is_price(paid: Paid) -> None:
    paid(BEFORE, make.make_pool("h100"), 100, 10)
    paid(AFTER, make.make_pool("h100-new"), 100, 8)

    assert causes_by_face() == [{"price": -200}] * 3


def test_machines_that_stood_while_their_work_fell_moved_nothing(paid: Paid) -> None:
    pool_id = make.make_pool("h100")
    paid(BEFORE, pool_id, 100, 10)
    paid(AFTER, pool_id, 20, 10)
    paid(AFTER, pool_id, 80, 10, state=6)

    assert causes_by_face() == [{}] * 3
