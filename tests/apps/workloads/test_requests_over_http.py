"""POST and GET /api/v1/request-hours: good rows are kept, bad ones named by field and row."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.workloads.actions.workloads import add_workload
from apps.workloads.models import RequestHour
from apps.workloads.queries.requests import request_hours
from tests import make

pytestmark = pytest.mark.django_db

CONTRACT = Path(__file__).resolve().parents[2] / "contract" / "request_hours.json"
ROW = {
    "source": "engine",
    "source_key": "agent 1",
    "service": "answer-box",
    "hour": "2026-11-20T10:00:00Z",
    "revision": 1,
    "requests": 10,
}
HISTOGRAM = {"bounds_seconds": [1.0, 2.0], "counts": [5, 4, 1]}


@pytest.fixture(autouse=True)
def _day_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    day = datetime.fromisoformat("2026-11-20T12:00:00Z")
    monkeypatch.setattr("apps.workloads.api.requests.timezone.now", lambda: day)


@pytest.fixture
def team() -> int:
    make.make_organisation()
    return make.make_team("Search")


def post(body: Any, *, secret: str | None = None, **given: Any) -> Any:
    headers = {"Authorization": f"Bearer {secret or make.make_token('requests').secret}"}
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    values = {"content_type": "application/json", "headers": headers} | given
    return Client().post("/api/v1/request-hours", text, **values)


def get(secret: str, **asked: str) -> Any:
    headers = {"Authorization": f"Bearer {secret}"}
    return Client().get("/api/v1/request-hours", asked, headers=headers)


def test_what_the_agent_sends_is_taken(team: int) -> None:
    ids = [add_workload(name=name, team_id=team, kind="serving") for name in ("answer-box", "chat")]
    golden = json.loads(CONTRACT.read_text())
    answer = post(golden)
    assert answer.status_code == 200
    told = answer.json()
    assert (told["accepted"], told["changed"], told["unmatched"]) == (3, 3, 0)
    assert told["errors"] == []
    ten = datetime.fromisoformat("2026-11-20T10:00:00Z")
    found = {
        (each.workload_id, each.feature): each.counts
        for each in request_hours(ids, (ten, ten.replace(hour=11)))
    }
    assert found[ids[0], ""].cached_tokens == 12_000
    assert found[ids[0], ""].split_kind == "estimated"
    assert found[ids[1], ""].decode_seconds == 18.0
    assert found[ids[1], "summaries"].succeeded == 11
    again = post(golden).json()
    assert (again["accepted"], again["changed"]) == (3, 0)


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"colour": "red"}, "colour", "unknown field"),
        ({"source": "rumour"}, "source", "rumour"),
        ({"service": ""}, "service", "length >= 1"),
        ({"requests": -1}, "requests", ">= 0"),
        ({"requests": 1.5}, "requests", "int"),
        ({"requests": 10**12}, "requests", "<="),
        ({"revision": "1"}, "revision", "Expected `int`"),
        ({"hour": "2026-11-20T10:30:00Z"}, "hour", "beginning of an hour"),
        ({"hour": "2026-11-20T10:00:00"}, "hour", "timezone"),
        ({"hour": "2026-11-20T14:00:00Z"}, "hour", "ahead of the server's clock"),
        ({"hour": "2024-01-01T00:00:00Z"}, "hour", "longer ago than 788 days"),
        ({"succeeded": 11}, "succeeded", "more than all 10 of requests"),
        ({"prompt_tokens": 1, "cached_tokens": 2}, "cached_tokens", "more than all 1"),
        ({"latency": HISTOGRAM | {"counts": [1, 2]}}, "latency", "3 counts, not 2"),
        ({"latency": HISTOGRAM | {"bounds_seconds": [2, 1]}}, "latency", "bounds rise"),
        ({"first_token": {"counts": [1]}}, "first_token.bounds_seconds", "is required"),
        ({"feature": "a\x00b"}, "feature", "NUL"),
        ({"service": "chat\u202e"}, "service", "not seen"),
        ({"model": "<b>llama"}, "model", "has markup"),
    ],
)
def test_a_bad_row_is_named_and_the_others_are_kept(
    team: int, change: dict[str, Any], field: str, message: str
) -> None:
    answer = post({"rows": [ROW, {**ROW, "source_key": "agent 2", **change}]})
    told = answer.json()
    assert (answer.status_code, told["accepted"]) == (200, 1)
    (error,) = told["errors"]
    assert (error["row"], error["field"]) == (1, field)
    assert message in error["message"]
    assert RequestHour.objects.get().source_key == "agent 1"


def test_a_body_that_is_no_list_of_rows_is_refused(team: int) -> None:
    for body in ("{", {"rows": 3}, {"rows": [ROW], "more": 1}, {}):
        answer = post(body)
        assert answer.status_code == 400
        assert len(answer.json()["errors"]) == 1
    assert post({"rows": [{}] * 5001}).status_code == 413
    assert post({"rows": []}, content_type="text/plain").status_code == 415


def test_telling_needs_the_scope_requests(team: int) -> None:
    assert post({"rows": []}, secret=make.make_token("read").secret).status_code == 403
    assert post({"rows": []}, secret=make.make_token("ingest").secret).status_code == 403
    assert post({"rows": []}, secret="rr_nobody").status_code == 401
    assert post({"rows": []}).json()["accepted"] == 0


def agent_of(name: str) -> str:
    token = make.make_token("ingest")
    make.make_agent(node_id=make.make_node(name), token_id=token.id)
    return token.secret


def test_a_nodes_token_tells_what_engines_count_and_nothing_another_told(team: int) -> None:
    one, other = agent_of("gpu-01"), agent_of("gpu-02")
    gateway = {**ROW, "source": "gateway", "source_key": "gateway-eu"}
    post({"rows": [gateway]})
    assert post({"rows": [ROW]}, secret=one).json()["accepted"] == 1
    later = {"revision": 2, "requests": 99}
    for secret in (other, make.make_token("requests").secret):
        (error,) = post({"rows": [ROW | later]}, secret=secret).json()["errors"]
        assert error["field"] == "source_key"
    told = post({"rows": [gateway | later, {**gateway, "source": "engine"} | later]}, secret=one)
    assert [each["field"] for each in told.json()["errors"]] == ["source", "source_key"]
    assert set(RequestHour.objects.values_list("requests", flat=True)) == {10}
    assert post({"rows": [ROW | later]}, secret=one).json()["changed"] == 1


def test_what_an_agent_told_before_nodes_were_noted_it_goes_on_telling(team: int) -> None:
    post({"rows": [ROW]})
    told = post({"rows": [{**ROW, "revision": 2, "requests": 20}]}, secret=agent_of("gpu-01"))
    assert told.json()["changed"] == 1
    assert RequestHour.objects.get().requests == 20


def test_a_teams_token_cannot_write_over_what_another_told(team: int) -> None:
    own = make.make_token("requests", team_id=team).secret
    post({"rows": [ROW]}, secret=own)
    told = post({"rows": [{**ROW, "revision": 2, "requests": 99}]}).json()
    assert (told["accepted"], told["results"]) == (0, [])
    assert told["errors"][0]["field"] == "source_key"
    assert RequestHour.objects.get().requests == 10


def test_counts_of_no_known_service_are_listed(team: int) -> None:
    add_workload(name="chat", team_id=team, kind="serving")
    told = post({"rows": [ROW, {**ROW, "service": "chat"}]}).json()
    assert told["unmatched"] == 1
    assert [each["known"] for each in told["results"]] == [False, True]
    listed = get(make.make_token("read").secret, unmatched="true").json()["results"]
    assert [(each["service"], each["workload"]) for each in listed] == [("answer-box", None)]


def test_a_list_shows_a_teams_own_alone(team: int) -> None:
    chat_id = add_workload(name="chat", team_id=team, kind="serving")
    post({"rows": [ROW, {**ROW, "service": "chat"}]})
    own = get(make.make_token("read", team_id=team).secret).json()["results"]
    assert [each["workload"] for each in own] == [{"id": chat_id, "name": "chat"}]
    stranger = make.make_token("read", team_id=make.make_team("Ads")).secret
    assert get(stranger).json()["results"] == []
    assert get(stranger, workload="chat").json()["results"] == []
