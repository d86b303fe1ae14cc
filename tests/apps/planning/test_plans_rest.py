"""/api/v1/plans: a plan is sent whole, and answered by week; for who sees prices."""

import csv
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.economics.run_time import Bucket
from tests import make
from tests.apps.ledger import scene
from tests.apps.planning.crossover_scene import make_served_team
from tests.apps.planning.plan_scene import (
    AT,
    TWO_TO_TWELVE,
    forecast_by_scenarios,
    launch,
    planned,
    reserved_pool,
)
from tests.apps.unit_economics import run_scene

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
        (
            plan(
                {
                    name: value
                    for name, value in (CHAT | {"like_service": "nobody"}).items()
                    if name != "tokens_per_gpu_hour"
                }
            ),
            "like_service",
        ),
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


def test_planned_work_is_as_fast_as_a_run_and_a_service_were_measured(monkeypatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: AT)
    job_id = scene.make_job("1", scene.make_priced_node("gpu-02"))
    hour = (scene.TEN, scene.TEN + scene.HOUR)
    tokens = 216_000_000
    run_id = run_scene.make_run(
        "llama", (job_id, *hour), tokens=tokens, gpus=8, status="finished",
        model={"active_parameters": 8e9, "precision": "bf16"}, began_at=hour[0], ended_at=hour[1],
    )  # fmt: skip
    run_scene.tell(run_id, job_id, {Bucket.PRODUCTIVE: 60}, step_ms=3_600_000, tokens=tokens)
    scene.settle()
    make_served_team()
    llm = {name: value for name, value in TRAINING.items() if name != "mfu"}
    llm |= {"parameters": 8e9, "tokens": 10 * tokens, "like_run": "llama"}
    chat = {name: value for name, value in CHAT.items() if name != "tokens_per_gpu_hour"}
    chat |= {"requests_by_week": [210], "like_service": "chat-api"}
    client = with_token("manage", name="planner")
    told = client.post(PATH, plan(llm, chat), format="json").json()
    by_name = {item["name"]: item for item in told["items"]}
    assert by_name["llm"]["gpu_hours"] == pytest.approx(80), "ten times what eight did in an hour"
    assert by_name["llm"]["mfu"] == pytest.approx(60_000 * 6 * 8e9 / (8 * 989.4e12))
    # 12 hours of 1,000 requests and 12 of 50, 800 tokens each, on two GPUs.
    assert by_name["chat"]["tokens_per_gpu_hour"] == pytest.approx(12 * 1050 * 800 / 48)
    assert by_name["chat"]["gpu_hours"] == pytest.approx(4)


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


def test_a_plan_is_changed_copied_and_removed_and_its_history_stays() -> None:
    make.make_person("finn@example.com", name="Finn", role="finance")
    client = with_token("manage", name="planner")
    made = client.post(PATH, plan(CHAT), format="json").json()
    at, item = f"{PATH}/{made['id']}", f"{PATH}/{made['id']}/items/{made['items'][0]['id']}"
    terms = {"name": "autumn", "description": "Later.", "first_day": "2026-03-09", "weeks": 2}
    told = client.put(at, terms | {"owner": "finn@example.com"}, format="json").json()
    assert (told["name"], told["owner"], told["planned_gpu_hours"]) == ("autumn", "Finn", 300)
    told = client.put(item, CHAT | {"requests_by_week": [4e6]}, format="json").json()
    assert told["planned_gpu_hours"] == 800
    told = client.post(f"{at}/items", TRAINING, format="json").json()
    assert [each["kind"] for each in told["items"]] == ["launch", "training"]
    copied = client.post(f"{at}/copies", {"name": "autumn too"}, format="json")
    assert copied.status_code == 201
    assert (copied.json()["variant_of"], copied.json()["planned_gpu_hours"]) == (
        made["id"],
        told["planned_gpu_hours"],
    )
    assert [each["name"] for each in client.delete(item).json()["items"]] == ["llm"]
    history = client.get(f"{at}/history").json()["results"]
    assert {each["who"] for each in history} == {"token planner"}
    assert len(history) == 6
    assert client.delete(at).json()["name"] == "autumn"
    assert client.get(at).status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("", {"owner": "nobody@example.com"}, "owner"),
        ("", {"owner": "dee@example.com"}, "owner"),
        ("", {"weeks": 105}, "weeks"),
        ("/copies", {"name": "b", "pool": "h900"}, "pool"),
        ("/items", {**CHAT, "name": "chat"}, "name"),
        ("/items", {**CHAT, "name": "nul\x00"}, "name"),
    ],
)
def test_what_is_wrong_with_a_change_is_refused_by_its_field(path, body, field) -> None:
    make.make_person("dee@example.com", role="lead")
    client = with_token("manage", name="planner")
    plan_id = client.post(PATH, plan(CHAT), format="json").json()["id"]
    terms = {"name": "autumn", "first_day": "2026-03-09", "weeks": 2}
    send = client.post if path else client.put
    answer = send(f"{PATH}/{plan_id}{path}", body if path else terms | body, format="json")
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]


def test_nobody_but_finance_and_platform_changes_or_reads_the_history_of_a_plan() -> None:
    owner = with_token("manage", name="planner")
    made = owner.post(PATH, plan(CHAT), format="json").json()
    at, item = f"{PATH}/{made['id']}", made["items"][0]["id"]
    team_id = make.make_team("Blue")
    terms = {"name": "autumn", "first_day": "2026-03-09", "weeks": 2}
    reading = with_token("read", name="reader")
    assert reading.get(f"{at}/history").status_code == 200
    for client in (reading, with_token("manage", name="blue", team_id=team_id)):
        for answer in (
            client.put(at, terms, format="json"), client.delete(at),
            client.post(f"{at}/copies", {"name": "b"}, format="json"),
            client.post(f"{at}/items", TRAINING, format="json"),
            client.put(f"{at}/items/{item}", CHAT, format="json"),
            client.delete(f"{at}/items/{item}"),
        ):  # fmt: skip
            assert answer.status_code == 403
    assert (
        with_token("read", name="of blue", team_id=team_id).get(f"{at}/history").status_code == 403
    )
    assert owner.get(at).json() == made


def test_bands_go_with_every_figure_and_a_low_without_a_high_is_refused(
    pool_id, monkeypatch
) -> None:
    monkeypatch.setattr(timezone, "now", lambda: AT)
    forecast_by_scenarios(pool_id, TWO_TO_TWELVE)
    client = with_token("manage", name="planner")
    told = client.post(PATH, plan(CHAT | {"low": 0.5, "high": 2}), format="json").json()
    assert [told["items"][0][end] for end in ("low", "high")] == [0.5, 2]
    band = told["by_week"][0]["bands"]["expected_gpu_hours"]
    assert band == pytest.approx({"low": 504, "likely": 1176, "high": 1848})
    assert told["by_month"][0]["bands"]["total_cost"]["low"]["currency"] == "USD"
    assert told["longest_wait"]["low"] <= told["longest_wait_hours"] <= told["longest_wait"]["high"]
    answer = client.post(PATH, plan(CHAT | {"low": 0.5}, name="half"), format="json")
    assert [error["field"] for error in answer.json()["errors"]] == ["high"]
