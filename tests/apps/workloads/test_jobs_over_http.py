"""POST /api/v1/jobs and /jobs/bulk: good events are kept, bad ones named by field and row."""

import gzip
import json
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from django.test import Client

from apps.fleet import actions as fleet
from apps.fleet.models import Cluster
from apps.workloads.models import Allocation, Job, RunSpan
from tests.apps.workloads.told import held, tell
from tests.economics.job_statements import said
from tests.make import make_cluster, make_token

pytestmark = pytest.mark.django_db

CONTRACT = Path(__file__).resolve().parents[2] / "contract" / "jobs_bulk.json"
EVENT = {
    "cluster": "atlas",
    "raw_id": "4711",
    "submitted_at": "2026-11-20T10:00:00Z",
    "event": "start",
    "at": "2026-11-20T10:02:00Z",
    "source": "scheduler",
    "user": "ada",
    "labels": {"project": "llm"},
    "allocations": [{"node": "gpu-01", "gpus": 2, "devices": ["GPU-a", "GPU-b"], "cpus": 96}],
}


@pytest.fixture(autouse=True)
def _day_of_the_events(monkeypatch: pytest.MonkeyPatch) -> None:
    day = datetime.fromisoformat("2026-11-20T12:00:00Z")
    monkeypatch.setattr("apps.workloads.api.views.timezone.now", lambda: day)


def post(path: str, body: Any, *, secret: str | None = None, **given: Any) -> Any:
    headers = {"Authorization": f"Bearer {secret or make_token('jobs').secret}"}
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    values = {"content_type": "application/json", "headers": headers} | given
    return Client().post(f"/api/v1/{path}", text, **values)


def bound_to(cluster: str) -> str:
    """A token that speaks for one cluster only."""
    token = make_token("jobs")
    fleet.bind_cluster_token(token_id=token.id, cluster_id=make_cluster(cluster))
    return token.secret


def test_events_come_gzipped_too():
    packed = gzip.compress(json.dumps({"events": [EVENT]}).encode())
    taken = post("jobs/bulk", packed, HTTP_CONTENT_ENCODING="gzip")
    assert (taken.status_code, taken.json()["accepted"]) == (200, 1)
    assert post("jobs", packed[:-9], HTTP_CONTENT_ENCODING="gzip").status_code == 400


def test_an_event_is_taken_once():
    first = post("jobs", EVENT)
    assert (first.status_code, first.json()["state"], first.json()["changed"]) == (
        200,
        "RUNNING",
        True,
    )
    again = post("jobs", EVENT)
    assert again.json() == first.json() | {"changed": False}
    job = Job.objects.get()
    assert (job.user, job.labels, job.cluster.name) == ("ada", {"project": "llm"}, "atlas")
    assert Allocation.objects.get().device_uuids == ["GPU-a", "GPU-b"]


def test_an_end_closes_what_the_start_opened():
    post("jobs", EVENT)
    ended = {**EVENT, "event": "end", "at": "2026-11-20T11:00:00Z", "state": "CANCELLED by 1001"}
    assert post("jobs", {**ended, "exit_code": 0}).json()["state"] == "CANCELLED"
    assert held("4711")[0][4] == datetime.fromisoformat("2026-11-20T11:00:00Z")
    assert Job.objects.get().exit_code == "0"


def test_a_share_is_a_part_of_each_gpu():
    allocation = {"node": "gpu-01", "gpus": 1, "share": "0.46"}
    assert post("jobs", {**EVENT, "allocations": [allocation]}).status_code == 200
    assert held("4711")[0][1:3] == (23, 50)


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"colour": "red"}, "colour", "unknown field"),
        ({"raw_id": ""}, "raw_id", "length >= 1"),
        ({"raw_id": 4711}, "raw_id", "Expected `str`"),
        ({"event": "pause"}, "event", "pause"),
        ({"at": "2026-11-20T10:02:00"}, "at", "timezone"),
        ({"at": "yesterday"}, "at", "RFC3339"),
        ({"at": "1999-12-31T23:59:59Z"}, "at", "before 2000-01-01"),
        ({"at": "2026-11-20T13:00:00Z"}, "at", "ahead of the server's clock"),
        ({"submitted_at": "2026-11-21T10:00:00Z"}, "submitted_at", "ahead"),
        ({"source": "rumour"}, "source", "rumour"),
        ({"restart_count": -1}, "restart_count", ">= 0"),
        ({"cpus": 1.5}, "cpus", "int"),
        ({"user": "a\x00b"}, "user", "NUL"),
        ({"cluster": "at\u202elas"}, "cluster", r"'at\u202elas' has markup or a character"),
        ({"raw_id": "<b>4711"}, "raw_id", "has markup"),
        ({"labels": {"pro\u200bject": "llm"}}, "labels", "not seen"),
        ({"labels": {"project": "llm\x07"}}, "labels.project", "not seen"),
        ({"labels": {"project": "<script>"}}, "labels.project", "has markup"),
        (
            {"allocations": [{"node": "a"}, {"node": "gpu\u202e10"}]},
            "allocations[1].node",
            "not seen",
        ),
        (
            {"allocations": [{"node": "a", "gpus": 1, "devices": ["GPU\n1"]}]},
            "allocations[0].devices[0]",
            "not seen",
        ),
        ({"labels": {"project": 3}}, "labels[...]", "Expected `str`"),
        ({"labels": {f"k{n}": "v" for n in range(33)}}, "labels", "33 labels are more than 32"),
        ({"allocations": [{"gpus": 1}]}, "allocations[0].node", "is required"),
        ({"allocations": [{"node": "a", "gpus": -1}]}, "allocations[0].gpus", ">= 0"),
        ({"allocations": [{"node": "a", "gpu": 1}]}, "allocations[0].gpu", "unknown field"),
        (
            {"allocations": [{"node": "a"}, {"node": "b", "gpus": 1, "share": "5/4"}]},
            "allocations[1].share",
            "not a part of a GPU",
        ),
        (
            {"allocations": [{"node": "a", "gpus": 1, "share": "1/0"}]},
            "allocations[0].share",
            "not a part of a GPU",
        ),
        (
            {"allocations": [{"node": "a", "gpus": 2, "devices": ["GPU-a"]}]},
            "allocations[0].devices",
            "1 devices are named, gpus says 2",
        ),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], field: str, message: str):
    answer = post("jobs", EVENT | change)
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    (error,) = answer.json()["errors"]
    assert error["field"] == field
    assert message in error["message"]
    assert not Job.objects.exists()


def test_a_text_that_names_nothing_else_keeps_its_job():
    texts = {"name": "lr<1e-4\u202e", "user": "ada\u200b", "account": "<none>"}
    assert post("jobs", EVENT | texts).status_code == 200
    job = Job.objects.get()
    assert (job.name, job.user, job.account) == ("lr<1e-4?", "ada?", "<none>")


@pytest.mark.parametrize("name", ["cluster", "raw_id", "event", "at"])
def test_what_is_missing_is_named(name: str):
    answer = post("jobs", {key: value for key, value in EVENT.items() if key != name})
    assert answer.json()["errors"] == [{"field": name, "row": None, "message": "is required"}]


@pytest.mark.parametrize("body", ["{", "[]", "null", '"x"', b"\xff\xfe"])
def test_what_is_no_event_is_refused(body: str | bytes):
    assert post("jobs", body).status_code == 400


def test_only_json_is_taken():
    assert post("jobs", EVENT, content_type="text/plain").status_code == 415


def test_a_body_beyond_all_measure_is_refused():
    assert post("jobs", {**EVENT, "name": "x" * 9_000_000}).status_code == 413


def test_a_token_must_have_the_scope_jobs():
    assert post("jobs", EVENT, secret=make_token("ingest").secret).status_code == 403
    answer = post("jobs", EVENT, secret="rr_unknown")
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")


def test_a_bound_token_writes_its_own_cluster():
    assert post("jobs", EVENT, secret=bound_to("atlas")).status_code == 200


def test_a_bound_token_writes_no_other_cluster():
    answer = post("jobs", EVENT, secret=bound_to("hydra"))
    assert answer.status_code == 403
    assert "hydra, not atlas" in answer.json()["detail"]
    assert not Job.objects.exists()
    assert not Cluster.objects.filter(name="atlas").exists()


def test_an_unbound_token_may_open_a_cluster():
    post("jobs", EVENT)
    assert Cluster.objects.filter(name="atlas").exists()


def test_a_bulk_keeps_good_rows_and_lists_bad_ones():
    rows = [EVENT, {**EVENT, "colour": "red"}, 7, {**EVENT, "raw_id": "4712"}]
    answer = post("jobs/bulk", {"events": rows})
    body = answer.json()
    assert (answer.status_code, body["accepted"], body["changed"]) == (200, 2, 2)
    assert [(each["field"], each["row"]) for each in body["errors"]] == [("colour", 1), ("", 2)]
    assert [each["row"] for each in body["results"]] == [0, 3]
    assert Job.objects.count() == 2


def test_a_bulk_sent_again_changes_nothing():
    bulk = {"events": [EVENT, EVENT, {**EVENT, "raw_id": "4712"}]}
    assert post("jobs/bulk", bulk).json()["changed"] == 2
    assert post("jobs/bulk", bulk).json()["changed"] == 0


def test_rows_of_another_cluster_are_listed():
    bulk = {"events": [EVENT, {**EVENT, "cluster": "hydra"}]}
    body = post("jobs/bulk", bulk, secret=bound_to("atlas")).json()
    assert body["accepted"] == 1
    assert [(each["field"], each["row"]) for each in body["errors"]] == [("cluster", 1)]
    assert "this token writes cluster atlas" in body["errors"][0]["message"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"events": 7}, 400),
        ({"events": [], "more": 1}, 400),
        ("{", 400),
        ({"events": []}, 200),
        ({"events": [1] * 5_001}, 413),
    ],
)
def test_a_bulk_that_is_none_is_refused(body: Any, status: int):
    assert post("jobs/bulk", body).status_code == status


def test_the_contract_with_the_agent_is_taken():
    body = json.loads(CONTRACT.read_text())
    answer = post("jobs/bulk", body).json()
    assert (answer["errors"], answer["accepted"]) == ([], len(body["events"]))
    named = {event["raw_id"] for event in body["events"]}
    assert set(Job.objects.values_list("raw_id", flat=True)) == named
    assert RunSpan.objects.exists()
    assert Allocation.objects.filter(gpus_denominator=4).exists()


def test_five_thousand_events_take_seconds():
    events = [
        {**EVENT, "raw_id": str(n // 2), "event": "end" if n % 2 else "start"} for n in range(5_000)
    ]
    began = perf_counter()
    assert post("jobs/bulk", {"events": events}).json()["changed"] == 5_000
    assert perf_counter() - began < 15


def test_a_job_is_shown_to_who_may_read():
    (told,) = tell("4711", said("start", 0, user="ada", labels=(("project", "llm"),)))
    headers = _reader()
    job = Client().get(f"/api/v1/jobs/{told.job_id}", headers=headers).json()
    assert (job["raw_id"], job["state"], job["user"]) == ("4711", "RUNNING", "ada")
    assert job["started_at"] == "2026-11-20T10:00:00Z"
    assert Client().get("/api/v1/jobs/0", headers=headers).status_code == 404
    headers = {"Authorization": f"Bearer {make_token('jobs').secret}"}
    assert Client().get(f"/api/v1/jobs/{told.job_id}", headers=headers).status_code == 403


def test_the_schema_tells_of_every_field(client: Client):
    schema = client.get("/api/v1/schema?format=json", headers=_reader()).json()
    posted = schema["paths"]["/api/v1/jobs"]["post"]["requestBody"]["content"]["application/json"]
    assert set(EVENT) <= set(posted["schema"]["properties"])
    assert "share" in json.dumps(posted["schema"]["properties"]["allocations"])


def _reader() -> dict[str, str]:
    return {"Authorization": f"Bearer {make_token('read').secret}"}
