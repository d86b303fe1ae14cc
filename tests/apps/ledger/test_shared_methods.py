"""A shared cost goes by the method that is stated, and says where another had to stand in."""

import csv
import io
import re
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.db.models import Sum
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.accounts.models import Team
from apps.economics.bases import BilledCosts
from apps.economics.sharing import METHODS
from apps.ledger.actions.sharing import HourSharing
from apps.ledger.models import Charge, ChargeKind, Line
from apps.ledger.queries.spreading import CostOwnerTotals, SharedCharge
from apps.pricing import actions as pricing
from apps.pricing.models import SharedCost
from apps.workloads.models import Job
from tests import make
from tests.apps.console.people import signed_in
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db

BUSY = [240] * 60


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def share(method: str, **given: Any) -> int:
    values: dict[str, Any] = {"starts_at": scene.TEN, "name": "storage"} | given
    cost = pricing.EnteredSharedCost(amount=Decimal(744), currency="USD", method=method, **values)
    return pricing.add_shared_cost(cost=cost, at=scene.LATER)


def shared(hour: datetime = scene.TEN) -> tuple[dict[int | None, int | None], str]:
    """Job → micro-units of the hour's dollar, and how that came to be."""
    charge = Charge.objects.get(kind=ChargeKind.SHARED, hour=hour)
    found = {line.job_id: line.effective_micros for line in Line.objects.filter(charge=charge)}
    assert sum(micros or 0 for micros in found.values()) == charge.effective_micros
    return found, charge.spread_method


def two_jobs() -> tuple[int, int, int, list[str]]:
    """Job 1 holds four GPUs of a node, job 2 two; nobody the other two."""
    node_id = scene.make_priced_node(pool_id=make.make_pool("h100"))
    uuids = scene.make_gpus(node_id)
    large = scene.make_job("1", node_id, gpus=4, uuids=uuids[:4])
    small = scene.make_job("2", node_id, gpus=2, uuids=uuids[4:6])
    return node_id, large, small, uuids


def meter(uuids: list[str], joules: float) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE telemetry_usagehour SET energy_joules = %s WHERE device_id = ANY(%s)",
            [joules, list(scene.device_ids(uuids))],
        )


def work(uuids: list[str], worked: list[int], key: str = "") -> None:
    for device_id in scene.device_ids(uuids):
        scene.make_usage(device_id, worked, key=key)


def test_by_active_time_only_who_worked_carries_it() -> None:
    _, large, small, uuids = two_jobs()
    work(uuids, [0] * 60)
    for key, ran in (("slurm/atlas/1", uuids[:1]), ("slurm/atlas/2", uuids[4:6])):
        work(ran, BUSY)
        work(ran, BUSY, key)
    share("by_active_time")

    scene.settle()

    found, said = shared()
    assert found == {large: 333_333, small: 666_667}
    assert said == "by active GPU time"


def test_held_time_that_nobody_saw_counts_as_active_and_says_so() -> None:
    _, large, small, _ = two_jobs()
    share("by_active_time")

    scene.settle()

    found, said = shared()
    assert found == {large: 666_667, small: 333_333}
    assert said == ("by active GPU time; held time that nobody observed counts as active")


def test_where_no_gpu_was_active_time_counts_and_the_charge_says_so() -> None:
    node_id = scene.make_priced_node()
    work(scene.make_gpus(node_id), [0] * 60)
    share("by_active_time")

    scene.settle()

    assert shared() == (
        {None: 1_000_000},
        "by active GPU time; by GPU time, as no GPU was active",
    )


def test_by_energy_whoever_ran_on_a_gpu_carries_what_it_drew() -> None:
    _, large, small, uuids = two_jobs()
    work(uuids, [0] * 60)
    work(uuids[:4], BUSY, "slurm/atlas/1")
    meter(uuids, 0)
    meter(uuids[:4], 900_000)
    meter(uuids[4:6], 600_000)
    share("by_energy")

    scene.settle()

    assert shared() == ({large: 750_000, small: 250_000}, "by energy")


def test_what_nobody_held_draws_for_everybody_on_the_node_by_time() -> None:
    _, large, small, uuids = two_jobs()
    work(uuids, [0] * 60)
    meter(uuids, 0)
    meter(uuids[7:], 500_000)
    share("by_energy")

    scene.settle()

    assert shared() == ({large: 500_000, small: 250_000, None: 250_000}, "by energy")


def test_a_gpu_without_a_meter_counts_with_the_mean_of_the_rest_and_says_so() -> None:
    _, large, small, uuids = two_jobs()
    work(uuids[:6], [0] * 60)
    meter(uuids[:4], 600_000)
    share("by_energy")

    scene.settle()

    found, said = shared()
    # Eight GPUs at the same power: four are job 1's, two job 2's, two everybody's.
    assert found == {large: 625_000, small: 312_500, None: 62_500}
    assert said == ("by energy; 50 % of GPU time had no meter and counts with the mean of the rest")


def test_without_any_meter_gpu_time_counts_and_the_charge_says_so() -> None:
    _, large, small, _ = two_jobs()
    share("by_energy")

    scene.settle()

    assert shared() == (
        {large: 500_000, small: 250_000, None: 250_000},
        "by energy; by GPU time, as no meter told",
    )


def test_time_without_a_price_carries_nothing_of_what_goes_by_cost_and_that_is_said() -> None:
    scene.make_priced_node()
    pool_id = make.make_pool("unpriced")
    make.make_node("gpu-02", pool_id=pool_id, started_at=scene.TEN, at=scene.LATER, units=8)
    share("by_cost")

    scene.settle()

    assert shared()[1] == "by direct cost; time without a price carries none"


def test_by_weights_only_teams_that_have_one_carry_it_inside_a_team_by_cost() -> None:
    _, large, small, _ = two_jobs()
    research, absent = make.make_team("Research"), make.make_team("Absent")
    scene.make_rule("research", research)
    share("weighted", weights={research: Decimal("1.5"), absent: Decimal("0.5")})

    scene.settle()

    charge = Charge.objects.get(kind=ChargeKind.SHARED, hour=scene.TEN)
    lines = Line.objects.filter(charge=charge)
    assert {(line.team_id, line.job_id, line.effective_micros) for line in lines} == {
        (research, large, 500_000),
        (research, small, 250_000),
        # Nothing of theirs ran in the hour: it is a line of the team alone.
        (absent, None, 250_000),
    }
    assert charge.spread_method == "by stated weights of teams"


def test_changed_weights_leave_past_hours_as_they_were() -> None:
    two_jobs()
    research, infra = make.make_team("Research"), make.make_team("Infra")
    eleven = scene.TEN + scene.HOUR
    cost_id = share("weighted", weights={research: Decimal(1)})

    new_id = pricing.change_shared_weights(
        cost_id=cost_id, weights={infra: Decimal(1)}, starts_at=eleven, at=scene.LATER
    )
    scene.settle(ends_at=eleven + scene.HOUR)

    found = Line.objects.filter(charge__kind=ChargeKind.SHARED).order_by("hour")
    assert [(line.hour, line.team_id, line.charge.shared_cost_id) for line in found] == [
        (scene.TEN, research, cost_id),
        (eleven, infra, new_id),
    ]
    assert found.aggregate(sum=Sum("effective_micros"))["sum"] == 2_000_000
    assert SharedCost.objects.get(id=cost_id).period.upper == eleven


def test_an_ended_cost_is_shared_no_longer_and_leaves_what_it_was() -> None:
    two_jobs()
    cost_id = share("even")
    scene.settle(ends_at=scene.TEN + 2 * scene.HOUR)

    pricing.end_shared_cost(cost_id=cost_id, ended_at=scene.TEN + scene.HOUR, at=scene.LATER)
    scene.settle(scene.LATER, ends_at=scene.TEN + 2 * scene.HOUR)

    hours = Charge.objects.filter(kind=ChargeKind.SHARED).values_list("hour", flat=True)
    assert list(hours) == [scene.TEN]
    with pytest.raises(pricing.SharedCostAlreadyEnded):
        pricing.end_shared_cost(cost_id=cost_id, ended_at=scene.LATER, at=scene.LATER)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"method": "weighted"}, "at least one team"),
        ({"method": "weighted", "weights": {999_999: Decimal(1)}}, "no team 999999"),
        ({"method": "even", "weights": {1: Decimal(1)}}, "only a cost that is shared by stated"),
        ({"method": "even", "name": " "}, "name:"),
    ],
)
def test_a_shared_cost_that_cannot_be_spread_is_refused(given: Any, said: str) -> None:
    with pytest.raises(pricing.RateNotUnderstood, match=said):
        share(**given)


@pytest.mark.parametrize("weight", ["0", "-1", "NaN", "0.0000001"])
def test_a_weight_that_weighs_nothing_is_refused(weight: str) -> None:
    team_id = make.make_team("Research")

    with pytest.raises(pricing.RateNotUnderstood, match="weights:"):
        share("weighted", weights={team_id: Decimal(weight)})


def test_weights_change_with_an_hour_and_a_name_is_shared_once_at_a_time() -> None:
    team_id = make.make_team("Research")
    cost_id = share("weighted", weights={team_id: Decimal(1)})

    with pytest.raises(pricing.RateNotUnderstood, match="beginning of an hour"):
        pricing.change_shared_weights(
            cost_id=cost_id,
            weights={team_id: Decimal(2)},
            starts_at=scene.TEN + timedelta(minutes=30),
            at=scene.LATER,
        )
    with pytest.raises(pricing.SharedCostExists):
        share("even", starts_at=scene.LATER)


bearers = st.lists(
    st.builds(
        CostOwnerTotals,
        pool_id=st.just(1),
        team_id=st.integers(1, 4),
        workload_id=st.none(),
        job_id=st.integers(1, 9),
        holder_key_id=st.none(),
        unit_ms=st.integers(0, 10**7),
        effective_micros=st.integers(-(10**6), 10**9),
        active_ms=st.integers(0, 10**7),
    ),
    max_size=6,
)
money = st.integers(0, 10**12)
methods = st.sampled_from(["even", "by_cost", "by_unit_time", "by_active_time", "weighted"])
team_weights = st.dictionaries(st.integers(1, 6), st.integers(1, 10**9), min_size=1)


@settings(deadline=None)
@given(
    bearers, st.tuples(money, money, money), st.integers(-(10**12), 10**12), methods, team_weights
)
def test_the_parts_of_a_shared_charge_sum_to_it_on_every_basis(
    bearers: list[CostOwnerTotals],
    amounts: tuple[int, int, int],
    billed: int,
    method: str,
    weights: dict[int, int],
) -> None:
    effective, contracted, listed = sorted(amounts)
    whole = BilledCosts(listed, contracted, effective, billed)

    shares, said = HourSharing(scene.TEN, bearers).shares(
        SharedCharge(id=1, method=method, costs=whole, weights=weights, reason="", spread_method="")
    )

    assert tuple(map(sum, zip(*[part for _, part in shares], strict=True))) == whole
    assert said.startswith(tuple(METHODS.values()))
    if method == "weighted":
        assert {bearer.team_id for bearer, _ in shares} == set(weights)


def test_direct_cost_is_told_without_what_is_shared_and_lines_say_by_what() -> None:
    two_jobs()
    share("by_energy")
    scene.settle()
    reads = {"Authorization": f"Bearer {make.make_token('read').secret}"}
    client = Client(headers=reads)
    window = {"window": "2026-03-02"}

    sums = client.get("/api/v1/costs", window).json()["totals"]
    lines = client.get("/api/v1/costs/lines", window | {"limit": "1000"}).json()["results"]
    csv = client.get("/api/v1/costs/lines", window, headers={"Accept": "text/csv"}).content.decode()

    assert [sums[f"{name}cost"]["amount"] for name in ("", "direct_", "shared_", "loaded_")] == [
        "99.320000",
        "98.320000",
        "1.000000",
        "99.320000",
    ]
    said = "by energy; by GPU time, as no meter told"
    shared_ones = [line for line in lines if line["kind"] == "shared"]
    assert {line["shared_by"] for line in shared_ones} == {said}
    assert {line["shared_cost"]["name"] for line in shared_ones} == {"storage"}
    assert {line["shared_by"] for line in lines if line["kind"] == "node_hour"} == {None}
    assert said in csv


def test_charged_direct_and_loaded_cost_mean_the_same_on_pages_in_files_and_by_rest() -> None:
    """Of a team whose pool shares its idle out, with a shared cost on top: three different sums."""
    _two_teams()
    share("by_cost")
    scene.settle()
    finance, window = signed_in("finance"), {"window": "2026-03-02"}
    reads = {"Authorization": f"Bearer {make.make_token('read').secret}"}
    answer = Client(headers=reads).get("/api/v1/costs", window | {"group_by": "team"})
    by_rest = {row["team"]["name"]: row for row in answer.json()["results"]}
    names = {"charged": "cost", "direct": "direct_cost", "loaded": "loaded_cost"}

    for loading, field in names.items():
        page = finance.get("/costs", window | {"cost": loading}).content.decode()
        text = finance.get("/costs.csv", window | {"cost": loading}).content.decode()
        rows = {row["team"]: row for row in csv.DictReader(io.StringIO(text))}
        assert {row["cost_is"] for row in rows.values()} == {loading}
        for team in rows:
            assert rows[team]["cost"] == by_rest[team][field]["amount"], (team, loading)
            assert f"${Decimal(rows[team]['cost']):,.2f}" in page
    research = by_rest["Research"]
    assert len({research[field]["amount"] for field in names.values()}) == 3
    kept = finance.get("/costs.csv", window | {"cost": "own"}).content.decode()
    assert kept == finance.get("/costs.csv", window | {"cost": "direct"}).content.decode()


def test_every_file_of_costs_has_the_cost_centre_beside_the_team() -> None:
    _two_teams()
    scene.settle()
    finance, window = signed_in("finance"), {"window": "2026-03-02"}
    reads = {"Authorization": f"Bearer {make.make_token('read').secret}", "Accept": "text/csv"}
    research = Team.objects.get(name="Research")
    by_rest = Client(headers=reads).get("/api/v1/costs", window | {"group_by": "team"})
    files = [by_rest] + [
        finance.get(path, window)
        for path in (
            "/costs.csv",
            "/overview.csv",
            f"/costs/teams/{research.id}.csv",
            f"/costs/jobs/{Job.objects.get(raw_id='1').id}.csv",
        )
    ]
    for answer in files:
        rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
        centres = {row["cost_centre"] for row in rows if row["team"] == "Research"}
        assert centres == {"CC-100"}, answer.request["PATH_INFO"]


def test_a_gpu_hour_costs_what_its_row_says_it_cost() -> None:
    """Cost ÷ GPU-hours, shared cost and all; at least so much where some hours have no price."""
    _two_teams()
    share("by_cost")
    unpriced = make.make_node(
        "bare-01", pool_id=make.make_pool("bare"), started_at=scene.TEN, at=scene.LATER, units=8
    )
    scene.make_job("3", unpriced, gpus=8, account="research")
    scene.settle()
    finance, window = signed_in("finance"), {"window": "2026-03-02"}

    text = finance.get("/costs.csv", window).content.decode()
    rows = {row["team"]: row for row in csv.DictReader(io.StringIO(text))}
    for path in ("/costs", "/"):
        page = re.sub(r"<[^>]+>", " ", finance.get(path, window).content.decode())
        for name, row in rows.items():
            each = Decimal(row["cost"]) / Decimal(row["gpu_hours"])
            at_least = r"≥\s+" if Decimal(row["unpriced_gpu_hours"]) else r"\s+"
            assert re.search(rf"{name}.*?{at_least}\${each:.3g}", page, re.DOTALL), (path, name)


def _two_teams() -> None:
    """Research's pool shares its idle out; Research holds four GPUs of its node, Vision two."""
    research = make.make_team("Research", cost_centre="CC-100")
    vision = make.make_team("Vision")
    scene.make_rule("research", research)
    scene.make_rule("vision", vision)
    pool_id = make.make_pool("h100", owner_team_id=research, idle_sharing="by_held_time")
    node_id = scene.make_priced_node(pool_id=pool_id)
    uuids = scene.make_gpus(node_id)
    scene.make_job("1", node_id, gpus=4, uuids=uuids[:4], account="research")
    scene.make_job("2", node_id, gpus=2, uuids=uuids[4:6], account="vision")
