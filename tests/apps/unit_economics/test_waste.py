"""Waste is one sum everywhere: every line of it once, by the minutes in which it was what it was."""

import csv
import io
from datetime import UTC, datetime

import pytest
from django.db.models import Sum
from django.utils import timezone
from rest_framework.test import APIClient

from apps.economics.run_time import Bucket
from apps.fleet.actions import end_node
from apps.ledger.actions.partitions import ensure_month
from apps.ledger.models import LedgerDay
from apps.ledger.queries import Basis, Window
from apps.ledger.queries.cube import CubeQuestion
from apps.unit_economics.models import RunDay
from apps.unit_economics.queries.diverged_runs import diverged_run_costs
from apps.unit_economics.queries.team_work import by_team, work_of_teams
from apps.unit_economics.queries.waste import (
    Waste,
    WasteNotTold,
    WastePart,
    waste_by,
    wastes_summed,
)
from apps.workloads.models import OwnershipRule
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.console.people import signed_in
from tests.apps.ledger import scene
from tests.apps.unit_economics import run_scene, service_scene

pytestmark = pytest.mark.django_db
NODE_MICROS = 98_320_000
HALF = NODE_MICROS // 2
DAY = Window("2026-03-02", scene.TEN.date(), scene.LATER.date(), "UTC")
UNTIL = scene.TEN + scene.HOUR


def waste_of(question: CubeQuestion) -> Waste:
    """All of it, in no groups."""
    return waste_by(question).get((), Waste())


@pytest.fixture
def research(monkeypatch: pytest.MonkeyPatch) -> int:
    """A team whose account is `research`; it is the day after."""
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 3, 3, 12, tzinfo=UTC))
    make.make_organisation()
    team_id = make.make_team()
    scene.make_rule("research", team_id)
    return team_id


def make_node_of_an_hour(name: str = "gpu-01") -> int:
    """A node that costs 98.32 in all."""
    node_id = scene.make_priced_node(name)
    end_node(node_id=node_id, ended_at=UNTIL, reason="", at=scene.LATER)
    return node_id


def make_run(idle: tuple[int, int], *stretches: tuple[Bucket, int, int]) -> int:
    """A run on a whole node for an hour, whose GPUs stood still in these minutes."""
    node_id = make_node_of_an_hour()
    uuids = scene.make_gpus(node_id)
    worked = [0 if idle[0] <= minute < idle[1] else 240 for minute in range(60)]
    for device_id in scene.device_ids(uuids):
        scene.make_usage(device_id, worked)
    job_id = scene.make_job("1", node_id, uuids=uuids)
    run_id = run_scene.make_run("llama", (job_id, scene.TEN, UNTIL))
    run_scene.tell_when(run_id, job_id, *stretches)
    return run_id


def waste_of_day(basis: Basis = Basis.EFFECTIVE) -> dict[WastePart, int]:
    """By part, without those of nothing."""
    parts = waste_of(CubeQuestion(DAY, basis=basis)).parts
    return {part: micros for part, micros in parts.items() if micros}


def test_idle_of_minutes_that_failed_is_failed_and_counts_once(research: int) -> None:
    make_run((0, 30), (Bucket.FAILED, 0, 30), (Bucket.PRODUCTIVE, 30, 60))
    scene.settle()
    assert waste_of_day() == {WastePart.FAILED: HALF}


def test_what_diverged_is_failed_or_redone_work_whatever_its_gpus_did(research: int) -> None:
    kept, wrong = Bucket.PRODUCTIVE, Bucket.DIVERGED
    make_run((15, 45), (kept, 0, 30), (wrong, 30, 45), (Bucket.LOST, 45, 50), (wrong, 50, 60))
    scene.settle()
    assert waste_of_day() == {WastePart.FAILED: HALF, WastePart.HELD_IDLE: NODE_MICROS // 4}
    (diverged,) = diverged_run_costs(CubeQuestion(DAY))
    assert diverged.run == "llama"
    assert diverged.micros == pytest.approx(25 * NODE_MICROS / 60, abs=2)
    assert audit_here(scene.TEN, UNTIL).adds_up


def test_idle_of_minutes_that_did_not_fail_is_waste_beside_them(research: int) -> None:
    make_run((0, 30), (Bucket.PRODUCTIVE, 0, 30), (Bucket.FAILED, 30, 60))
    scene.settle()
    assert waste_of_day() == {WastePart.FAILED: HALF, WastePart.HELD_IDLE: HALF}


def test_waiting_for_data_is_overhead_and_what_stood_idle_meanwhile_is_idle(research: int) -> None:
    make_run((0, 15), (Bucket.DATA_WAIT, 0, 30), (Bucket.PRODUCTIVE, 30, 60))
    scene.settle()
    assert waste_of_day() == {WastePart.HELD_IDLE: NODE_MICROS // 4}
    (work,) = by_team(work_of_teams(DAY, frozenset({research}), scene.LATER))
    assert (work.wasted_ratio, work.starved_micros) == (0.25, NODE_MICROS // 4)


def test_a_bucket_keeps_its_time_and_a_state_its_line(research: int) -> None:
    make_run((7, 20), (Bucket.STARTUP, 0, 9), (Bucket.LOST, 9, 31), (Bucket.PRODUCTIVE, 31, 60))
    scene.settle()
    rows = RunDay.objects.all()
    by_bucket = dict(rows.values_list("bucket").annotate(Sum("unit_milliseconds")))
    minute_ms = 8 * 60_000
    assert by_bucket == {
        Bucket.STARTUP: 9 * minute_ms,
        Bucket.LOST: 22 * minute_ms,
        Bucket.PRODUCTIVE: 29 * minute_ms,
    }
    idle = dict(rows.filter(state=2).values_list("bucket").annotate(Sum("unit_milliseconds")))
    assert idle == {Bucket.STARTUP: 2 * minute_ms, Bucket.LOST: 11 * minute_ms}


def test_an_hour_without_requests_is_waste_whatever_its_gpus_did(research: int) -> None:
    ensure_month(month=scene.TEN.date().replace(day=1))
    pool_id = make.make_pool()
    chat = service_scene.make_service(research)
    service_scene.make_line(pool_id, research, chat)
    service_scene.make_line(pool_id, research, chat, state=2)
    service_scene.make_line(pool_id, research, chat, state=2, hour=UNTIL)
    service_scene.count(chat, requests=0)
    service_scene.count(chat, requests=5, hour=UNTIL)
    service_scene.roll_up(pool_id)
    dollar = service_scene.DOLLAR
    assert waste_of_day() == {WastePart.NO_REQUESTS: 2 * dollar, WastePart.HELD_IDLE: dollar}


def test_a_run_that_failed_in_an_hour_without_requests_is_waste_once(research: int) -> None:
    run_id = make_run((0, 30), (Bucket.FAILED, 0, 45), (Bucket.PRODUCTIVE, 45, 60))
    batch = service_scene.make_service(research, "embed", "batch")
    OwnershipRule.objects.update(workload_id=batch)
    service_scene.count(batch, requests=0)
    scene.settle()
    assert RunDay.objects.filter(run_id=run_id, is_unasked=True).exists()
    assert waste_of_day() == {
        WastePart.FAILED: NODE_MICROS * 3 // 4,
        WastePart.NO_REQUESTS: NODE_MICROS // 4,
    }


@pytest.mark.parametrize("bucket", [Bucket.FAILED, Bucket.DIVERGED])
def test_every_page_and_answer_says_the_same(research: int, bucket: Bucket) -> None:
    done = Bucket.PRODUCTIVE
    make_run((0, 30), (done, 0, 20), (bucket, 20, 50), (done, 50, 60))
    make_node_of_an_hour("gpu-02")
    scene.settle()
    cost = LedgerDay.objects.aggregate(micros=Sum("effective_micros"))["micros"]
    assert cost == 2 * NODE_MICROS
    share = (NODE_MICROS * 5 // 6 + NODE_MICROS) / cost
    assert round(100 * share) == 92
    finn = signed_in("finance")
    day = "?window=2026-03-02"
    for page in ("/", "/team-work"):
        finding = finn.get(page + day).content.decode().partition("<title>")[2].partition("<")[0]
        assert "92" in finding, finding
    client = APIClient(HTTP_AUTHORIZATION=f"Bearer {make.make_token('read').secret}")
    rows = client.get(f"/api/v1/team-work{day}").json()["results"]
    wasted = sum(float(row["wasted_cost"]["amount"]) for row in rows)
    assert wasted == pytest.approx(cost * share / 1e6)
    parts = ("failed_cost", "no_requests_cost", "idle_cost", "not_held_cost")
    for row in rows:
        known = [float(row[name]["amount"]) for name in parts if row[name]]
        assert sum(known) == pytest.approx(float(row["wasted_cost"]["amount"]))
    table = list(csv.DictReader(io.StringIO(finn.get(f"/team-work.csv{day}").content.decode())))
    in_file = ("failed_cost", "no_requests_cost", "idle_cost", "not_held_cost")
    whole = sum(float(row[name] or 0) for row in table for name in in_file)
    assert whole == pytest.approx(wasted)


def test_groups_sum_to_the_whole_on_every_basis(research: int) -> None:
    make_run(
        (0, 30), (Bucket.FAILED, 20, 45), (Bucket.DIVERGED, 45, 60), (Bucket.PRODUCTIVE, 0, 20)
    )
    scene.settle()
    for basis in Basis:
        chosen = CubeQuestion(DAY, basis=basis)
        for name in ("day", "team", "workload", "pool"):
            assert wastes_summed(waste_by(chosen.by(name)).values()) == waste_of(chosen), basis
        assert (waste_of(chosen) == Waste()) == (basis is Basis.BILLED), basis


@pytest.mark.parametrize(
    ("question", "field"),
    [
        (CubeQuestion(DAY).of(**{"tag.a": ["b"]}), "tag.a"),
        (CubeQuestion(DAY).by("state"), "state"),
    ],
)
def test_what_runs_and_services_do_not_keep_is_refused(question: CubeQuestion, field: str) -> None:
    with pytest.raises(WasteNotTold) as refused:
        waste_by(question)
    assert refused.value.field == field
