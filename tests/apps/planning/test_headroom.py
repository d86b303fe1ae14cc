"""Headroom policies held against the forecast, on their page; who sets them, and what is refused."""

import csv
import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from apps.accounts.queries.trail import changes
from apps.economics.gates import Gate, GateName, serialize_gates
from apps.economics.headroom import erlang_c, least_servers
from apps.economics.hours import HOUR
from apps.economics.refusal import Refusal
from apps.fleet import queries as fleet
from apps.planning import actions
from apps.planning.models import Forecast
from apps.planning.queries.headroom import HeadroomFigures, headroom_of, headroom_policies
from apps.planning.queries.series import SeriesKey
from apps.planning.solvers.forecasting import forecast_fields
from apps.workloads.actions.workloads import add_workload
from tests import make
from tests.apps.console.people import confirmed, signed_in, text_of
from tests.rest import with_token
from tests.table_lists import assert_listed_as_on_page

pytestmark = pytest.mark.django_db

AT = datetime(2026, 3, 10, 10, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture(scope="module")
def pool(of_module: None) -> int:
    """A pool of two nodes of eight GPUs; the class serving is forecast from 4 to 22 GPUs, half of the time under 12."""
    make.make_organisation()
    pool_id = make.make_pool("h100")
    for name in ("gpu-01", "gpu-02"):
        make.make_node(name, pool_id=pool_id, units=8, started_at=AT - timedelta(days=30), at=AT)
    add_workload(name="chat", team_id=make.make_team("Red"), kind="serving")
    points = [(AT - hour * HOUR, 12.0) for hour in range(1, 20 * 24)]
    series = SeriesKey("gpu_hours", "workload_class", "serving")
    actions.import_history(series=series, points=points, at=AT)
    actions.make_forecasts(maker=forecast_fields, at=AT)
    # Quantiles that a line has: 4 GPUs at level 0.1, and two more for each tenth.
    levels = [[4.0 + 2 * place] * 336 for place in range(9)]
    Forecast.objects.update(quantiles=levels, points=[12.0] * 336)
    return pool_id


def new_policy(pool: int, **given: Any) -> actions.EnteredHeadroomPolicy:
    """Serving in that pool: short at 6, idle at 2, a week ahead."""
    values: dict[str, Any] = {
        "name": "Serving",
        "dimension": "workload_class",
        "key": "serving",
        "pool_ids": (pool,),
        "short_cost": Decimal(6),
        "idle_cost": Decimal(2),
        "lead_days": 7,
    } | given
    return actions.EnteredHeadroomPolicy(**values)


def figures(pool: int, **given: Any) -> HeadroomFigures:
    actions.add_headroom_policy(policy=new_policy(pool, **given), at=AT)
    (found,) = headroom_of(headroom_policies(), AT)
    return found


def test_gpus_needed_are_the_quantile_of_demand_that_costs_least(pool: int) -> None:
    found = figures(pool)
    assert found.policy.level == 0.75
    assert found.for_cost == 17, "16 GPUs at level 0.7, 18 at 0.8"
    assert (found.there, found.shortfall) == (16, 1)
    assert found.for_waiting is None


def test_a_month_ahead_is_of_the_forecasts_last_week_and_high_levels_go_on_beyond_it(
    pool: int,
) -> None:
    found = figures(pool, lead_days=30, short_cost=Decimal(98))
    assert found.policy.level == 0.98
    assert found.for_cost == 31, "20 GPUs at level 0.9, and a tail on the safe side beyond it"


def test_what_may_wait_is_erlangs_in_the_busiest_hour_by_jobs(pool: int) -> None:
    found = figures(pool, most_waiting=Decimal("0.05"), gpus_per_job=4)
    jobs = 12 / 4
    assert found.for_waiting == 4 * least_servers(jobs, 0.05)
    assert found.waiting == erlang_c(16 // 4, jobs)
    assert found.needed == max(17, found.for_waiting or 0)


def test_without_a_forecast_what_is_needed_is_not_known(pool: int) -> None:
    found = figures(pool, dimension="pool", key=str(pool), pool_ids=())
    assert (found.there, found.needed, found.shortfall) == (16, None, None)


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("name", {"name": ""}),
        ("of", {"dimension": "team"}),
        ("of", {"key": ""}),
        ("of", {"dimension": "pool", "key": "999999", "pool_ids": ()}),
        ("of", {"dimension": "gpu_model", "key": "H1000", "pool_ids": ()}),
        ("pool_ids", {"pool_ids": ()}),
        ("pool_ids", {"pool_ids": (999_999,)}),
        ("short_cost", {"short_cost": Decimal(0)}),
        ("idle_cost", {"idle_cost": Decimal("NaN")}),
        ("lead_days", {"lead_days": 0}),
        ("gpus_per_job", {"gpus_per_job": 0}),
        ("most_waiting", {"most_waiting": Decimal(1)}),
    ],
)
def test_what_is_wrong_is_refused_by_its_field(
    pool: int, field: str, given: dict[str, Any]
) -> None:
    with pytest.raises(Refusal) as refused:
        actions.add_headroom_policy(policy=new_policy(pool, **given), at=AT)
    assert refused.value.field == field


def test_a_policy_is_set_after_a_look_changed_and_removed(pool: int) -> None:
    finance = signed_in("finance")
    assert "No headroom policy yet" in text_of(finance.get("/headroom").content.decode())
    entered = {
        "name": "Serving", "of": "workload_class:serving", "pool_ids": [str(pool)],
        "short_cost": "6", "idle_cost": "2", "lead_days": "7", "most_waiting": "5", "gpus_per_job": "1",
    }  # fmt: skip
    looked = text_of(finance.get("/headroom/new", entered).content.decode())
    assert "GPUs are to suffice in 75 % of the hours of the next 7 days." in looked
    least = max(17, least_servers(12, 0.05))
    assert f"That takes {least} GPUs; 16 are there: {least - 16} short." in looked
    done = text_of(confirmed(finance, "/headroom/new", entered, follow=True).content.decode())
    assert f"Capacity shortfall against policy: Serving by {least - 16} GPU" in done
    (row,) = csv.DictReader(io.StringIO(finance.get("/headroom.csv").content.decode()))
    assert (row["name"], row["needed_for_cost_gpus"], row["there_gpus"]) == ("Serving", "17", "16")
    (policy,) = headroom_policies()
    path = f"/headroom/{policy.id}/change"
    assert 'value="5"' in finance.get(path).content.decode()
    cheaper = entered | {"short_cost": "1", "most_waiting": ""}
    done = text_of(confirmed(finance, path, cheaper, follow=True).content.decode())
    assert "1 policy of 1 is met" in done
    again = entered | {"name": " Serving "}
    taken = text_of(finance.get("/headroom/new", again).content.decode())
    assert "There is a policy named 'Serving' already." in taken
    confirmed(finance, f"/headroom/{policy.id}/remove", {"look": "yes"})
    assert headroom_policies() == []
    assert [each.verb for each in changes(kind="headroom policy", of=policy.id)] == [
        "removed", "changed", "added",
    ]  # fmt: skip


def test_policies_are_for_who_sees_everything(pool: int) -> None:
    lead = signed_in("lead", make.make_team("Blue"))
    for path in ("", ".csv", "/new"):
        assert lead.get(f"/headroom{path}").status_code == 403
    assert signed_in("finance").get("/headroom/999999/remove").status_code == 404


def test_programs_read_what_is_needed_where_they_read_prices(pool: int) -> None:
    figures(pool)
    (row,) = with_token("read", name="all").get("headroom-policies").json()["results"]
    assert (row["short_cost"], row["service_level_ratio"]) == (
        {"amount": "6.000000", "currency": "USD"},
        0.75,
    )
    assert (row["needed_for_cost_gpus"], row["there_gpus"], row["shortfall_gpus"]) == (17, 16, 1)
    assert (row["needed_for_waiting_gpus"], row["waiting_ratio"]) == (None, None)
    own = with_token("read", name="one", team_id=make.make_team("Blue"))
    assert own.get("headroom-policies").status_code == 403


def test_the_list_is_the_table_of_the_page(pool: int) -> None:
    for name, lead_days in (("Serving", 14), ("Batch", 7), ("Eval", 30)):
        policy = new_policy(pool, name=name, lead_days=lead_days)
        actions.add_headroom_policy(policy=policy, at=AT)
    machine = with_token("read", name="all")
    assert_listed_as_on_page(
        machine,
        "headroom-policies",
        page=signed_in("finance"),
        file="/headroom.csv?sort=-lead_days",
        sort="-lead_days",
    )
    rows = machine.get("headroom-policies", sort="-lead_days").json()["results"]
    assert [row["lead_days"] for row in rows] == [30, 14, 7]


def test_of_rare_demand_the_level_covers_what_came_and_no_more_than_was_ever_seen_thrice(
    pool: int,
) -> None:
    series = SeriesKey("gpu_hours", "pool", str(make.make_pool("seldom", purchase_option="spot")))
    came = [8.0 if hour % 37 == 0 else 0.0 for hour in range(1, 60 * 24)]
    points = [(AT - hour * HOUR, value) for hour, value in enumerate(came, 1)]
    actions.import_history(series=series, points=points, at=AT)
    actions.make_forecasts(maker=forecast_fields, at=AT)
    given = {"name": "Seldom", "dimension": "pool", "key": series.key, "pool_ids": frozenset()}
    actions.add_headroom_policy(
        policy=new_policy(pool, **given, short_cost=Decimal(99), idle_cost=Decimal(1)), at=AT
    )
    (figures,) = [
        each for each in headroom_of(headroom_policies(), AT) if each.policy.name == "Seldom"
    ]
    assert figures.for_cost is not None
    assert 8 <= figures.for_cost <= 24


def plant_gates(*gates: Gate) -> None:
    Forecast.objects.update(gates=serialize_gates(gates))


def test_a_policy_says_what_it_was_held_against_on_its_page_and_over_rest(pool: int) -> None:
    """A forecast that lost to its baseline, and GPUs beyond those that are there, are said in a sentence with what stands instead."""
    plant_gates(
        Gate(GateName.BASELINE, is_passed=False, says="it lost", fallback="last_week"),
        Gate(GateName.COVERAGE, is_passed=True, says="80 % of what came"),
    )
    found = figures(pool)
    assert [(gate.name, gate.is_passed) for gate in found.gates] == [
        (GateName.BASELINE, False),
        (GateName.COVERAGE, True),
        (GateName.CAPACITY, False),
        (GateName.PARTS, None),
        (GateName.HISTORY, True),
    ]
    finance = signed_in("finance")
    page = text_of(finance.get("/headroom").content.decode())
    assert (
        "Not passed: Serving: GPU-hours of workload class serving by the hour: it lost: last_week."
        in page
    )
    beyond = "what is there; what is beyond it waits, up to 1 GPU, at 6.00 USD an hour each"
    assert f"Not passed: Serving: at most 17 GPUs at once, and 16 are there: {beyond}." in page
    assert "Passed: 20 days of history for a term of 7 days." in page
    (row,) = with_token("read", name="all").get("headroom-policies").json()["results"]
    assert [(each["name"], each["is_passed"]) for each in row["gates"]] == [
        ("baseline", False), ("coverage", True), ("capacity", False), ("parts", None), ("history", True),
    ]  # fmt: skip
    (line,) = csv.DictReader(io.StringIO(finance.get("/headroom.csv").content.decode()))
    assert "last_week" in line["not_passed"]


def test_a_model_is_held_against_its_pools_and_a_lead_time_against_its_history(pool: int) -> None:
    other = make.make_pool("h100-b")
    model = fleet.pools()[pool].gpu_model
    for dimension, key, gpus in (
        ("gpu_model", model, 10.0),
        ("pool", str(pool), 8.0),
        ("pool", str(other), 5.0),
    ):
        points = [(AT - hour * HOUR, gpus) for hour in range(1, 20 * 24)]
        actions.import_history(series=SeriesKey("gpu_hours", dimension, key), points=points, at=AT)
    actions.make_forecasts(maker=forecast_fields, at=AT)
    found = figures(pool, dimension="gpu_model", key=model, pool_ids=(), lead_days=90)
    parts, history = found.gates[-2:]
    assert (parts.name, parts.is_passed) == (GateName.PARTS, False)
    assert parts.says == "its parts come to 28,080 beside 21,600 of the whole"
    assert (history.name, history.is_passed) == (GateName.HISTORY, False)
    assert history.says == "20 days of history for a term of 90 days"


def test_without_a_forecast_a_policy_says_that_nothing_was_tried(pool: int) -> None:
    found = figures(pool, dimension="pool", key=str(pool), pool_ids=())
    assert {gate.is_passed for gate in found.gates} == {None}
    assert len(found.gates) == 5
