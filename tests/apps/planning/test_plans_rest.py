"""/api/v1/plans: a plan is sent whole, and answered by week; for who sees prices."""

import csv
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests import make
from tests.apps.planning.plan_scene import launch, planned, reserved_pool

pytestmark = pytest.mark.django_db
PATH = "/api/v1/plans"


def with_token(*scopes: str, **given: Any) -> APIClient:
    return APIClient(HTTP_AUTHORIZATION=f"Bearer {make.make_token(*scopes, **given).secret}")


def plan(*items: dict[str, Any], **given: Any) -> dict[str, Any]:
    return {
        "name": "spring", "pool": "h100", "first_day": "2026-03-09", "weeks": 4,
        "items": list(items),
    } | given  # fmt: skip


CHAT = {
    "kind": "launch", "name": "chat", "starts_on": "2026-03-09", "requests_by_week": [1e6, 2e6],
    "tokens_per_request": 1000, "tokens_per_gpu_hour": 1e7,
}  # fmt: skip
TRAINING = {
    "kind": "training", "name": "llm", "starts_on": "2026-03-09", "gpus": 8, "parameters": 7e9,
    "tokens": 1e12, "mfu": 0.4,
}  # fmt: skip


@pytest.fixture(autouse=True)
def pool_id() -> int:
    make.make_organisation()
    return reserved_pool(expected=None)


def test_a_plan_is_kept_whole_and_answered_by_week() -> None:
    client = with_token("manage", name="planner")
    made = client.post(PATH, plan(CHAT), format="json")
    assert made.status_code == 201
    told = made.json()
    assert (told["owner"], told["planned_gpu_hours"], told["total_cost"]) == ("a token", 700, None)
    assert [week["planned_gpu_hours"] for week in told["by_week"]] == [100, 200, 200, 200]
    assert told["items"][0]["requests_by_week"] == [1e6, 2e6]
    assert client.get(f"{PATH}/{told['id']}").json() == told
    assert client.post(PATH, plan(), format="json").status_code == 409
    assert client.get(f"{PATH}/987654").status_code == 404


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (plan(pool="h200"), "pool"),
        (plan(gpu_model="B200"), "pool"),
        (plan(TRAINING | {"like_run": "llama"}), "mfu"),
        (plan({**TRAINING, "mfu": 1.5}), "mfu"),
        (plan({name: value for name, value in TRAINING.items() if name != "gpus"}), "gpus"),
        (plan({**CHAT, "tokens_per_gpu_hour": 0}), "tokens_per_gpu_hour"),
        (plan({"kind": "price", "name": "p", "starts_on": "2026-03-09"}), "factor"),
        (plan(weeks=0), "weeks"),
    ],
)
def test_what_is_wrong_is_refused_by_its_field(body, field) -> None:
    answer = with_token("manage", name="planner").post(PATH, body, format="json")
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]


def test_plans_are_for_who_sees_prices_and_come_as_csv(pool_id: int) -> None:
    planned(pool_id, launch())
    team = with_token("read", name="red", team_id=make.make_team("Red"))
    assert team.get(PATH).status_code == 403
    reader = with_token("read", name="all")
    assert reader.post(PATH, plan(name="other"), format="json").status_code == 403
    table = reader.get(PATH, headers={"Accept": "text/csv"}).content.decode()
    (row,) = csv.DictReader(table.splitlines())
    assert (row["name"], row["planned_cost"], row["committed_gpus"]) == (
        "spring", "1400.000000", "8",
    )  # fmt: skip
