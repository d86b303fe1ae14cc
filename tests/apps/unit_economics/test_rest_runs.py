"""Runs over REST: whose they are, sorted and narrowed by any figure, with what they cost."""

import csv
import io
from datetime import timedelta
from typing import Any

import pytest

from apps.accounts.models import Team
from apps.economics.run_time import Bucket
from apps.workloads.models import Job, Run
from tests import make
from tests.apps.ledger import scene
from tests.apps.unit_economics import run_scene
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db

HOUR = scene.HOUR
H100 = {"amount": "98.320000", "currency": "USD"}


@pytest.fixture(scope="module", autouse=True)
def _runs(of_module: None) -> None:
    """One of Research, one of a team nobody should hear of, one that both carried; all settled."""
    make.make_organisation()
    node_id = scene.make_priced_node()
    scene.make_rule("research", make.make_team("Research"))
    scene.make_rule("secret", make.make_team("Hush"))
    hours = [scene.TEN + number * HOUR for number in range(4)]
    accounts = ("research", "secret", "research", "secret")
    jobs = [
        scene.make_job(f"{number}", node_id, from_=hour, to=hour + HOUR, account=account)
        for number, (hour, account) in enumerate(zip(hours, accounts, strict=True))
    ]
    make_run("ours", (jobs[0], hours[0], hours[1]), tokens=7_200_000, status="finished")
    make_run("theirs", (jobs[1], hours[1], hours[2]), status="failed")
    make_run("shared", (jobs[2], hours[2], hours[3]), (jobs[3], hours[3], hours[3] + HOUR))
    scene.settle(ends_at=scene.TEN + 5 * HOUR)


def make_run(key: str, *spans: Any, **told: Any) -> None:
    """A run that was submitted when its first job began."""
    values = {"began_at": spans[0][1], "submitted_at": spans[0][1], "ended_at": spans[-1][2]}
    run_id = run_scene.make_run(key, *spans, **values | told)
    for job_id, since, _ in spans:
        minutes = {Bucket.PRODUCTIVE: 45, Bucket.LOST: 15}
        run_scene.tell(run_id, job_id, minutes, hour=since, step_ms=3_600_000)


def dee() -> Caller:
    """She leads Research."""
    caller, person_id = signed_in("dee@example.org", "lead", name="Dee")
    Team.objects.filter(name="Research").update(owner_id=person_id)
    return caller


def keys(caller: Caller, **asked: Any) -> list[str]:
    """The names of the runs of all pages."""
    page = caller.get("runs", **asked).json()
    found = page["results"]
    while page["next"]:
        page = caller.client.get(page["next"], headers=caller.headers).json()
        found += page["results"]
    return [row["key"] for row in found]


def id_of(key: str) -> int:
    """A run's id."""
    return int(Run.objects.get(key=key).id)


def test_a_run_is_all_its_jobs_and_belongs_to_whom_they_belong() -> None:
    caller = dee()

    assert keys(caller) == ["shared", "ours"]
    assert keys(caller, team="Hush") == keys(caller, status="failed") == []
    for path in ("", "/costs"):
        refusals = [caller.get(f"runs/{id_}{path}") for id_ in (id_of("theirs"), 999_999)]
        assert [each.status_code for each in refusals] == [404, 404]
        hidden, none = (each.json()["detail"] for each in refusals)
        assert hidden == none.replace("999999", str(id_of("theirs")))


def test_a_run_that_others_jobs_carried_too_does_not_name_those() -> None:
    own, caller = Job.objects.get(raw_id="2").id, dee()

    for told in (
        caller.get(f"runs/{id_of('shared')}").json(),
        caller.get("runs").json()["results"][0],
    ):
        assert told["job_ids"] == [own]
    jobs = caller.get(f"runs/{id_of('shared')}/costs").json()["jobs"]
    assert [(each["id"], each["cost"]) for each in jobs] == [(own, H100), (None, H100)]
    assert len(with_token("read").get(f"runs/{id_of('shared')}").json()["job_ids"]) == 2


def test_a_run_tells_what_it_cost_and_how_it_went() -> None:
    told = with_token("read").get(f"runs/{id_of('ours')}").json()

    assert (told["cost"], told["gpu_hours"], told["status"]) == (H100, 8.0, "finished")
    assert (told["goodput_ratio"], told["told_ratio"]) == (0.75, 1.0)
    assert told["tokens_per_second"] == 2000.0
    assert told["cost_per_million_tokens"] == {"amount": "13.655556", "currency": "USD"}
    assert told["mfu_ratio"] is told["cost_per_checkpoint"] is told["energy_joules"] is None
    assert told["mfu_doubt"] == "the run did not tell its model's parameters"


def test_a_run_that_was_not_summed_up_yet_has_no_figures_and_no_costs() -> None:
    run = Run.objects.create(key="new")
    caller = with_token("read")

    told = caller.get(f"runs/{run.id}").json()
    assert told["figures_at"] is told["cost"] is told["good_checkpoints"] is None
    assert caller.get(f"runs/{run.id}/costs").status_code == 404


def test_lists_are_sorted_and_narrowed_by_what_is_asked() -> None:
    caller = with_token("read")

    assert keys(caller, limit=1) == ["shared", "theirs", "ours"]
    assert keys(caller, sort="name", order="rising", limit=2) == ["ours", "shared", "theirs"]
    assert keys(caller, sort="cost")[0] == "shared"
    assert keys(caller, sort="tokens") == ["ours", "shared", "theirs"]
    assert keys(caller, status="failed", team="Hush") == ["theirs"]
    assert keys(caller, window="2026-03-02") == keys(caller, window="2026-03")
    assert keys(caller, window="2026-03-05") == keys(caller, workload="none") == []


@pytest.mark.parametrize(
    ("asked", "field"),
    [({"sort": "luck"}, "sort"), ({"order": "up"}, "order"), ({"window": "soon"}, "window"),
     ({"status": "lost"}, "status"), ({"colour": "green"}, "colour")],
)  # fmt: skip
def test_what_is_not_understood_is_named(asked: dict[str, str], field: str) -> None:
    answer = with_token("read").get("runs", **asked)

    assert answer.status_code == 400
    assert [each["field"] for each in answer.json()["errors"]] == [field]


def test_a_runs_costs_sum_to_it_by_bucket_day_and_job() -> None:
    told = with_token("read").get(f"runs/{id_of('shared')}/costs").json()

    assert told["totals"]["cost"] == {"amount": "196.640000", "currency": "USD"}
    assert told["totals"]["loaded_cost"] == told["totals"]["cost"]
    assert [each["bucket"] for each in told["buckets"]] == ["lost", "productive"]
    for parts in (told["buckets"], told["days"], told["jobs"], told["days"][0]["buckets"]):
        cost = sum(float(each["cost"]["amount"]) for each in parts)
        assert cost == pytest.approx(196.64)
    assert [each["figure"] for each in told["numbers"]] == [
        "tokens_per_second", "mfu", "scaling", "first_good", "checkpoint_cost",
    ]  # fmt: skip
    assert (told["status"], told["pending_days"], told["run"]["name"]) == ("estimated", 0, "shared")


def test_runs_come_as_csv_too() -> None:
    answer = dee().get("runs", accept="text/csv", sort="name", order="rising")

    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [row["key"] for row in rows] == ["ours", "shared"]
    assert rows[0]["cost"] == "98.320000"
    assert rows[1]["tokens"] == ""


def test_a_run_goes_on_in_the_window_it_lives_in() -> None:
    node_id = scene.make_priced_node("gpu-02")
    job_id = scene.make_job("9", node_id, from_=scene.TEN, to=scene.TEN + 2 * HOUR)
    run_id = run_scene.make_run("long", (job_id, scene.TEN, scene.TEN + 2 * HOUR))
    run_scene.summarise(run_id, began_at=scene.TEN - timedelta(days=3), ended_at=None)
    scene.settle(ends_at=scene.TEN + 5 * HOUR)

    assert "long" in keys(with_token("read"), window="2026-03-01")
