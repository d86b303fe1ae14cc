"""POST /api/v1/run-reports: what a run says is kept once, and nothing that another may not say."""

import gzip
import json
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from django.test import Client

from apps.economics.jobs import JobSource
from apps.fleet import actions as fleet
from apps.workloads.models import (
    Run,
    RunAttempt,
    RunEvent,
    RunHour,
    RunProgress,
    RunScore,
    RunSummary,
    Workload,
)
from tests.apps.ledger.scene import make_rule
from tests.apps.workloads.reported import (
    fold,
    good,
    minutes,
    ms,
    report,
    run_id,
    spans,
    summary,
    window,
)
from tests.apps.workloads.told import NOW, node, tell
from tests.economics.job_statements import at, loosely, on, said
from tests.make import make_cluster, make_organisation, make_team, make_token

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.workloads.api.run_reports.timezone.now", lambda: NOW)


def post(body: Any, *, secret: str | None = None, **given: Any) -> Any:
    """Gzipped, as the SDK sends it."""
    headers = {"Authorization": f"Bearer {secret or make_token('runs').secret}"}
    sent = gzip.compress(body if isinstance(body, bytes) else json.dumps(body).encode())
    values = {"content_type": "application/json"} | given
    packed = {"Content-Encoding": "gzip"}
    return Client().post("/api/v1/run-reports", sent, headers=headers | packed, **values)


def started(raw_id: str = "4711", **given: Any) -> None:
    """A job that runs on eight GPUs."""
    tell(raw_id, said("start", 0, allocations=(on("gpu-01"),), **given))


def test_a_report_is_taken_once_however_often_it_is_sent() -> None:
    told = report(window(10, 20), events=[good(20, 9, 2.5)])
    secret = make_token("runs").secret
    first = post(told, secret=secret)
    assert (first.status_code, first.json()["changed"]) == (200, 1)
    again = post([told, told], secret=secret)
    assert (again.json()["accepted"], again.json()["changed"]) == (2, 0)
    assert (RunProgress.objects.count(), RunEvent.objects.count()) == (1, 1)
    kept = RunAttempt.objects.get()
    assert (kept.run.key, kept.host, kept.world_size) == ("base-7b", "gpu-01", 8)
    assert (kept.first_step, kept.last_step, kept.heard_at) == (0, 9, at(20))


def test_reports_come_in_any_order() -> None:
    last = report(window(20, 30, 10), sequence=1, ended=30, status="finished")
    first = report(window(10, 20), sequence=0)
    post([last, first])
    kept = RunAttempt.objects.get()
    assert (kept.status, kept.ended_at, kept.heard_at) == ("finished", at(30), at(30))
    assert (kept.first_step, kept.last_step) == (0, 19)


def test_a_plain_body_is_taken_as_well() -> None:
    headers = {"Authorization": f"Bearer {make_token('runs').secret}"}
    answer = Client().post(
        "/api/v1/run-reports", json.dumps(report()), "application/json", headers=headers
    )
    assert answer.json()["accepted"] == 1


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"colour": "red"}, "colour"),
        ({"run": ""}, "run"),
        ({"run": None}, "run"),
        ({"attempt": "x" * 300}, "attempt"),
        ({"status": "done"}, "status"),
        ({"status": "failed"}, "ended_at_ms"),
        ({"ended": 5}, "ended_at_ms"),
        ({"began": 100_000}, "began_at_ms"),
        ({"began_at_ms": 5}, "began_at_ms"),
        ({"windows": [window(10, 20, tokens=10**12)]}, "windows[0].tokens"),
        ({"windows": [window(20, 10, productive_ms=0)]}, "windows[0].ends_at_ms"),
        ({"windows": [window(-20_000, 0)]}, "windows[0].ends_at_ms"),
        ({"windows": [window(10, 20, last_step=None)]}, "windows[0].first_step"),
        ({"windows": [window(10, 20, 5, last_step=4)]}, "windows[0].last_step"),
        ({"windows": [window(10, 20) | {"loss": 1}]}, "windows[0].loss"),
        ({"windows": [window(10, 20, phases_ms={"data": -1})]}, "windows[0].phases_ms[...]"),
        ({"events": [{"kind": "born", "at_ms": ms(1)}]}, "events[0].kind"),
        ({"tags": {"a": "b\0c"}}, ""),
        ({"tags": {"a": 5}}, "tags[...]"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_field(given: dict[str, Any], field: str) -> None:
    answer = post(report(**given))
    assert answer.status_code == 400
    assert [each["field"] for each in answer.json()["errors"]] == [field]
    assert not Run.objects.exists()


def test_of_a_list_the_good_are_kept_and_the_bad_named_by_row() -> None:
    answer = post([report(status="odd"), report(window(10, 20)), {"run": "b"}])
    body = answer.json()
    assert (answer.status_code, body["accepted"]) == (200, 1)
    assert body["results"] == [{"row": 1, "run": run_id(), "changed": True}]
    assert [(each["row"], each["field"]) for each in body["errors"]] == [
        (0, "status"),
        (2, "attempt"),
    ]


@pytest.mark.parametrize(
    ("body", "given", "status"),
    [
        (b"5", {}, 400),
        (b"{", {}, 400),
        (b"[" + b",".join([b"{}"] * 501) + b"]", {}, 413),
        (b" " * (33 * 1024 * 1024), {}, 413),
        (b"{}", {"content_type": "text/plain"}, 415),
    ],
)
def test_what_is_no_list_of_reports_is_refused(
    body: bytes, given: dict[str, Any], status: int
) -> None:
    assert post(body, **given).status_code == status


@pytest.mark.parametrize("body", [b"no gzip", gzip.compress(b"{}", mtime=0)[:-4]])
def test_what_is_no_gzip_is_refused(body: bytes) -> None:
    headers = {
        "Authorization": f"Bearer {make_token('runs').secret}",
        "Content-Encoding": "gzip",
    }
    answer = Client().post("/api/v1/run-reports", body, "application/json", headers=headers)
    assert answer.status_code == 400
    odd = Client().post(
        "/api/v1/run-reports",
        body,
        "application/json",
        headers=headers | {"Content-Encoding": "br"},
    )
    assert odd.status_code == 415


@pytest.mark.parametrize("scope", ["read", "manage"])
def test_other_tokens_tell_nothing(scope: str) -> None:
    assert post(report(), secret=make_token(scope).secret).status_code == 403
    assert Client().post("/api/v1/run-reports", b"", "application/json").status_code == 401


def test_a_token_of_one_cluster_speaks_for_no_other() -> None:
    token = make_token("runs")
    fleet.bind_cluster_token(token_id=token.id, cluster_id=make_cluster("borealis"))
    answer = post(report(), secret=token.secret)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (403, "job.cluster")
    unnamed = report(job={"scheduler": "slurm", "raw_id": "1", "cluster": ""})
    assert post(unnamed, secret=token.secret).status_code == 200
    assert RunAttempt.objects.get().cluster_named == "borealis"


def test_a_teams_word_puts_its_run_into_its_workload() -> None:
    make_organisation()
    team = make_team("Research")
    secret = make_token("runs", team_id=team).secret
    post(report(workload="pretrain"), secret=secret)
    made = Workload.objects.get()
    assert (made.name, made.team_id, made.kind) == ("pretrain", team, "training")
    assert Run.objects.get().workload_id == made.id
    post(report(workload="pretrain", run="other"), secret=secret)
    assert Workload.objects.count() == 1


def test_anybody_elses_word_for_a_workload_is_only_kept() -> None:
    post(report(workload="pretrain"))
    assert Run.objects.get().workload is None
    assert RunAttempt.objects.get().workload_named == "pretrain"


def test_a_team_takes_no_job_of_another_team_into_its_run() -> None:
    make_organisation()
    node()
    theirs = make_team("Research")
    make_rule("research", theirs)
    below = make_team("Vision", parent_id=theirs)
    started(account="research")
    for team, carried in ((make_team("Search"), False), (below, False), (theirs, True)):
        secret = make_token("runs", team_id=team).secret
        post(report(window(10, 20), run=f"of-{team}", workload="w"), secret=secret)
        assert (RunAttempt.objects.get(run__key=f"of-{team}").job_id is not None) == carried
    # Nor is a run theirs that such a job says it carries: theirs of that name is another.
    tell("4711", said("update", 5, run="named"))
    secret = make_token("runs", team_id=below).secret
    post(report(run="named"), secret=secret)
    told_of = Run.objects.filter(key="named").order_by("id")
    assert list(told_of.values_list("team_id", "attempts")) == [(theirs, None), (below, ANY)]


def test_a_report_finds_the_job_that_bore_its_id_then() -> None:
    node()
    old = at(-400)
    tell("4711", said("start", -300, submitted_at=old), said("end", -200, submitted_at=old))
    started()
    post(report(window(10, 20)))
    fold()
    assert spans() == [("4711", at(0), None)]
    assert summary().jobs == 1


def test_a_report_before_its_job_is_joined_when_the_job_is_told() -> None:
    node()
    post(report(window(10, 20)))
    fold()
    assert spans() == []
    assert summary().tokens == 1000
    started()
    fold()
    assert spans() == [("4711", at(0), None)]
    assert summary().tokens == 1000


def test_an_id_of_two_clusters_is_joined_only_where_the_report_says_which() -> None:
    started()
    tell("4711", said("start", 0), cluster="borealis")
    named = {"scheduler": "slurm", "raw_id": "4711"}
    post(report(window(10, 20), job=named | {"cluster": "unheard of"}))
    post(report(window(10, 20), run="b", job=named | {"cluster": "borealis"}))
    assert RunAttempt.objects.get(run__key="base-7b").job is None
    joined = RunAttempt.objects.get(run__key="b").job
    assert joined is not None
    assert joined.cluster.name == "borealis"


def test_a_job_that_turns_out_to_be_another_takes_its_reports_along() -> None:
    agent = {"source": JobSource.AGENT}
    tell("4711", loosely("start", 0, **agent), loosely("end", 10, **agent))
    tell("4711", loosely("start", 60, **agent), loosely("end", 80, **agent))
    post(report(window(61, 70), began=60))
    fold()
    seen = RunAttempt.objects.get().job_id
    tell("4711", said("end", 200, started_at=at(0), state="FAILED", source=JobSource.ACCOUNTING))
    fold()
    joined = RunAttempt.objects.get().job_id
    assert joined != seen
    assert spans() == [("4711", at(0), at(200))]
    assert {row.job_key for row in RunHour.objects.all()} == {joined}


def test_what_reports_could_not_be_kept_is_summed() -> None:
    post([report(dropped=3), report(began=30, dropped=2)])
    fold()
    assert (summary().dropped, summary().attempts) == (5, 2)
    assert RunSummary.objects.count() == 1


def test_what_the_sdk_sends_is_what_is_kept() -> None:
    sent = json.loads((Path(__file__).parents[2] / "contract" / "run_reports.json").read_text())
    answer = post(sent)
    assert (answer.status_code, answer.json()["accepted"], answer.json()["errors"]) == (200, 4, [])
    fold()
    kept = summary()
    assert (kept.status, kept.steps, kept.tokens, kept.examples) == ("finished", 3, 12288, 6)
    assert (kept.flops, kept.good_checkpoints, kept.last_good_step) == (4.5e15, 1, 2)
    assert (kept.gpus, kept.model["layers"], kept.tags) == (16, 32, {"data": "web-2"})
    spent = {"STARTUP": 60, "DATA_WAIT": 1.5, "COMMUNICATION": 3, "PRODUCTIVE": 9}
    spent |= {"CHECKPOINT": 6, "UNTOLD": 4}
    assert minutes() == {name: pytest.approx(each / 60) for name, each in spent.items()}


def test_a_score_is_kept_once_and_changes_nothing_of_the_run() -> None:
    make_organisation()
    score = {"kind": "score", "at_ms": ms(20), "step": 4, "name": "loss", "higher_is_better": False}
    told = report(began=10, events=[score | {"metric": 2.5}, score | {"metric": None}])
    assert post(told).json()["changed"] == 1
    assert post(told).json()["changed"] == 0
    kept = RunScore.objects.order_by("part").values_list("name", "value", "higher_is_better")
    assert list(kept) == [("loss", 2.5, False), ("loss", None, False)]
    assert not RunEvent.objects.exists()


def test_a_score_without_a_name_is_refused() -> None:
    make_organisation()
    nameless = {"kind": "score", "at_ms": ms(20), "metric": 1.0}
    answer = post(report(began=10, events=[nameless]))
    assert (answer.status_code, "events[0].name" in answer.content.decode()) == (400, True)
