"""POST /api/v1/placements/{job}/next: the closed rule at once, a plan once a worker solved it."""

from typing import Any

import pytest
from django.utils import timezone

from apps.economics.spot.zones import fitted_zone
from apps.placement.actions import SpotPlace, keep_spot_series, solve_spot_plans
from apps.placement.models import KeptSpotPlan
from tests import make
from tests.apps.ledger import scene
from tests.economics.spot_traces import coin_trace, square_wave, trace_of
from tests.rest import Caller, with_token

pytestmark = pytest.mark.django_db
ASKED = {
    "mode": "spot",
    "work_left_hours": 21,
    "hours_to_deadline": 30,
    "restart_hours": 0.1,
    "on_demand": 3.06,
    "spot": 0.918,
    "spot_is_up": True,
    "spot_state_hours": 2.0,
}


@pytest.fixture
def job_id() -> int:
    make.make_organisation()
    return scene.make_job("4711", make.make_node("gpu-01"))


@pytest.fixture
def caller(job_id: int) -> Caller:
    return with_token("manage", name="scheduler")


def answer(caller: Caller, job_id: int, status: int = 200, **other: Any) -> dict[str, Any]:
    response = caller.post(f"placements/{job_id}/next", ASKED | other)
    assert response.status_code == status, response.content
    return response.json()


def keep(trace, name: str = "west-2b") -> int:
    return keep_spot_series(
        name=name, trace=trace, place=SpotPlace(), source="a test", at=timezone.now()
    )


def solve() -> int:
    return solve_spot_plans(solver=fitted_zone, clock=timezone.now)


def test_without_a_series_the_closed_rule_answers_and_says_so(caller, job_id) -> None:
    told = answer(caller, job_id)
    assert (told["action"], told["mode"], told["deadline"]) == ("stay", "spot", "guaranteed")
    assert told["decided_by"] == "uniform_progress"
    assert told["reason"] == "9.0 h of slack: spot that is up is kept"
    assert (told["slack_hours"], told["risk_hours"]) == (9.0, 8.7)
    assert told["break_even_life_hours"] == pytest.approx(0.142857)
    assert (told["evidence"], told["plan_is_asked"], told["plan_solved_at"]) == (None, False, None)


def test_near_the_deadline_it_falls_back(caller, job_id) -> None:
    told = answer(caller, job_id, mode="idle", hours_to_deadline=21.2)
    assert (told["action"], told["decided_by"]) == ("fall_back_to_on_demand", "safety_net")
    late = answer(caller, job_id, mode="idle", hours_to_deadline=20)
    assert late["deadline"] == "late"
    assert "cannot be met" in late["reason"]


def test_a_pace_since_its_start_is_kept_where_totals_are_given(caller, job_id) -> None:
    on_demand = {"mode": "on_demand", "work_hours": 48, "deadline_hours": 60}
    behind = answer(caller, job_id, **on_demand, work_left_hours=40, hours_to_deadline=50)
    ahead = answer(caller, job_id, **on_demand, work_left_hours=39, hours_to_deadline=50)
    assert (behind["action"], ahead["action"]) == ("stay", "move_to_spot")


def test_a_plan_is_asked_for_and_answers_once_it_is_solved(caller, job_id) -> None:
    keep(coin_trace(4, 4000))
    fresh = {"mode": "idle", "series": "west-2b", "spot_state_hours": 0.1}
    first = answer(caller, job_id, **fresh)
    assert (first["decided_by"], first["plan_is_asked"]) == ("uniform_progress", True)
    dear = answer(caller, job_id, **fresh, move_cost=500)
    assert (dear["decided_by"], dear["action"]) == ("short_life", "wait")
    assert "taken away" in first["evidence"]["words"]
    assert not first["evidence"]["is_thin"]
    assert solve() == 1
    assert solve() == 0
    later = {"work_left_hours": 20, "hours_to_deadline": 28}
    told = answer(caller, job_id, mode="idle", series="west-2b", **later)
    assert (told["decided_by"], told["plan_is_asked"]) == ("plan", False)
    assert told["plan_solved_at"] is not None
    assert KeptSpotPlan.objects.count() == 1


def test_another_price_or_more_time_asks_for_another_plan(caller, job_id) -> None:
    keep(coin_trace(4, 4000))
    answer(caller, job_id, mode="idle", series="west-2b")
    solve()
    dearer = answer(caller, job_id, mode="idle", series="west-2b", spot=1.5)
    assert dearer["plan_is_asked"]
    assert dearer["decided_by"] != "plan"
    # A question that waits is asked anew, not twice.
    answer(caller, job_id, mode="idle", series="west-2b", spot=1.6)
    kept = KeptSpotPlan.objects.get()
    assert (kept.solved_at, kept.spot) == (None, 1.6)


def test_a_new_import_of_the_series_lets_its_plans_go(caller, job_id) -> None:
    keep(coin_trace(4, 4000))
    answer(caller, job_id, mode="idle", series="west-2b")
    solve()
    keep(coin_trace(5, 4000))
    assert answer(caller, job_id, mode="idle", series="west-2b")["plan_is_asked"]


def test_thin_history_makes_no_plan_and_is_said(caller, job_id) -> None:
    keep(square_wave(100))
    first = answer(caller, job_id, series="west-2b")
    assert first["evidence"]["is_thin"]
    solve()
    told = answer(caller, job_id, mode="idle", series="west-2b")
    assert told["decided_by"] == "uniform_progress"
    assert "ends of availability" in told["plan_thin"]
    assert not told["plan_is_asked"]


def test_spot_that_was_never_up_says_nothing_of_lives(caller, job_id) -> None:
    keep(trace_of([0] * 50))
    evidence = answer(caller, job_id, series="west-2b")["evidence"]
    assert evidence["interruptions"]["rate"] is None
    assert evidence["interruptions"]["high"] is None
    assert evidence["remaining_life_hours"] is None


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"mode": "parked"}, "mode"),
        ({"work_left_hours": 0}, "work_left_hours"),
        ({"work_hours": 40}, "work_hours"),
        ({"work_hours": 4, "deadline_hours": 60}, "work_hours"),
        ({"series": "none"}, "series"),
        ({"spot": -1}, "spot"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_what_cannot_be_is_refused_by_its_field(caller, job_id, wrong, field) -> None:
    told = answer(caller, job_id, status=400, **wrong)
    assert field in [error["field"] for error in told["errors"]]


def test_only_who_manages_asks_and_only_of_jobs_on_record(caller, job_id) -> None:
    assert answer(caller, job_id + 999, status=404)
    read = with_token("read", name="reader")
    assert read.post(f"placements/{job_id}/next", ASKED).status_code == 403
