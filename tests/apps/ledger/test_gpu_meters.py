"""How hard held GPUs worked is shown beside what they cost, on pages and by REST; unknown is unknown."""

import csv
import html
import io
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client

from apps.ledger.models import MeterDay
from tests import make
from tests.apps.console.people import signed_in
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
DAY = {"window": "2026-03-02"}


class World:
    """For an hour Research holds four GPUs, SM active 40 % in half of it; Vision two, unmetered."""

    def __init__(self) -> None:
        make.make_organisation()
        self.research = make.make_team("Research")
        self.vision = make.make_team("Vision")
        scene.make_rule("research", self.research)
        scene.make_rule("vision", self.vision)
        self.node = scene.make_priced_node(pool_id=make.make_pool("h100"))
        self.uuids = scene.make_gpus(self.node)
        self.job = scene.make_job("1", self.node, gpus=4, uuids=self.uuids[:4])
        scene.make_job("2", self.node, gpus=2, uuids=self.uuids[4:6], account="vision")
        for uuid in self.uuids[:4]:
            self._metered(uuid)
        scene.settle()

    def _metered(self, uuid: str) -> None:
        (device_id,) = scene.device_ids([uuid])
        scene.make_usage(device_id, [240] * 60)
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE telemetry_usagehour SET sm_seconds = 720, sm_observed_seconds = 1800,"
                " dram_seconds = 450, dram_observed_seconds = 1800 WHERE device_id = %s",
                [device_id],
            )
            cursor.execute(
                "INSERT INTO telemetry_devicehour (hour, device_id, source, observed_seconds,"
                " nvlink_bytes) VALUES (%s, %s, 1, 1800, 3.6e12)",
                [scene.TEN, device_id],
            )


@pytest.fixture(scope="module")
def world(of_module: None) -> World:
    return World()


def text_of(client: Client, path: str, **given: str) -> str:
    answer = client.get(path, given)
    assert answer.status_code == 200
    text = html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode()))
    return re.sub(r"\s+", " ", text.replace("\N{NO-BREAK SPACE}", " "))


def by_rest(path: str, accept: str = "application/json", **given: str):
    reads = {"Authorization": f"Bearer {make.make_token('read').secret}", "Accept": accept}
    return Client(headers=reads).get(f"/api/v1/{path}", given)


def test_meters_are_those_of_the_gpus_that_a_job_held_and_owners_sum_to_its_time(world) -> None:
    metered = MeterDay.objects.get(job_id=world.job)
    assert (metered.team_id, metered.gpu_milliseconds) == (world.research, 4 * 3_600_000)
    assert (metered.sm_seconds, metered.sm_observed_seconds) == (4 * 720, 4 * 1800)
    assert (metered.tensor_seconds, metered.pcie_bytes) == (None, None)
    assert {each.gpu_milliseconds for each in MeterDay.objects.all()} == {
        4 * 3_600_000,
        2 * 3_600_000,
    }


def test_costs_say_allocated_and_sm_active_with_the_share_observed(world) -> None:
    finance = signed_in("finance")
    page = text_of(finance, "/costs", **DAY)
    assert "SM active 40 % (observed for 33 % of it)" in page
    assert "DRAM active NVLink SM observed" in page, "nobody reported PCIe"
    assert "Research 4.00 100 % 40 % – not known 25 % 2.00 GB/s 50 %" in page
    assert f"Vision 2.00{5 * ' – not known'} 0 %" in page
    for path in (f"/costs/teams/{world.research}", f"/costs/jobs/{world.job}"):
        assert "SM active 40 % (observed for 50 % of it)" in text_of(finance, path, **DAY)


def test_meters_are_ordered_as_the_address_says(world) -> None:
    finance = signed_in("finance")
    page = text_of(finance, "/costs", meters="team", **DAY)
    _, meters = page.split("GPU utilization", 1)
    assert "Team ↑" in meters
    assert meters.index("Research 4.00") < meters.index("Vision 2.00") < meters.index("Total 6.00")
    falling = text_of(finance, "/costs", meters="-team", **DAY)
    assert (
        falling.index("Vision 2.00") < falling.index("Research 4.00") < falling.index("Total 6.00")
    )


def test_a_lead_is_told_of_their_own_teams_gpus_alone(world) -> None:
    page = text_of(signed_in("lead"), "/costs", **DAY)
    assert "GPU utilization" not in page


def test_teams_and_rest_tell_the_same(world) -> None:
    page = text_of(signed_in("finance"), "/team-work", **DAY)
    assert "SM active 40 % (observed for 33 % of it)" in page

    costs = by_rest("costs", group_by="team", **DAY).json()
    meters = {row["team"]["name"]: row["meters"] for row in costs["results"]}
    assert meters["Research"] == {
        "held_gpu_hours": 4.0,
        "active_ratio": 1.0,
        "sm_active_ratio": 0.4,
        "tensor_active_ratio": None,
        "dram_active_ratio": 0.25,
        "nvlink_bytes_per_second": 2e9,
        "pcie_bytes_per_second": None,
        "sm_coverage_ratio": 0.5,
    }
    assert meters["Vision"]["sm_active_ratio"] is None
    assert meters["Platform"] is None
    assert costs["totals"]["meters"]["sm_coverage_ratio"] == pytest.approx(1 / 3, abs=1e-6)
    by_state = by_rest("costs", group_by="state", **DAY).json()
    assert {row["meters"] and 1 for row in by_state["results"]} == {None}
    work = by_rest("team-work", **DAY).json()["results"]
    assert {
        row["team"]["name"]: row["meters"]["sm_active_ratio"] for row in work if row["meters"]
    } == {
        "Research": 0.4,
        "Vision": None,
    }
    (first, *_) = csv.DictReader(
        io.StringIO(by_rest("costs", "text/csv", group_by="workload", **DAY).content.decode())
    )
    assert "meters_sm_active_ratio" in first


def test_a_node_has_sm_and_dram_active_beside_active_whoever_held_it(world, monkeypatch) -> None:
    monkeypatch.setattr("django.utils.timezone.now", lambda: scene.TEN + timedelta(hours=1))
    listed = text_of(signed_in("finance"), "/fleet")
    # Eight GPUs for an hour, of which four were observed for half of it.
    assert "40 % of 25 % 25 %" in listed
    page = text_of(signed_in("platform"), f"/fleet/nodes/{world.node}")
    assert "SM active 40 % (observed for 50 % of it)" in page
    sheet = signed_in("viewer").get("/fleet.csv").content.decode()
    (row,) = csv.DictReader(io.StringIO(sheet))
    assert (row["sm_active_ratio_24h"], row["dram_active_ratio_24h"]) == ("0.400000", "0.250000")
    assert row["sm_coverage_ratio_24h"] == "0.250000"
