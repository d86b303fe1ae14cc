"""A capacity request is held against what is there beside what is expected there already, in its own pool and its own days."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from apps.economics.gates import Gate, GateName
from apps.economics.hours import HOUR
from apps.fleet.actions import end_node
from apps.planning import actions
from apps.planning.queries.request_words import (
    NO_DEMAND,
    NOT_SEEN,
    ONLY_THERE,
    request_gates,
)
from apps.planning.queries.requests import capacity_request
from apps.planning.queries.series import SeriesKey
from apps.planning.solvers.forecasting import forecast_fields
from tests import make
from tests.apps.console.people import signed_in, text_of
from tests.apps.planning.capacity_scene import raised

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 3, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def scene(of_module: None) -> tuple[int, int]:
    """The team, and its pool: two nodes of eight GPUs that are reserved, of which 12 GPUs are expected to be held."""
    make.make_organisation()
    team_id = make.make_team("Red")
    pool_id = make.make_pool("h100", purchase_option="reserved")
    for name in ("gpu-01", "gpu-02"):
        make.make_node(name, pool_id=pool_id, started_at=AT - 30 * DAY, at=AT)
    for key in (("pool", str(pool_id)), ("team", str(team_id))):
        points = [(AT - hour * HOUR, 12.0) for hour in range(1, 20 * 24)]
        actions.import_history(series=SeriesKey("gpu_hours", *key), points=points, at=AT)
    actions.make_forecasts(maker=forecast_fields, at=AT)
    return team_id, pool_id


def room_gate_of(team_id: int, **given: Any) -> Gate:
    sees_all = given.pop("sees_all", True)
    fact = capacity_request(raised(team_id, at=AT, **given), None)
    assert fact is not None
    (gate,) = [
        each for each in request_gates(fact, sees_all=sees_all) if each.name is GateName.CAPACITY
    ]
    return gate


@pytest.mark.parametrize(("gpus", "is_passed"), [(4, True), (5, False), (10_000, False)])
def test_what_is_expected_and_what_is_asked_for_are_there_together(
    scene: tuple[int, int], gpus: int, *, is_passed: bool
) -> None:
    team_id, pool_id = scene
    gate = room_gate_of(team_id, pool_id=pool_id, gpus=gpus)
    together = f"{12 + gpus:,} GPUs at once, and 16 are there"
    assert gate.is_passed is is_passed
    assert gate.says == f"pool h100: with the {gpus:,} asked for at most {together}"
    assert bool(gate.fallback) is not is_passed


def test_what_waits_is_said_with_what_it_costs(scene: tuple[int, int]) -> None:
    team_id, pool_id = scene
    policy = actions.EnteredHeadroomPolicy(
        "h100", "pool", str(pool_id), (), Decimal("6.5"), Decimal(2), 7
    )
    actions.add_headroom_policy(policy=policy, at=AT)
    request_id = raised(team_id, pool_id=pool_id, gpus=5, at=AT)
    page = text_of(signed_in("finance").get(f"/capacity-requests/{request_id}").content.decode())
    assert (
        "Not passed: pool h100: with the 5 asked for at most 17 GPUs at once, and 16 are there: "
        "what is there; what is beyond it waits, up to 1 GPU, at 6.50 USD an hour each."
    ) in page


def test_nodes_that_are_entered_to_come_or_go_count_from_then_on(scene: tuple[int, int]) -> None:
    team_id, pool_id = scene
    begins = AT + 5 * DAY
    make.make_node("gpu-03", pool_id=pool_id, started_at=begins, at=AT)
    days = {"pool_id": pool_id, "gpus": 12, "ends_at": begins + 9 * DAY}
    assert room_gate_of(team_id, starts_at=begins, **days).is_passed is True
    early = room_gate_of(team_id, starts_at=begins - HOUR, **days)
    assert (early.is_passed, "16 are there" in early.says) == (False, True)


def test_a_pool_without_nodes_has_none_whatever_other_pools_have(scene: tuple[int, int]) -> None:
    team_id, _ = scene
    empty = make.make_pool("empty", purchase_option="reserved")
    gate = room_gate_of(team_id, pool_id=empty, gpus=8)
    assert gate.is_passed is False
    assert gate.says == "pool empty: with the 8 asked for at most 8 GPUs at once, and 0 are there"
    gone = make.make_pool("gone", purchase_option="reserved")
    node_id = make.make_node("gpu-09", pool_id=gone, started_at=AT - 30 * DAY, at=AT)
    end_node(node_id=node_id, ended_at=AT - DAY, reason="", at=AT)
    assert room_gate_of(team_id, pool_id=gone, gpus=1).is_passed is False
    assert room_gate_of(team_id, gpu_model="B200", gpus=1).is_passed is False


def test_a_pool_that_scales_has_its_quota_and_without_one_no_bound(scene: tuple[int, int]) -> None:
    team_id, _ = scene
    spot = make.make_pool("spot", purchase_option="spot", provider="gcp")
    assert room_gate_of(team_id, pool_id=spot, gpus=8).is_passed is None
    actions.add_gpu_quota(quota=actions.EnteredGpuQuota("gcp", "", "", 24, 7), at=AT)
    untold = room_gate_of(team_id, pool_id=spot, gpus=24)
    assert (untold.is_passed, untold.says) == (None, f"pool spot: {NO_DEMAND}")
    assert room_gate_of(team_id, pool_id=spot, gpus=25).is_passed is False


def test_who_sees_one_team_is_told_of_what_is_asked_for_alone(scene: tuple[int, int]) -> None:
    team_id, pool_id = scene
    narrow = {"pool_id": pool_id, "sees_all": False}
    untold = room_gate_of(team_id, gpus=16, **narrow)
    assert (untold.is_passed, untold.says) == (None, f"pool h100: {NOT_SEEN}")
    over = room_gate_of(team_id, gpus=17, **narrow)
    assert (over.is_passed, over.fallback) == (False, ONLY_THERE)
    assert over.says == "pool h100: with the 17 asked for at most 17 GPUs at once, and 16 are there"


def test_an_open_request_and_one_whose_days_are_over_are_held_against_what_is_there(
    scene: tuple[int, int],
) -> None:
    team_id, pool_id = scene
    for days in ({"ends_at": None}, {"starts_at": AT - 9 * DAY, "ends_at": AT - DAY}):
        assert room_gate_of(team_id, pool_id=pool_id, gpus=5, **days).is_passed is False
        assert room_gate_of(team_id, pool_id=pool_id, gpus=4, **days).is_passed is True
