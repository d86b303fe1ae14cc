"""GET /api/v1/costs answers sums with how sure they are, and refuses what it does not know."""

import csv
import io
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client, override_settings

from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db

DAY = "2026-03-02"


@pytest.fixture(scope="module", autouse=True)
def _settled(of_module: None) -> Iterator[None]:
    with override_settings(TAG_KEYS=("project",)):
        make_settled()
        yield


def make_settled() -> None:
    make.make_organisation()
    pool_id = make.make_pool("h100")
    node_id = scene.make_priced_node(pool_id=pool_id, started_at=scene.TEN)
    uuids = scene.make_gpus(node_id)
    scene.make_rule("research", make.make_team("=Research"))
    scene.make_job("1", node_id, gpus=2, uuids=uuids[:2], labels={"project": "llm"})
    scene.make_job("2", node_id, gpus=1, uuids=uuids[2:3], account="other")
    scene.make_usage(scene.device_ids(uuids)[0], [240] * 60)
    make_unpriced()
    scene.settle(ends_at=scene.TEN + scene.HOUR)


def make_unpriced() -> None:
    make.make_node(
        "old-01", at=scene.LATER, started_at=scene.TEN, pool_id=make.make_pool("l40s"), units=1
    )


@pytest.fixture
def token() -> str:
    return make.make_token("read").secret


def get(token: str, accept: str = "application/json", **given: str) -> Any:
    parameters = {"window": DAY} | {name.replace("__", "."): text for name, text in given.items()}
    return Client().get(
        "/api/v1/costs",
        parameters,
        headers={"Authorization": f"Bearer {token}", "Accept": accept},
    )


def test_totals_are_exact_and_say_how_sure_they_are(token: str) -> None:
    body = get(token).json()

    assert body["totals"]["cost"] == {"amount": "98.320000", "currency": "USD"}
    assert body["totals"]["gpu_hours"] == 9
    assert body["totals"]["unpriced_hours"] == 1
    assert body["meta"]["window"]["starts_at"] == "2026-03-02T00:00:00Z"
    assert body["meta"]["basis"] == "effective"
    assert body["meta"]["status"] == "estimated"
    assert body["meta"]["coverage"] == pytest.approx(1 / 3, abs=1e-6)
    assert body["meta"]["as_of"] == "2026-03-02T11:00:00Z"
    assert body["meta"]["pending_hours"] == 13


def test_groups_sum_to_the_total_and_name_what_they_are(token: str) -> None:
    results = get(token, group_by="team,state").json()["results"]

    found = {
        (result["team"]["name"], result["state"]): result["cost"] and result["cost"]["amount"]
        for result in results
    }
    assert found == {
        ("Platform", "unallocated"): "61.450000",
        ("Unowned", "unobserved"): "12.290000",
        ("=Research", "active"): "12.290000",
        ("=Research", "unobserved"): "12.290000",
    }


def test_tags_group_and_filter(token: str) -> None:
    grouped = get(token, group_by="tag.project").json()["results"]
    filtered = get(token, tag__project="llm").json()["totals"]

    assert {result["tag.project"]: result["gpu_hours"] for result in grouped} == {None: 7, "llm": 2}
    assert filtered["cost"]["amount"] == "24.580000"


@pytest.mark.parametrize(
    ("given", "amount"),
    [
        ({"team": "=Research"}, "24.580000"),
        ({"pool": "l40s"}, None),
        ({"state": "active,unobserved"}, "36.870000"),
        ({"workload": "none"}, "98.320000"),
        ({"tag__project": "llm,none"}, "98.320000"),
        ({"provider": "aws"}, "98.320000"),
        ({"user": "none"}, "61.450000"),
        ({"node": "gpu-01", "team": "=Research"}, "24.580000"),
        ({"basis": "billed"}, None),
        ({"basis": "list"}, "98.320000"),
        ({"window": "2026-03-01"}, None),
        ({"window": "2026-03"}, "98.320000"),
        ({"window": "2026-03-02T00:00:00Z/2026-03-03T00:00:00Z"}, "98.320000"),
    ],
)
def test_filters_narrow_the_sum_and_unknown_stays_null(
    token: str, given: dict[str, str], amount: str | None
) -> None:
    cost = get(token, **given).json()["totals"]["cost"]

    assert (cost and cost["amount"]) == amount


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"windw": "7d"}, "windw"),
        ({"group_by": "colour"}, "group_by"),
        ({"basis": "blended"}, "basis"),
        ({"team": "Nobody"}, "team"),
        ({"state": "tired"}, "state"),
        ({"workload": "nothing"}, "workload"),
        ({"node": "gpu-99"}, "node"),
        ({"run": "1"}, "run"),
        ({"group_by": "node"}, "group_by"),
        ({"group_by": "user", "node": "gpu-01"}, "group_by"),
        ({"window": "soon"}, "window"),
        ({"window": "2026-03-02T10:00:00Z/2026-03-03"}, "window"),
        ({"window": "2026-03-03/2026-03-02"}, "window"),
        ({"window": "2026-13"}, "window"),
        ({"tag__colour": "red"}, "tag.colour"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(
    token: str, given: dict[str, str], field: str
) -> None:
    response = get(token, **given)

    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"
    assert [error["field"] for error in response.json()["errors"]] == [field]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cluster", {None: "98.320000"}),
        ("provider", {"aws": "98.320000"}),
        ("month", {"2026-03-01": "98.320000"}),
        ("week", {"2026-03-02": "98.320000"}),
        ("node", {"gpu-01": "98.320000"}),
    ],
)
def test_sums_are_told_by_any_dimension_that_they_are_kept_by(
    token: str, name: str, expected: dict[str | None, str]
) -> None:
    results = get(token, group_by=name, pool="h100").json()["results"]

    found = {
        result[name]["name"] if isinstance(result[name], dict) else result[name]: result["cost"]
        for result in results
    }
    assert {key: cost["amount"] for key, cost in found.items()} == expected


def test_csv_has_the_same_rows_and_starts_no_formula(token: str) -> None:
    response = get(token, accept="text/csv", group_by="team")

    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert response["Content-Type"].startswith("text/csv")
    assert {row["team"]: row["cost"] for row in rows} == {
        "Platform": "61.450000",
        "Unowned": "12.290000",
        "'=Research": "24.580000",
    }
    assert {row["currency"] for row in rows} == {"USD"}


def test_a_problem_asked_for_as_csv_is_still_a_problem(token: str) -> None:
    response = get(token, accept="text/csv", windw="7d")

    assert response.status_code == 400
    assert response.json()["errors"][0]["field"] == "windw"


def test_only_tokens_that_may_read_are_answered() -> None:
    assert get("rr_nonsense").status_code == 401
    assert get(make.make_token("ingest").secret).status_code == 403
    assert Client().get("/api/v1/costs").status_code in (401, 403)


def test_a_running_day_is_provisional() -> None:
    now = datetime.now(tz=scene.TEN.tzinfo).replace(minute=0, second=0, microsecond=0)
    pool_id = make.make_pool("new")
    scene.make_priced_node("gpu-02", pool_id=pool_id, started_at=now - timedelta(hours=1), at=now)
    scene.settle(now, starts_at=now - timedelta(hours=1), ends_at=now)

    body = get(make.make_token("read").secret, window="2d", pool="new").json()

    assert body["meta"]["status"] == "provisional"
    assert body["totals"]["cost"]["amount"] == "98.320000"
