"""The page of teams: what their work cost, what of it was waste, whose place is told to whom."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.economics.run_time import Bucket
from apps.fleet.models import Node
from apps.unit_economics.actions.runs import figure_due_runs
from apps.workloads.models import Job, RunAttempt, RunProgress
from tests import make
from tests.apps.console.people import csv_rows, signed_in, words_of
from tests.apps.ledger import scene
from tests.apps.unit_economics import run_scene

pytestmark = pytest.mark.django_db
NEXT_DAY = datetime(2026, 3, 3, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _next_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: NEXT_DAY)


@pytest.fixture(scope="module", autouse=True)
def teams(of_module: None) -> dict[str, int]:
    """Research works from 10:30 on, Vision all its hour, each on a node of $98.32 an hour."""
    make.make_organisation()
    found = {}
    for name, idle in (("Research", 30), ("Vision", 0)):
        found[name] = make.make_team(name)
        scene.make_rule(name.lower(), found[name])
        node_id = scene.make_priced_node(f"node-{name.lower()}")
        uuids = scene.make_gpus(node_id)
        for device_id in scene.device_ids(uuids):
            scene.make_usage(device_id, [0] * idle + [240] * (60 - idle))
        scene.make_job(name, node_id, account=name.lower(), uuids=uuids)
    scene.settle_all()
    return found


def test_the_title_says_what_work_cost_and_what_of_it_was_waste(
    teams: dict[str, int],
) -> None:
    text = words_of(signed_in("finance").get("/team-work"))
    # 46 hours of two nodes that nobody held, and half of Research's.
    assert (
        "The work of 3 teams cost $4,719 in the last 30 days; $4,572 of it (97 %) was waste" in text
    )
    assert "Most waste: Platform, $4,523." in text
    assert "ranked by the share of cost that was waste" in text


def test_a_span_before_anything_was_known_compares_with_nothing(teams: dict[str, int]) -> None:
    """The nodes began on the day before yesterday: two hours of a span are no span to compare with."""
    finn = signed_in("finance")
    page = words_of(finn.get("/team-work"))
    assert "no whole span before to compare with" in page
    assert {row["cost_before"] for row in csv_rows(finn.get("/team-work.csv"))} == {""}


def test_what_is_compared_is_whole_days_that_are_over(teams: dict[str, int]) -> None:
    Node.objects.update(period=(scene.TEN - timedelta(days=60), None))
    finn = signed_in("finance")
    assert "from nothing" not in words_of(finn.get("/team-work?window=2026-03-03/2026-03-04"))
    rows = {row["team"]: row for row in csv_rows(finn.get("/team-work.csv?window=2026-03-02"))}
    assert (rows["Research"]["cost_compared"], rows["Research"]["cost_before"]) == (
        "98.320000",
        "0.000000",
    )
    assert "2 March against 1 March" in words_of(finn.get("/team-work?window=2026-03-02"))


def test_idle_and_active_are_told_by_workload_and_add_up(teams: dict[str, int]) -> None:
    rows = {row["team"]: row for row in csv_rows(signed_in("finance").get("/team-work.csv"))}
    assert (rows["Research"]["cost"], rows["Research"]["idle_cost"]) == ("98.320000", "49.160000")
    assert rows["Research"]["active_ratio"] == "0.500000"
    assert rows["Research"]["wasted_ratio"] == "0.500000"
    assert rows["Vision"]["idle_cost"] == "0.000000"


def test_work_waits_until_a_gpu_is_first_seen_at_work(teams: dict[str, int]) -> None:
    rows = {
        row["team"]: row for row in csv_rows(signed_in("finance").get("/team-work.csv?table=waits"))
    }
    assert rows["Research"]["median_wait_seconds"] == "1800"
    assert rows["Vision"]["median_wait_seconds"] == "0"
    assert rows["Vision"]["told_first_step"] == "0"


def test_a_job_that_nobody_observed_any_longer_waited_at_least_until_then(
    teams: dict[str, int],
) -> None:
    """Its GPUs stood still for an hour, then nobody watched: it may have worked since."""
    node_id = scene.make_priced_node("node-dark")
    uuids = scene.make_gpus(node_id)
    for device_id in scene.device_ids(uuids):
        scene.make_usage(device_id, [0] * 60)
    until = scene.TEN + 9 * scene.HOUR
    scene.make_job("dark", node_id, account="vision", uuids=uuids, to=until)
    scene.settle_all()
    rows = {
        row["team"]: row for row in csv_rows(signed_in("finance").get("/team-work.csv?table=waits"))
    }
    vision = rows["Vision"]
    assert (vision["waits"], vision["still_waiting"]) == ("1", "0")
    assert (vision["median_wait_seconds"], vision["ninth_decile_wait_seconds"]) == ("0", "")
    text = words_of(signed_in("lead", teams["Vision"]).get("/team-work"))
    assert "p90 over 1 h" in text


def test_a_run_that_tells_is_believed_and_its_failure_is_waste(teams: dict[str, int]) -> None:
    job_id = Job.objects.get(raw_id="Vision").id
    until = scene.TEN + scene.HOUR
    run_id = run_scene.make_run("sam-3", (job_id, scene.TEN, until), submitted_at=scene.TEN)
    run_scene.tell(run_id, job_id, {Bucket.FAILED: 45, Bucket.DATA_WAIT: 15})
    attempt = RunAttempt.objects.create(
        run_id=run_id, key="a", job_id=job_id, began_at=scene.TEN, heard_at=until
    )
    RunProgress.objects.create(
        attempt=attempt, sequence=1, part=0, starts_at=scene.TEN + 7 * MINUTE, ends_at=until,
        steps=1, tokens=1, examples=0, flops=1.0, productive_ms=1_000,
    )  # fmt: skip
    run_scene.mark_day(scene.TEN)
    scene.settle_all()
    figure_due_runs(at=NEXT_DAY)
    finn = signed_in("finance")
    rows = {row["team"]: row for row in csv_rows(finn.get("/team-work.csv"))}
    assert rows["Vision"]["failed_cost"] == "73.740000"
    assert rows["Vision"]["starved_cost"] == "24.580000"
    waits = {row["team"]: row for row in csv_rows(finn.get("/team-work.csv?table=waits"))}
    assert (waits["Vision"]["waits"], waits["Vision"]["median_wait_seconds"]) == ("1", "420")


def test_a_team_sees_its_own_place_unless_the_organisation_publishes_them(
    teams: dict[str, int], settings: Any
) -> None:
    lead = signed_in("lead", teams["Vision"])
    text = words_of(lead.get("/team-work"))
    assert "your rank among" in text
    assert "Research" not in text
    assert [row["team"] for row in csv_rows(lead.get("/team-work.csv?table=waste"))] == ["Vision"]
    settings.PUBLISH_WASTE = True
    places = [row["team"] for row in csv_rows(lead.get("/team-work.csv?table=waste"))]
    assert places == ["Platform", "Research", "Vision"]
    assert {row["team"] for row in csv_rows(lead.get("/team-work.csv"))} == {"Vision"}


def test_programs_are_told_of_their_teams(teams: dict[str, int]) -> None:
    secret = make.make_token("read", team_id=teams["Research"]).secret
    client = APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}")
    (row,) = client.get("/api/v1/team-work").json()["results"]
    assert row["team"]["name"] == "Research"
    assert row["idle_cost"] == {"amount": "49.160000", "currency": "USD"}
    assert (row["waits"], row["median_wait_seconds"]) == (1, 1800)
    assert client.get("/api/v1/team-work?window=never").status_code == 400


def test_without_work_the_page_teaches() -> None:
    text = words_of(signed_in("finance").get("/team-work?window=2020-01"))
    assert "No team’s work cost anything in January 2020" in text


def test_what_still_waits_is_in_the_waits(teams: dict[str, int]) -> None:
    """One job worked at once; three of the same account have waited for 25 hours in the queue."""
    for count in range(3):
        Job.objects.create(
            cluster_id=make.make_cluster(), raw_id=f"queued {count}", account="vision",
            submitted_at=scene.TEN + 30 * MINUTE, opened_at=scene.TEN + 30 * MINUTE,
            state="PENDING",
        )  # fmt: skip
    finn = signed_in("finance")
    rows = {row["team"]: row for row in csv_rows(finn.get("/team-work.csv?table=waits"))}
    vision = rows["Vision"]
    assert (vision["waits"], vision["still_waiting"], vision["median_wait_seconds"]) == (
        "1",
        "3",
        "",
    )
    text = words_of(finn.get("/team-work"))
    assert "of 2 runs and jobs and 3 still waiting; p90 over 1 d 1 h" in text


def test_the_page_asks_the_database_at_most_fifteen_questions(
    teams: dict[str, int], django_assert_max_num_queries: Any
) -> None:
    finance = signed_in("finance")
    finance.get("/team-work")
    with django_assert_max_num_queries(15):
        assert finance.get("/team-work").status_code == 200
