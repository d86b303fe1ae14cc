"""Scenes of the demo that change what was told: they go through the doors, and the ledger stays whole."""

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from apps.economics.states import State
from apps.fleet import actions as fleet
from apps.fleet.models import JoinToken, Outage
from apps.fleet.queries.clouds import sync_health
from apps.ledger.models import BillRow, BillRule, Charge, Close, Export, LedgerDay
from apps.placement.models import JobQuote
from apps.placement.queries.fleet_moves import move_detection_runs, open_fleet_moves
from apps.placement.queries.quotes import calibration
from apps.placement.queries.spot_evidence import IMPORTED, spot_evidence
from apps.planning.actions import import_history
from apps.planning.models import Forecast, ScenarioRun, SeriesImport
from apps.planning.queries.budget_requests import approved_requests
from apps.planning.queries.events import demand_events
from apps.planning.queries.plans import plan_history, plans
from apps.planning.queries.power_limits import power_limits
from apps.planning.queries.requests import capacity_requests
from apps.planning.queries.series import SeriesKey
from apps.pricing.models import Rate
from apps.pricing.queries.quotas import quotas
from apps.review.queries.recommendations import (
    RecommendationsWanted,
    recommendation_detection_runs,
    recommendations,
)
from apps.workloads.actions.workloads import add_workload
from apps.workloads.models import ImportBatch, Job
from controlplane.demo.bills import take_bill
from controlplane.demo.company import WEEK, Company
from controlplane.demo.database import MANAGES, SIGN_IN
from controlplane.demo.doors import Doors
from controlplane.demo.fleet import DemoSpan, scenario
from controlplane.demo.scenes import (
    ahead,
    announced,
    asked,
    budgets,
    closes,
    cloud,
    moved,
    office,
    placed,
    prices,
    recommended,
)
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.scene import LATER, TEN
from tests.apps.placement import move_scene
from tests.apps.planning.crossover_scene import DAY_AFTER, serve_a_day

pytestmark = pytest.mark.django_db
IN_APRIL = datetime(2026, 4, 9, 9, tzinfo=UTC)


def company(ends_at: datetime = IN_APRIL) -> Company:
    """Its weeks end in April; nothing listens at its doors."""
    week = DemoSpan(ends_at - WEEK, ends_at, ends_at + timedelta(minutes=7))
    return Company(Doors("", {}, Path()), week, ends_at - 13 * WEEK, lambda sentence: None)


def test_outages_of_the_scenarios_are_of_a_kind_that_has_a_name() -> None:
    told = {each["kind"] for name in ("demo", "history") for each in scenario(name)["outages"]}
    assert told == {"maintenance", "failed"}
    assert told <= {kind for kind, _ in Outage._meta.get_field("kind").choices or ()}


def test_months_are_closed_and_a_late_owner_is_posted_as_a_correction() -> None:
    make.make_organisation()
    make.make_team("Search")
    make.make_person(SIGN_IN, role="finance")
    node_id = scene.make_priced_node()
    gpus = scene.make_gpus(node_id)
    job_id = scene.make_job("1", node_id, gpus=Fraction(4), uuids=gpus[:4])
    Job.objects.filter(id=job_id).update(cluster=make.make_cluster("harbor"), namespace="speech")
    fleet.end_node(
        node_id=node_id, ended_at=TEN + timedelta(hours=1), reason="given back", at=IN_APRIL
    )
    scene.settle_all(IN_APRIL)

    closes.close_months(company())
    assert [f"{made.month:%Y-%m}" for made in Close.objects.order_by("month")] == [
        "2026-01", "2026-02", "2026-03",
    ]  # fmt: skip

    closes.own_late(company())
    assert Charge.objects.exclude(corrects=None).exists()


def test_in_its_first_hours_a_month_leaves_the_one_before_open_and_corrects_an_older_one() -> None:
    first_hour = datetime(2026, 4, 1, tzinfo=UTC)
    make.make_organisation()
    make.make_team("Search")
    make.make_person(SIGN_IN, role="finance")
    node_id = scene.make_priced_node(started_at=first_hour - timedelta(hours=5), at=first_hour)
    fleet.end_node(node_id=node_id, ended_at=first_hour, reason="given back", at=first_hour)
    make.make_cluster("harbor")
    scene.settle_all(first_hour)

    closes.close_months(company(first_hour))
    closes.own_late(company(first_hour))

    assert [f"{close.month:%Y-%m}" for close in Close.objects.order_by("month")] == [
        "2025-12", "2026-01", "2026-02",
    ]  # fmt: skip


def test_the_clouds_bill_is_of_every_machine_and_there_before_anything_is_split() -> None:
    make.make_organisation()
    node_id = scene.make_priced_node(provider_id="i-0a1", started_at=TEN, at=LATER)
    fleet.end_node(
        node_id=node_id, ended_at=TEN + timedelta(hours=3), reason="given back", at=LATER
    )

    take_bill(company(), DemoSpan(TEN, TEN + WEEK, IN_APRIL, weeks_ago=5))
    scene.settle_all(IN_APRIL)

    billed = BillRow.objects.filter(resource_id="i-0a1")
    assert {(row.billed_cost, row.consumed_quantity) for row in billed} == {(scene.H100_RATE, 1)}
    charged = Charge.objects.filter(kind="node_hour")
    assert [(each.status, each.billed_micros) for each in charged] == [
        ("reconciled", scene.H100_RATE * 10**6)
    ] * 3


def test_the_cloud_is_read_by_what_it_said_once() -> None:
    make.make_organisation()
    cloud.read_the_cloud(company())
    assert {(each.what, each.state) for each in sync_health()} == {("quotas", "done")}
    assert {row["name"] if isinstance(row, dict) else row.name for row in quotas()} >= {
        "Running On-Demand P instances"
    }


def test_people_leave_a_rule_a_token_files_and_a_price_that_waits(settings, tmp_path) -> None:
    settings.HOME = tmp_path
    make.make_organisation()
    make.make_team("Search")
    make.make_cluster("atlas")
    make.make_pool("h100-on-demand")
    make.make_person(SIGN_IN, role="finance")
    make.make_person(MANAGES, role="platform")
    make.make_rate("49.536", kind="contract")

    for tell in (
        office.say_whose_transfer_it_is,
        office.let_machines_join,
        office.ask_for_files,
        office.import_accounting,
        office.send_history,
        prices.propose_a_price,
    ):
        tell(company())

    made = (BillRule, JoinToken, Export, ImportBatch)
    assert [each.objects.count() for each in made] == [1, 1, 2, 1]
    assert ImportBatch.objects.get().rows == 3
    history = SeriesImport.objects.get()
    assert (history.state, history.rejected) == ("asking", 1)
    assert history.seen["trial"]["hours"] > 200
    assert Rate.objects.exclude(standing="in_force").count() == 1


def test_teams_ask_for_capacity_and_finance_plans() -> None:
    make.make_organisation()
    make.make_person(SIGN_IN, role="finance")
    make.make_person(MANAGES, role="platform")
    make.make_team("Language models")
    add_workload(name="vlm-pilot", team_id=make.make_team("Vision"), kind="training")
    add_workload(name="chat-serving", team_id=make.make_team("Assistant"), kind="serving")
    for name in ("h100-on-demand", "h100-reserved", "l4-serving"):
        make.make_pool(name)

    asked.ask_for_capacity(company())
    asked.plan_ahead(company())

    assert [(fact.state, fact.team) for fact in capacity_requests(None)] == [
        ("raised", "Vision"), ("approved", "Assistant"), ("delivered", "Language models"),
    ]  # fmt: skip
    (held,) = approved_requests(IN_APRIL)
    assert held.starts_at < IN_APRIL < (held.ends_at or IN_APRIL), "some of this month is ahead"
    later, now = sorted(plans(), key=lambda plan: plan.variant_of is None)
    assert [len(plan.items) for plan in (now, later)] == [3, 3]
    assert later.variant_of == now.id
    assert [change.verb for change in plan_history(later.id)].count("changed") == 1


def test_everything_with_two_days_of_hours_is_forecast_and_knows_what_was_announced() -> None:
    make.make_organisation()
    add_workload(name="chat-serving", team_id=make.make_team("Assistant"), kind="serving")
    spent = [(TEN + hour * scene.HOUR, 40.0 + hour % 24) for hour in range(48)]
    import_history(series=SeriesKey("spend"), points=spent, at=IN_APRIL)
    announced.say_what_is_ahead(company())
    ahead.forecast_everything(company())
    by_hour = Forecast.objects.get(granularity="hour")
    assert (by_hour.method, by_hour.starts_at) == ("weighted_median", TEN + 48 * scene.HOUR)
    assert Forecast.objects.get(granularity="day").method == "last_week"
    assert [event.effect for event in demand_events()] == ["factor", "factor"]


def test_forecasts_of_the_weeks_before_are_held_against_what_came() -> None:
    make.make_organisation()
    begin = IN_APRIL - 5 * WEEK
    spent = [(begin + hour * scene.HOUR, 40.0 + hour % 24) for hour in range(5 * 7 * 24)]
    import_history(series=SeriesKey("spend"), points=spent, at=IN_APRIL)
    ahead.forecast_everything(company())
    by_hour = Forecast.objects.filter(granularity="hour").order_by("starts_at")
    assert [(made.starts_at, made.realised_hours) for made in by_hour] == [
        (IN_APRIL - 2 * WEEK, 14 * 24), (IN_APRIL - WEEK, 7 * 24), (IN_APRIL, 0),
    ]  # fmt: skip


def test_services_are_compared_with_apis_until_a_price_cut_flips_the_answer() -> None:
    make.make_organisation()
    for team, service in (("Assistant", "chat-serving"), ("Search", "search-serving")):
        serve_a_day(make.make_team(team), make.make_pool(f"of {team}"), service)
    ends_at = DAY_AFTER + timedelta(days=9)
    week = DemoSpan(ends_at - WEEK, ends_at, ends_at)
    ahead.compare_with_apis(
        Company(Doors("", {}, Path()), week, ends_at - 2 * WEEK, lambda sentence: None)
    )
    runs = list(ScenarioRun.objects.order_by("scenario_id", "ran_at"))
    assert [run.refusal for run in runs] == [""] * 4
    assert [run.answer["price_in_force"]["input"] for run in runs] == [0.9, 0.25, 0.16, 0.12]


def test_the_lab_has_a_circuit_and_an_air_conditioner() -> None:
    make.make_organisation()
    pool_id = make.make_pool("l40s-lab")
    budgets.enter_room(company())
    (room,) = power_limits()
    assert (room.pool_ids, room.watts.power_watts, room.watts.cooling_watts) == (
        (pool_id,), 4_800, 3_500,
    )  # fmt: skip


def test_spot_of_h100s_was_watched_for_a_month_and_the_fleet_is_looked_at_in_two_weeks() -> None:
    make.make_organisation()
    moved.look_at_the_fleet(company())

    (seen,) = [each for each in spot_evidence(IN_APRIL) if each.source == IMPORTED]
    assert (seen.region, seen.instance_type) == ("us-east-1", "p5.48xlarge")
    assert not seen.rate.is_thin
    newest, before = move_detection_runs()
    assert newest.week - before.week == WEEK
    assert open_fleet_moves(IN_APRIL + WEEK) == ()


def test_what_to_do_is_looked_for_in_the_weeks_and_answered() -> None:
    make.make_organisation()
    for address in (SIGN_IN, MANAGES):
        make.make_person(address, role="platform")
    moved_since = move_scene.BEGUN
    workload_id, _ = move_scene.make_work("jupyter", kind="notebook")
    LedgerDay.objects.filter(workload_id=workload_id).update(state=int(State.HELD_IDLE))
    week = DemoSpan(move_scene.AT - WEEK, move_scene.AT, move_scene.AT)
    told = Company(Doors("", {}, Path()), week, moved_since, lambda sentence: None)
    recommended.look_for_what_to_do(told)

    # Two weeks are on record: of one alone nothing is idle again and again.
    assert [each.week for each in recommendation_detection_runs()] == [
        date(2026, 3, 2),
        date(2026, 2, 23),
    ]
    (answered,) = recommendations(RecommendationsWanted(None, kinds=("idle_holder",)))
    assert answered.state == "dismissed"


def test_a_quoted_job_is_held_against_its_quote_and_two_others_wait() -> None:
    make.make_organisation()
    make.make_person(MANAGES, role="platform")
    for team in ("Ranking", "Language models", "Search"):
        make.make_team(team)
    cluster_id, began_at = make.make_cluster("atlas"), IN_APRIL - timedelta(days=2)
    pool_id = make.make_pool("h100-on-demand", cluster_id=cluster_id)
    node_id = scene.make_priced_node(
        pool_id=pool_id, started_at=began_at - timedelta(days=1), at=IN_APRIL
    )
    ended_at = began_at + timedelta(hours=3)
    job_id = scene.make_job("4901", node_id, gpus=Fraction(4), from_=began_at, to=ended_at)
    Job.objects.filter(id=job_id).update(cluster=cluster_id)
    scene.settle_all(IN_APRIL)

    placed.ask_where(company())

    (row,) = calibration()
    assert (row.option, row.count, row.on_time, row.with_deadline) == ("on_demand", 1, 1, 1)
    assert row.cost_ratio == pytest.approx(12 / 180)
    answers = JobQuote.objects.order_by("id").values_list("chosen", "answer__matched")
    assert [chosen for chosen, _ in answers] == [f"pool:{pool_id}", "", ""]
