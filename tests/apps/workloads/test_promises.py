"""What services promise and what changed about workloads, told over REST."""

from typing import Any

import pytest
from django.test import Client

from apps.workloads.actions.workloads import add_workload
from apps.workloads.models import Run, ServiceObjective, WorkloadChange
from tests import make

pytestmark = pytest.mark.django_db

OBJECTIVE = {
    "team": "Search",
    "workload": "answer-box",
    "within_seconds": 2.5,
    "target_ratio": 0.99,
    "starts_at": "2026-03-02T00:00:00Z",
}
CHANGE = {
    "team": "Search",
    "workload": "answer-box",
    "kind": "deploy",
    "name": "2.4.0",
    "at": "2026-03-02T12:00:00Z",
}


@pytest.fixture
def team() -> int:
    make.make_organisation()
    return make.make_team("Search")


@pytest.fixture
def service(team: int) -> int:
    return add_workload(name="answer-box", team_id=team, kind="serving")


def post(path: str, body: Any, *scopes: str, **given: Any) -> Any:
    headers = {"Authorization": f"Bearer {make.make_token(*scopes, **given).secret}"}
    return Client().post(f"/api/v1/{path}", body, content_type="application/json", headers=headers)


def listed(path: str, **given: Any) -> list[dict[str, Any]]:
    headers = {"Authorization": f"Bearer {make.make_token('read', **given).secret}"}
    return list(Client().get(f"/api/v1/{path}", headers=headers).json()["results"])


def promise(**change: Any) -> Any:
    return post("service-objectives", OBJECTIVE | change, "manage")


def test_availability_is_promised_without_a_time(service: int) -> None:
    timeless = {"measure": "availability", "within_seconds": None, "budget_days": 7}
    made = promise(**timeless)
    told = made.json()
    assert (made.status_code, told["within_seconds"], told["budget_days"]) == (201, None, 7)
    assert promise(**timeless).status_code == 200
    assert promise(measure="availability").status_code == 400
    assert promise(within_seconds=None).status_code == 400
    assert promise(budget_days=0).status_code == 400


def test_a_promise_is_made_once_and_ended_once(service: int) -> None:
    made = promise()
    assert (made.status_code, made.json()["measure"]) == (201, "latency")
    assert promise().json() == made.json()
    end = f"service-objectives/{made.json()['id']}/end"
    ended_at = {"ended_at": "2026-04-01T00:00:00Z"}
    ended = post(end, ended_at, "manage")
    assert (ended.status_code, ended.json()["ends_at"]) == (200, "2026-04-01T00:00:00Z")
    assert post(end, ended_at, "manage").json() == ended.json()
    later = post(end, {"ended_at": "2026-05-01T00:00:00Z"}, "manage")
    assert later.status_code == 409
    assert promise(starts_at="2026-04-01T00:00:00Z").status_code == 201


def test_the_same_is_not_promised_twice_at_a_time_but_other_things_are(service: int) -> None:
    promise()
    assert promise(target_ratio=0.999).status_code == 409
    assert promise(within_seconds=5.0, target_ratio=0.999).status_code == 201
    assert promise(measure="first_token").status_code == 201
    assert promise(feature="search").status_code == 201
    assert ServiceObjective.objects.count() == 4


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"target_ratio": 1.0}, "between 0 and 1"),
        ({"target_ratio": 0.0}, "between 0 and 1"),
        ({"within_seconds": 0}, "no time"),
        ({"workload": "nobody's"}, "no workload named"),
        ({"measure": "hope"}, "not a valid choice"),
    ],
)
def test_what_no_promise_can_be_is_refused(service: int, change: dict[str, Any], word: str) -> None:
    answer = promise(**change)
    assert answer.status_code == 400
    assert word in answer.content.decode()
    assert [each["field"] for each in answer.json()["errors"]] == list(change)


def test_an_end_before_the_start_is_refused_and_one_of_nothing_unknown(service: int) -> None:
    made_id = promise().json()["id"]
    early = {"ended_at": "2026-03-01T00:00:00Z"}
    assert post(f"service-objectives/{made_id}/end", early, "manage").status_code == 400
    assert post("service-objectives/99999/end", early, "manage").status_code == 404


def test_promises_are_made_by_who_manages_and_seen_by_the_team(service: int, team: int) -> None:
    assert post("service-objectives", OBJECTIVE, "jobs").status_code == 403
    promise()
    assert len(listed("service-objectives", team_id=team)) == 1
    assert listed("service-objectives", team_id=make.make_team("Ads")) == []


def test_a_change_is_kept_once_and_learns_its_run(service: int) -> None:
    first = post("workload-changes", CHANGE, "jobs")
    assert (first.status_code, first.json()["run"]) == (201, None)
    assert post("workload-changes", CHANGE, "jobs").status_code == 200
    Run.objects.create(key="llm-7b-v3")
    again = post("workload-changes", CHANGE | {"run": "llm-7b-v3"}, "jobs")
    assert (again.status_code, again.json()["run"]) == (200, "llm-7b-v3")
    assert WorkloadChange.objects.count() == 1
    unknown = post("workload-changes", CHANGE | {"run": "nobody's"}, "jobs")
    assert "there is no run" in unknown.content.decode()


def test_a_model_is_not_shipped_from_another_teams_run(service: int) -> None:
    other_id = add_workload(name="pretrain", team_id=make.make_team("Ads"), kind="training")
    Run.objects.create(key="theirs", workload_id=other_id)
    assert post("workload-changes", CHANGE | {"run": "theirs"}, "jobs").status_code == 400
    assert not WorkloadChange.objects.exists()


def test_a_teams_token_names_runs_of_its_own_line_alone(service: int, team: int) -> None:
    Run.objects.create(key="theirs", team_id=make.make_team("Ads"))
    told = CHANGE | {"run": "theirs"}
    refused = post("workload-changes", told, "jobs", team_id=team)
    assert refused.status_code == 400
    assert "there is no run" in refused.content.decode()
    assert not WorkloadChange.objects.exists()
    assert post("workload-changes", told, "jobs").json()["run"] == "theirs"
    Run.objects.create(key="ours", team_id=team)
    ours = CHANGE | {"run": "ours", "name": "2.5.0"}
    assert post("workload-changes", ours, "jobs", team_id=team).json()["run"] == "ours"


def test_a_teams_token_tells_of_its_own_changes_alone(service: int, team: int) -> None:
    other = make.make_team("Ads")
    assert post("workload-changes", CHANGE, "jobs", team_id=other).status_code == 400
    assert post("workload-changes", CHANGE, "jobs", team_id=team).status_code == 201
    assert post("workload-changes", CHANGE, "read").status_code == 403
    assert len(listed("workload-changes?since=2026-03-02T12:00:00Z", team_id=team)) == 1
    assert listed("workload-changes?until=2026-03-02T12:00:00Z") == []
    assert listed("workload-changes", team_id=other) == []
