"""Hardware of one's own by browser: what it came to, and what a change would move before it is made."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from apps.ledger.models import Charge, Close
from apps.pricing.models import OwnedPlan
from apps.pricing.queries.owned import owned_plan
from tests import make
from tests.apps.console.people import confirmed, signed_in, words_of
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 2, 13, tzinfo=UTC)
MARCH = datetime(2026, 3, 1, tzinfo=UTC)
# In March 1 an hour is written off and 1 is staff; 10.2 kWh at 0.10 are 1.02.
ASKED = {
    "name": "rack 4",
    "nodes": "2",
    "purchase": "71424",
    "salvage": "0",
    "life_months": "48",
    "watts": "10200",
    "pue": "1",
    "starts_at": "2026-03-01T00:00",
    "ends_at": "",
    "monthly": "staff 1488",
    "power": "07:00 0.2, 22:00 0.1",
}


@pytest.fixture(autouse=True)
def _march(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()


def make_settled(**given: Any) -> int:
    """A plan whose one node lived from 10:00, charged until 13:00."""
    plan_id = scene.make_owned_plan("rack 4", starts_at=MARCH, **given)
    make.make_node("gpu-01", pool_id=owned_plan(plan_id).pool_id, started_at=scene.TEN, at=AT)
    scene.settle(AT, ends_at=AT)
    return plan_id


def test_without_any_plan_the_page_says_how_to_enter_one() -> None:
    page = words_of(signed_in("finance").get("/owned"))
    assert "No hardware was entered yet" in page
    assert "Enter what its nodes cost. Enter a plan" in page


def test_the_list_shows_loaded_and_marginal_and_what_is_left() -> None:
    make_settled()
    finance = signed_in("finance")
    page = words_of(finance.get("/owned"))
    assert "1 node of your own, of which $35,675 is not written off yet." in page
    # Three hours of 1 + 1 + 1.02 over 24 GPU-hours.
    row = "rack 4 pool of rack 4 1 $35,712.00 $37.00 $35,675.00 $0.378 $0.128 0 % of node-hours"
    assert row in page
    rows = finance.get("/owned.csv").content.decode().splitlines()
    assert rows[1] == (
        "rack 4,pool of rack 4,1,35712.000000,37.000000,35675.000000,0.377500,0.127500,USD,"
        "0\N{NO-BREAK SPACE}% of node-hours,in service,2026-03-01T00:00:00Z,"
    )


def test_a_plans_page_has_its_terms_months_costs_and_tariffs() -> None:
    plan_id = make_settled(nodes=2)
    finance = signed_in("finance")
    page = words_of(finance.get(f"/owned/{plan_id}"))
    assert "rack 4: $0.378 a GPU-hour fully loaded this month, $0.128 of it power" in page
    assert "March 2026 $37.00 $37.00 $3.06 $9.06 $3.00 24.0" in page
    assert "staff $744.00" in page
    assert "from 00:00 $0.10" in page
    told = finance.get(f"/owned/{plan_id}.csv").content.decode().splitlines()
    assert told[1].startswith("2026-03,37.000000,37.000000,3.060000,3.000000,9.060000,24.000000")
    assert finance.get("/owned/987654321").status_code == 404


def test_a_page_asks_the_database_at_most_fifteen_questions(
    django_assert_max_num_queries: Any,
) -> None:
    plan_id = make_settled(nodes=2)
    finance = signed_in("finance")
    for path in ("/owned", f"/owned/{plan_id}", f"/owned/{plan_id}/end?ended_at=2026-03-02T11:00"):
        finance.get(path)
        with django_assert_max_num_queries(15):
            assert finance.get(path).status_code == 200


def test_a_line_shows_what_its_hour_added_beside_what_it_cost_loaded() -> None:
    make_settled()
    charge = Charge.objects.filter(kind="node_hour").order_by("hour")[0]
    line = charge.lines.order_by("id")[0]
    finance = signed_in("finance")
    page = words_of(finance.get(f"/costs/lines/2026-03/{line.id}"))
    assert "Effective cost of all of it $3.02" in page
    assert "Marginal cost of all of it $1.02" in page
    assert "by its plate × 1 PUE at 0.1" in page


def test_a_plan_is_entered_after_what_it_moves_was_looked_at() -> None:
    pool_id = make.make_pool("own", provider="onprem", purchase_option="owned")
    scene.make_rate(pool_id, purchase_option="owned")
    make.make_node("gpu-01", pool_id=pool_id, started_at=scene.TEN, at=AT)
    scene.settle(AT, ends_at=AT)
    finance = signed_in("finance")
    asked = ASKED | {"pool": str(pool_id)}
    looked = words_of(finance.get("/owned/new", asked))
    # 3 × 98.32 before; 3 × (2 + 2) owed and 3 × 10.2 × 0.2 of power after.
    assert (
        "3 hours of open months are charged again: $294.96 becomes about $18.12, of which $12.00 "
        "is owed whether or not a node runs and $6.12 is power by the plates."
    ) in looked
    assert not OwnedPlan.objects.exists()
    done = confirmed(finance, "/owned/new", asked)
    plan = OwnedPlan.objects.get()
    assert done.headers["Location"] == f"/owned/{plan.id}"
    scene.settle(AT, ends_at=AT)
    assert sum(Charge.objects.values_list("effective_micros", flat=True)) == 18_120_000


@pytest.mark.parametrize(
    ("field", "entered", "said"),
    [
        ("pool", "0", "Choose one of the list."),
        ("nodes", "two", "Say a whole number, as in 8."),
        ("purchase", "much", "Say an amount in figures"),
        ("salvage", "71425", "71425 is more than the purchase."),
        ("monthly", "staff", "'staff' is not understood."),
        ("monthly", "staff 1, staff 2", "'staff 2' is not understood."),
        ("power", "", "Say what a kilowatt-hour costs, be it 0."),
        ("power", "7 0.2", "'7 0.2' is not understood."),
        ("power", "dear", "Say an amount in figures"),
        ("starts_at", "2026-03-01T00:30", "is not the beginning of an hour of UTC."),
    ],
)
def test_what_cannot_be_is_said_at_its_field(field: str, entered: str, said: str) -> None:
    pool_id = make.make_pool("own", provider="onprem", purchase_option="owned")
    finance = signed_in("finance")
    asked = ASKED | {"pool": str(pool_id), field: entered}
    assert said in words_of(finance.post("/owned/new", asked))
    assert not OwnedPlan.objects.exists()


def test_costs_and_tariff_change_from_an_hour_on() -> None:
    plan_id = make_settled()
    finance = signed_in("finance")
    opened = words_of(finance.get(f"/owned/{plan_id}/change"))
    assert "From an hour on" in opened
    asked = {"starts_at": "2026-03-02T12:00", "monthly": "staff 1488", "power": "0.3"}
    looked = words_of(finance.get(f"/owned/{plan_id}/change", asked))
    # Staff 1 more and power 2.04 more in the one hour since.
    assert "1 hour of open months are charged again: +$3.04, to $6.06." in looked
    assert confirmed(finance, f"/owned/{plan_id}/change", asked).status_code == 302
    scene.settle(AT, ends_at=AT)
    last = Charge.objects.order_by("hour").last()
    assert last is not None
    assert last.effective_micros == 6_060_000
    late = asked | {"starts_at": "2026-02-28T12:00"}
    said = words_of(finance.post(f"/owned/{plan_id}/change", late))
    assert "Rack 4 begins only at 2026-03-01 00:00Z." in said


def test_a_tariff_of_every_hour_stays_whole_when_it_is_changed() -> None:
    tariffs = {60 * hour: Decimal("0.1001") + hour for hour in range(24)}
    plan_id = make_settled(tariffs=tariffs)
    finance = signed_in("finance")
    page = finance.get(f"/owned/{plan_id}/change").content.decode()
    (power,) = re.findall(r'name="power" type="text" value="([^"]*)"', page)
    assert power.count(",") == 23
    asked = {"starts_at": "2026-03-02T12:00", "monthly": "staff 1488", "power": power}
    assert confirmed(finance, f"/owned/{plan_id}/change", asked).status_code == 302
    held = owned_plan(plan_id).tariffs_at(AT)
    assert [micros for _, micros in held] == [int(of * 10**6) for of in tariffs.values()]
    asked["power"] = f"{power}, " * 6
    said = words_of(finance.get(f"/owned/{plan_id}/change", asked))
    assert "Say it in at most 2,000 characters." in said


def test_an_end_says_what_is_owed_no_more_and_closed_months_stay() -> None:
    plan_id = make_settled()
    finance = signed_in("finance")
    asked = {"ended_at": "2026-03-02T11:00"}
    looked = words_of(finance.get(f"/owned/{plan_id}/end", asked))
    assert "2 hours of open months are charged again: $6.04 is owed no more" in looked
    Close.objects.create(
        month=MARCH.date(), version=1, closed_at=AT, cut_off=AT, digest="0" * 64, lines=0,
        checklist=[], totals={},
    )  # fmt: skip
    looked = words_of(finance.get(f"/owned/{plan_id}/end", asked))
    assert "No past hour of an open month changes" in looked
    assert "2 hours of closed months stay; corrections can be posted." in looked
    Close.objects.all().delete()
    assert confirmed(finance, f"/owned/{plan_id}/end", asked).status_code == 302
    page = words_of(finance.get(f"/owned/{plan_id}"))
    assert "End this plan" not in page
    assert "is over" not in page
    again = words_of(finance.post(f"/owned/{plan_id}/end", {"ended_at": "2026-03-02T12:00"}))
    assert "Rack 4 ended at 2026-03-02 11:00Z." in again


def test_plans_over_rest_are_for_who_sees_prices(client: Any) -> None:
    plan_id = make_settled()
    reads = make.make_token("read", "manage").secret
    answer = client.get("/api/v1/owned-plans", headers={"Authorization": f"Bearer {reads}"})
    (told,) = answer.json()["results"]
    assert (told["id"], told["written_off"], told["left"]) == (
        plan_id,
        "37.000000",
        "35675.000000",
    )
    assert told["tariffs"][0]["from_time"] == "00:00"
    team = make.make_token("read", name="theirs", team_id=make.make_team("Theirs")).secret
    answer = client.get("/api/v1/owned-plans", headers={"Authorization": f"Bearer {team}"})
    assert answer.status_code == 403
