"""Evidence of spot: own nodes that clouds took back, and series that were imported."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.fleet.actions import end_node
from apps.fleet.actions.agent_reports import reclaim_node
from apps.placement.models import SpotSeries
from apps.placement.queries.spot_evidence import spot_evidence
from tests import make
from tests.rest import signed_in, with_token
from tests.table_lists import assert_listed_as_on_page

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def house() -> None:
    make.make_organisation()


def write(path: Path, values: list) -> Path:
    path.write_text(json.dumps({"metadata": {"gap_seconds": 3600}, "data": values}))
    return path


def imported(capsys, *arguments: object) -> dict:
    call_command("import_spot_trace", *(str(one) for one in arguments), "--json")
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_own_spot_nodes_tell_of_hours_and_of_those_taken_back() -> None:
    now = timezone.now()
    begun = now - timedelta(hours=10)
    pool_id = make.make_pool(
        "h100-spot", purchase_option="spot", provider="aws", region="us-east-1"
    )
    make.make_pool("h100-ours", purchase_option="owned")
    taken = make.make_node("gpu-01", pool_id=pool_id, at=begun)
    reclaim_node(node_id=taken, ended_at=begun + timedelta(hours=4), at=now)
    given_back = make.make_node("gpu-02", pool_id=pool_id, at=begun)
    end_node(node_id=given_back, ended_at=begun + timedelta(hours=6), reason="done", at=now)
    make.make_node("gpu-03", pool_id=pool_id, at=begun)
    (own,) = spot_evidence(now)
    assert (own.source, own.name, own.region) == ("own_nodes", "h100-spot", "us-east-1")
    assert own.rate.exposure_hours == pytest.approx(20)
    assert own.rate.interruptions == 1
    assert own.rate.is_thin
    assert own.up_share is None
    assert sum(hour.interruptions for hour in own.by_hour) == 1


def test_a_trace_is_imported_once_under_its_name(capsys, tmp_path) -> None:
    path = write(tmp_path / "west-2b.json", [1, 1, 0, None, 1, 1, 1, 0])
    told = imported(capsys, path, "--region", "us-west-2", "--starts-at", "2026-03-02T10:00Z")
    assert told == {
        "series": "west-2b",
        "ticks": 8,
        "tick_seconds": 3600,
        "hours": 8,
        "unknown_hours": 1,
        "up_share": pytest.approx(5 / 7),
        "interruptions": 2,
        "hours_up": 5,
    }
    imported(capsys, path)
    series = SpotSeries.objects.get()
    assert (series.region, series.starts_at, series.source) == ("", None, "west-2b.json")


def test_imported_series_are_read_over_rest_with_their_range(capsys, tmp_path) -> None:
    values = [1, 1, 0] * 30
    imported(
        capsys, write(tmp_path / "a.json", values), "--region=eu", "--starts-at=2026-03-02T00:00Z"
    )
    imported(capsys, write(tmp_path / "b.json", values))
    rows = with_token("read", name="reader").get("spot-evidence").json()["results"]
    assert [row["name"] for row in rows] == ["a", "b"]
    dated, undated = rows
    assert dated["interruptions"]["rate"] == 0.5
    assert dated["interruptions"]["low"] < 0.5 < dated["interruptions"]["high"]
    assert dated["mean_life_hours"] == 2
    assert dated["up_share"] == pytest.approx(2 / 3, abs=1e-6)
    assert len(dated["by_hour"]) == 24
    assert dated["seen_until"] == "2026-03-05T18:00:00Z"
    assert (undated["by_hour"], undated["seen_from"]) == ([], None)
    assert with_token("jobs", name="other").get("spot-evidence").status_code == 403
    assert_listed_as_on_page(
        with_token("read", name="orders"),
        "spot-evidence",
        page=signed_in("finn", "finance")[0].client,
        file="/placement/spot.csv?evidence-by=-name",
        sort="-name",
    )


def test_a_csv_brings_its_clock_with_it(capsys, tmp_path) -> None:
    path = tmp_path / "looks.csv"
    path.write_text("time,available\n2026-03-02T00:00Z,2\n2026-03-02T01:00Z,0\n")
    assert imported(capsys, path, "--name", "zone a")["series"] == "zone a"
    assert SpotSeries.objects.get().starts_at == datetime(2026, 3, 2, tzinfo=UTC)


def test_a_bad_file_or_a_clock_in_the_future_keeps_nothing(tmp_path) -> None:
    with pytest.raises(CommandError, match=r"bad.json: data\[1\]: 'x' is no number"):
        call_command("import_spot_trace", str(write(tmp_path / "bad.json", [1, "x"])))
    path = write(tmp_path / "a.json", [1, 0])
    with pytest.raises(CommandError, match="starts_at: is in the future"):
        call_command("import_spot_trace", str(path), "--starts-at=2099-01-01")
    assert not SpotSeries.objects.exists()


def test_zones_of_a_region_are_added_up_by_hour_of_the_day(capsys, tmp_path) -> None:
    place = ("--region=eu", "--provider=aws", "--gpu-model=NVIDIA H100 80GB HBM3")
    dated = "--starts-at=2026-03-02T00:00Z"
    # Of each day 20 hours up; one of the two is gone at 20:00, the other at 08:00, and nobody looked at 23:00.
    evening = [*[1] * 20, *[0] * 3, None] * 10
    morning = [*[1] * 8, *[0] * 4, *[1] * 11, None] * 10
    imported(capsys, write(tmp_path / "a.json", evening), *place, dated)
    imported(capsys, write(tmp_path / "b.json", morning), *place, dated)
    imported(capsys, write(tmp_path / "c.json", evening), "--region=us")
    (eu, us) = with_token("read", name="reader").get("spot-evidence/regions").json()["results"]
    assert (eu["region"], eu["names"], eu["unknown"]) == ("eu", ["a", "b"], "")
    hours = eu["hours"]
    assert [hour["hour"] for hour in hours] == list(range(24))
    seen = [hour["interruptions"]["interruptions"] for hour in hours]
    assert {at: count for at, count in enumerate(seen) if count} == {7: 10, 19: 10}
    assert hours[9]["up_share"] == 0.5
    assert (hours[1]["up_share"], hours[23]["up_share"]) == (1, None)
    assert hours[1]["interruptions"]["exposure_hours"] == 20
    assert hours[7]["interruptions"]["rate"] > 2 * hours[1]["interruptions"]["rate"] > 0
    assert us["unknown"] == "it was imported without the time of its first look"
    assert {hour["up_share"] for hour in us["hours"]} == {None}
    assert with_token("jobs", name="other").get("spot-evidence/regions").status_code == 403
