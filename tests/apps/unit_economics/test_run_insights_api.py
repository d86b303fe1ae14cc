"""What is told of runs over REST: figures as they are, refusals in words, and nobody else's."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from apps.accounts import queries as accounts
from apps.economics.run_time import Bucket
from tests import make
from tests.apps.unit_economics.planted_runs import (
    HOUR,
    TEN,
    make_programme,
    plant_attempt,
    plant_day,
    plant_run,
    plant_steps,
)

pytestmark = pytest.mark.django_db
MARCH = "2026-03"


def asked(path: str, secret: str, **query: str) -> Any:
    headers = {"Authorization": f"Bearer {secret}"}
    return Client().get(f"/api/v1/{path}", query, headers=headers)


def reader(**given: Any) -> str:
    return make.make_token("read", **given).secret


def test_where_a_runs_time_went_is_told_in_dollars_hours_and_words() -> None:
    run_id = plant_run("slow", make_programme())
    plant_day(run_id, {Bucket.PRODUCTIVE: 544, Bucket.DATA_WAIT: 96})

    told = asked(f"runs/{run_id}/bottlenecks", reader(), window=MARCH).json()

    assert told["cost"] == {"amount": "1600.000000", "currency": "USD"}
    assert [(each["bucket"], each["share_ratio"]) for each in told["buckets"]] == [
        ("data_wait", 0.15),
        ("productive", 0.85),
    ]
    (verdict,) = told["verdicts"]
    assert (verdict["name"], verdict["cost"]["amount"]) == ("Starved", "240.000000")
    assert verdict["causes_looked_for"] is False
    april = asked(f"runs/{run_id}/bottlenecks", reader(), window="2026-04").json()
    assert (april["words"], april["cost"]) == ("No GPU time was charged in this time.", None)


def test_scaling_is_answered_with_points_and_refused_in_words() -> None:
    workload_id = make_programme()
    path = f"workloads/{workload_id}/scaling"
    for days, gpus in enumerate((4, 2, 1)):
        plant_run(
            f"on {gpus}",
            workload_id,
            gpus=gpus,
            tokens=10**9,
            tokens_per_second=1000.0 * gpus,
            unit_milliseconds=10**9,
            effective_micros=10**9,
            began_at=TEN + timedelta(days=days),
            ended_at=TEN + timedelta(days=days + 1),
        )

    told = asked(path, reader(), window=MARCH, gpus="8").json()
    far = asked(path, reader(), window=MARCH, gpus="9").json()

    assert told["answer"]["speed_up"]["value"] == pytest.approx(8)
    # 10⁹ tokens at 1,000 a second of a GPU are 10⁶ seconds of it, at $1 a thousand of them.
    assert told["answer"]["version_cost"]["value"] == {"amount": "1000.000000", "currency": "USD"}
    assert {each["gpus"] for each in told["points"]} >= {1, 2, 4, 8}
    assert [each["gpus"] for each in told["runs"]] == [1, 2, 4]
    assert (far["answer"], far["points"]) == (None, [])
    assert far["words"].startswith("9 GPUs are over twice the largest run seen, 4")


def test_ranks_checkpoints_and_programmes_are_told() -> None:
    workload_id = make_programme()
    run_id = plant_run("told", workload_id)
    for rank in range(2):
        plant_steps(plant_attempt(run_id, rank=rank, host="gpu-01"), [1.0, 2.0])
    secret = reader()

    ranks = asked(f"runs/{run_id}/stragglers", secret).json()
    saved = asked(f"runs/{run_id}/checkpoints", secret).json()
    programme = asked(f"workloads/{workload_id}/programme", secret, window=MARCH).json()

    assert (ranks["ranks"], ranks["steps"], ranks["slowdown_factor"]) == (2, 2, 1.0)
    assert (saved["saves"], saved["advice"], saved["hazard"]["failures"]) == (0, None, 0)
    assert [each["run"]["name"] for each in programme["trend"]] == ["told"]
    assert (programme["runs"], programme["cost_per_version"]) == (1, None)


@pytest.mark.parametrize(
    "path",
    [
        "runs/{run}/bottlenecks",
        "runs/{run}/stragglers",
        "runs/{run}/checkpoints",
        "workloads/{workload}/bottlenecks",
        "workloads/{workload}/checkpoints",
        "workloads/{workload}/scaling",
        "workloads/{workload}/programme",
    ],
)
def test_what_is_another_teams_is_as_if_there_were_none(path: str) -> None:
    workload_id = make_programme(team="Research")
    run_id = plant_run("theirs", workload_id)
    strangers = reader(team_id=make.make_team("Harbour"))
    owners = reader(name="own", team_id=_team_id("Research"))
    address = path.format(run=run_id, workload=workload_id)

    assert asked(address, owners).status_code == 200
    refused = asked(address, strangers)
    nothing = asked(path.format(run=10**6, workload=10**6), strangers)
    assert (refused.status_code, nothing.status_code) == (404, 404)


def test_a_window_nobody_understands_is_refused_by_its_name() -> None:
    run_id = plant_run("any", make_programme())
    refused = asked(f"runs/{run_id}/stragglers", reader(), window="yesteryear")
    assert refused.status_code == 400
    assert [each["field"] for each in refused.json()["errors"]] == ["window"]


def test_without_a_window_a_run_is_told_of_as_a_whole() -> None:
    run_id = plant_run("long ago", make_programme(), ended_at=TEN + HOUR)
    plant_day(run_id, {Bucket.PRODUCTIVE: 1})
    assert asked(f"runs/{run_id}/bottlenecks", reader()).json()["gpu_hours"] == 1.0


def _team_id(name: str) -> int:
    return next(each.id for each in accounts.teams() if each.name == name)
