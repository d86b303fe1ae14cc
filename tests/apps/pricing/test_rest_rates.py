"""Rates over the wire: for finance and platform; platform enters and ends them."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache

from apps.marks.queries import Pass, hours_marked
from tests import make
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db

PRICE = {"amount": "41.50", "currency": "USD"}
CONTRACT = {
    "kind": "contract",
    "provider": "aws",
    "region": "us-east-1",
    "instance_type": "p5.48xlarge",
    "purchase_option": "on_demand",
    "price": PRICE,
    "starts_at": "2026-03-02T12:00:00Z",
    "ends_at": "2026-03-02T18:00:00Z",
}


@pytest.fixture(autouse=True)
def _organisation() -> None:
    cache.clear()
    make.make_organisation()


@pytest.fixture
def ada() -> Caller:
    return with_token("manage")


@pytest.mark.parametrize("role", ["lead", "viewer"])
def test_prices_are_not_for_leads_and_viewers(role: str) -> None:
    rate_id = make.make_rate("55.04")
    caller, _ = signed_in("cy@example.org", role, name="Cy")

    asked: list[Any] = [caller.get("rates"), caller.get(f"rates/{rate_id}")]
    asked += [caller.get("rates", accept="text/csv"), caller.post("rates/preview", CONTRACT)]
    asked.append(caller.post(f"rates/{rate_id}/end/preview", {"ended_at": CONTRACT["ends_at"]}))

    assert [answer.status_code for answer in asked] == [403] * 5
    assert not any(b"55.04" in answer.content for answer in asked)


def test_nor_for_a_teams_token() -> None:
    make.make_rate()
    caller = with_token("read", team_id=make.make_team("Research"))

    assert caller.get("rates").status_code == 403


def test_finance_reads_prices_and_enters_none() -> None:
    make.make_rate("55.04")
    caller, _ = signed_in("fin@example.org", "finance", name="Fin")

    (rate,) = caller.get("rates").json()["results"]

    assert rate["price"] == {"amount": "55.040000000", "currency": "USD"}
    assert caller.post("rates/preview", CONTRACT).status_code == 403
    assert caller.post("rates", CONTRACT).status_code == 403


def test_a_rate_is_entered_once(ada: Caller) -> None:
    made, again = ada.post("rates", CONTRACT), ada.post("rates", CONTRACT)

    assert (made.status_code, again.status_code) == (201, 200)
    assert made.json() == again.json()
    other = CONTRACT | {"price": PRICE | {"amount": "40"}}
    assert ada.post("rates", other).status_code == 409


def test_a_preview_says_what_entering_would_mark_and_enters_nothing(ada: Caller) -> None:
    pool_id = make.make_pool("h100")
    make.make_node("a", pool_id=pool_id)
    make.make_node("b", pool_id=pool_id, at=make.NOON + timedelta(hours=3))
    make.make_node("other", pool_id=make.make_pool("a100", instance_type="p4d.24xlarge"))
    marked = hours_marked(Pass.CHARGE, make.NOON + timedelta(days=2), 100)

    reach = ada.post("rates/preview", CONTRACT).json()

    assert reach == {
        "starts_at": "2026-03-02T12:00:00Z",
        "ends_at": "2026-03-02T18:00:00Z",
        "hours": 6,
        "node_hours": 9.0,
        "nodes": 2,
        "pools": [{"id": pool_id, "name": "h100"}],
    }
    assert ada.get("rates").json()["results"] == []
    assert hours_marked(Pass.CHARGE, make.NOON + timedelta(days=2), 100) == marked


def test_a_price_of_what_nobody_has_touches_nothing(ada: Caller) -> None:
    make.make_node("a")

    reach = ada.post("rates/preview", CONTRACT | {"instance_type": "p9.large"}).json()

    assert (reach["hours"], reach["nodes"], reach["pools"]) == (0, 0, [])


def test_a_rate_is_ended_once_and_the_preview_says_what_that_leaves_unpriced(ada: Caller) -> None:
    make.make_node("a", pool_id=make.make_pool("h100"))
    rate_id = ada.post("rates", CONTRACT).json()["id"]
    end = {"ended_at": "2026-03-02T15:30:00Z"}

    reach = ada.post(f"rates/{rate_id}/end/preview", end).json()
    ended, again = (ada.post(f"rates/{rate_id}/end", end) for _ in range(2))

    assert (reach["hours"], reach["node_hours"]) == (3, 2.5)
    assert ended.json() == again.json()
    assert ended.json()["ends_at"] == "2026-03-02T15:30:00Z"


def test_rates_in_force_are_found_by_a_moment_and_history_stays(ada: Caller) -> None:
    ada.post("rates", CONTRACT)
    later = {"starts_at": "2026-03-02T18:00:00Z", "ends_at": None}
    ada.post("rates", CONTRACT | later | {"price": PRICE | {"amount": "39.9"}})

    def amounts(**parameters: str) -> list[str]:
        found = ada.get("rates", **parameters).json()["results"]
        return [row["price"]["amount"] for row in found]

    assert amounts() == ["41.500000000", "39.900000000"]
    assert amounts(in_force_at="2026-03-02T17:59:59Z") == ["41.500000000"]
    assert amounts(in_force_at="2026-03-02T18:00:00Z") == ["39.900000000"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"price": {"amount": 41.5, "currency": "USD"}}, "price.amount"),
        ({"price": {"amount": "1e3", "currency": "USD"}}, "price.amount"),
        ({"price": {"amount": "0.0000000001", "currency": "USD"}}, "amount"),
        ({"price": {"amount": "1", "currency": "usd"}}, "price.currency"),
        ({"price": {"amount": "1", "currency": "USD", "colour": 1}}, "price.colour"),
        ({"quantity_seconds": 60}, "quantity_seconds"),
        ({"pool": "none"}, "pool"),
    ],
)
def test_a_price_that_is_none_is_named(ada: Caller, change: dict[str, Any], field: str) -> None:
    answer = ada.post("rates", CONTRACT | change)

    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]


@pytest.mark.parametrize(
    ("change", "title"),
    [
        ({"price": {"amount": "1", "currency": "EUR"}}, "Rate currency differs"),
        ({"ends_at": "2026-03-02T11:00:00Z"}, "Rate ends before it starts"),
        ({"gpu_model": "NVIDIA H100 80GB HBM3"}, "Rate not understood"),
    ],
)
def test_a_refusal_says_what_happened(ada: Caller, change: dict[str, Any], title: str) -> None:
    answer = ada.post("rates", CONTRACT | change)

    assert (answer.status_code, answer.json()["title"]) == (400, title)
