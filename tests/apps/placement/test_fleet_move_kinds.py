"""Each kind of move: what it proposes, at what it stops, and that 2,000 workloads are looked at in few statements."""

import time
from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts import queries as accounts
from apps.ledger.models import LedgerDay
from apps.placement.actions import detect_moves, make_offer_book, set_egress_prices
from apps.placement.models import JobQuote
from apps.placement.queries.fleet_moves import latest_move_detection_run, open_fleet_moves
from apps.planning.actions import EnteredGpuQuota, add_gpu_quota
from apps.planning.models import KeptScenario, PortfolioRun, ScenarioRun
from apps.workloads.models import Workload
from tests import make
from tests.apps.placement import move_scene
from tests.apps.placement.move_scene import AT, BEGUN, SINCE, SPENT

pytestmark = pytest.mark.django_db
WEEK = AT.date()
FAMILY = "NVIDIA H100 80GB HBM3, aws us-east-1"


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()
    make.make_rate("55.04", starts_at=SINCE)


def reasons(kind: str) -> dict[str, int]:
    look = latest_move_detection_run()
    assert look is not None
    (of_kind,) = [each for each in look.kinds if each["kind"] == kind]
    return {reason["why"]: reason["count"] for reason in of_kind["reasons"]}


def answered_portfolio(gpus: int, rate: float, **offered: float) -> int:
    """The newest portfolio, which buys so many GPUs of the family for a year."""
    offer = {
        "name": "a year",
        "family": FAMILY,
        "kind": "committed_use",
        "gpus": gpus,
        "rate": rate,
        **offered,
    }
    answer: dict[str, Any] = {
        "offers": [offer],
        "question": {"offers": [{"name": "a year", "term_months": 12}]},
    }
    return PortfolioRun.objects.create(asked_at=AT, state="done", answer=answer).pk


def advised_api(service_id: int, team_id: int, api_month: float) -> int:
    """A kept comparison whose newest run advises the API, which asks for so much a month."""
    scenario = KeptScenario.objects.create(
        name="chat or an API", team_id=team_id, service_id=service_id, text="", created_at=AT,
        changed_at=AT, asked_at=AT,
    )  # fmt: skip
    savings = {"p10": -900.0, "p50": -500.0, "p90": -100.0}
    answer = {"costs": {"api_month": api_month}, "uncertainty": {"savings": savings}}
    ScenarioRun.objects.create(
        scenario=scenario, ran_at=AT, is_asked=False, advice="api", answer=answer
    )
    return scenario.pk


def quoted_data(job_run_id: int, gigabytes: float, *residency: str) -> None:
    """A quote that a run took says where its data lies, and where it may be."""
    data = {"place": "aws:us-east-1", "gigabytes": gigabytes}
    JobQuote.objects.create(
        asked_at=AT, job={"work": {}, "dataset": data, "residency": list(residency)},
        book_digest="", digest="", answer={"offers": []}, chosen="x", taken_at=AT, taken_by_run_id=job_run_id,
    )  # fmt: skip


def test_a_commitment_is_proposed_up_to_the_floor_and_says_so() -> None:
    _, pool_id = move_scene.make_work()
    run_id = answered_portfolio(12, 4.0)
    detect_moves(week=WEEK, at=AT)
    (move,) = open_fleet_moves(AT)
    # Twelve are bought, eight run all the time, at 6.88 an hour on demand.
    assert (move.kind, move.subject) == ("to_commitment", f"8 GPUs of {FAMILY}")
    assert move.saving.likely == pytest.approx(8 * (6.88 - 4.0) * 730 * 1e6)
    assert move.saving.high <= move.spend_micros == pytest.approx(SPENT)
    assert (move.disruption, move.pool_id, move.workload_id) == ("low", pool_id, None)
    assert "12 months" in move.disruption_reason
    assert {(each.kind, each.ref) for each in move.evidence} >= {("portfolio", str(run_id))}
    # It is the organisation's to decide: no team's people see it.
    everybody = frozenset(team.id for team in accounts.teams())
    assert open_fleet_moves(AT, everybody) == ()


@pytest.mark.parametrize(("days", "is_said"), [(90.0, True), (122.0, False)])
def test_a_commitment_says_where_its_history_does_not_bear_its_term(
    days: float, is_said: bool
) -> None:
    move_scene.make_work()
    answered_portfolio(8, 4.0, history_days=days)
    detect_moves(week=WEEK, at=AT)
    (move,) = open_fleet_moves(AT)
    said = "90 days of history for a term of 365 days, which is over 3 times as long"
    assert (said in move.doubts) is is_said


def test_a_commitment_that_costs_more_than_it_saves_is_none() -> None:
    move_scene.make_work()
    answered_portfolio(8, 7.0)
    detect_moves(week=WEEK, at=AT)
    assert open_fleet_moves(AT) == ()
    assert reasons("to_commitment") == {"it saves nothing": 1}


def test_of_a_commitment_and_spot_for_the_same_dollars_one_is_counted() -> None:
    workload_id, _ = move_scene.make_work()
    move_scene.plant_training(workload_id)
    move_scene.offer_spot()
    make_offer_book(at=AT)
    answered_portfolio(8, 4.0)
    detect_moves(week=WEEK, at=AT)
    moves = open_fleet_moves(AT)
    assert {move.kind for move in moves} == {"to_spot", "to_commitment"}
    assert {move.exclusive_group for move in moves} == {1}
    (counted,) = [move for move in moves if move.is_counted]
    look = latest_move_detection_run()
    assert look is not None
    assert look.counted_micros == counted.saving.likely <= look.addressable_micros


def test_work_moves_elsewhere_net_of_the_egress_of_its_data() -> None:
    workload_id, _ = move_scene.make_work()
    run_id = move_scene.plant_training(workload_id)
    quoted_data(run_id, 1_000)
    prices = {("aws:us-east-1", "aws:us-west-2"): Decimal("0.02")}
    set_egress_prices(prices=prices, source="list", at=AT)
    make.make_rate("40.00", region="us-west-2", starts_at=SINCE)
    make_offer_book(at=AT)
    detect_moves(week=WEEK, at=AT)
    (move,) = open_fleet_moves(AT)
    assert (move.kind, move.egress_micros) == ("elsewhere", 20_000_000)
    assert move.saving.likely == pytest.approx(SPENT * (1 - 40 / 55.04), rel=1e-6)
    assert "1,000 GB are moved once from aws:us-east-1" in move.why


def test_work_whose_data_may_not_be_elsewhere_stays() -> None:
    workload_id, _ = move_scene.make_work()
    quoted_data(move_scene.plant_training(workload_id), 1_000, "aws:us-east-")
    prices = {("aws:us-east-1", "aws:us-west-2"): Decimal("0.02")}
    set_egress_prices(prices=prices, source="list", at=AT)
    make.make_rate("40.00", region="us-west-2", starts_at=SINCE)
    make_offer_book(at=AT)
    detect_moves(week=WEEK, at=AT)
    assert open_fleet_moves(AT) == ()
    assert reasons("elsewhere") == {"where it costs less, its data may not be": 1}


@pytest.mark.parametrize(("most", "count"), [(7, 0), (8, 1)])
def test_work_goes_only_where_a_quota_leaves_room_for_it(most: int, count: int) -> None:
    workload_id, _ = move_scene.make_work()
    quoted_data(move_scene.plant_training(workload_id), 1_000)
    prices = {("aws:us-east-1", "aws:us-west-2"): Decimal("0.02")}
    set_egress_prices(prices=prices, source="list", at=AT)
    make.make_rate("40.00", region="us-west-2", starts_at=SINCE)
    add_gpu_quota(quota=EnteredGpuQuota("aws", "us-west-2", "", most, 14), at=AT)
    make_offer_book(at=AT)
    detect_moves(week=WEEK, at=AT)
    assert len(open_fleet_moves(AT)) == count
    why = "where it costs less, a quota leaves fewer GPUs than it needs"
    assert reasons("elsewhere").get(why, 0) == 1 - count


@pytest.mark.parametrize(
    ("data", "egress", "why"),
    [
        (False, True, "how much data it needs is not known: no quote of it says so"),
        (True, False, "what its data costs to move there is not known"),
    ],
)
def test_without_its_data_or_the_price_of_egress_nothing_goes_elsewhere(
    data: bool, egress: bool, why: str
) -> None:
    workload_id, _ = move_scene.make_work()
    run_id = move_scene.plant_training(workload_id)
    prices = {("aws:us-east-1", "aws:us-west-2"): Decimal("0.02")}
    set_egress_prices(prices=prices if egress else {}, source="list", at=AT)
    for known_run in [run_id] * data:
        quoted_data(known_run, 1_000)
    make.make_rate("40.00", region="us-west-2", starts_at=SINCE)
    make_offer_book(at=AT)
    detect_moves(week=WEEK, at=AT)
    assert open_fleet_moves(AT) == ()
    assert reasons("elsewhere") == {why: 1}


def test_a_service_goes_to_an_api_at_what_leaves_the_bill() -> None:
    workload_id, _ = move_scene.make_work("chat", kind="serving")
    team_id = Workload.objects.get(pk=workload_id).team_id
    advised_api(workload_id, team_id, 30_000)
    detect_moves(week=WEEK, at=AT)
    (move,) = open_fleet_moves(AT)
    assert (move.kind, move.disruption) == ("to_api", "high")
    assert move.saving.likely == pytest.approx(SPENT - 30_000_000_000, rel=1e-6)
    assert move.saving.high - move.saving.likely == pytest.approx(400_000_000, abs=2)


@pytest.mark.parametrize(
    ("pool", "why"),
    [
        ({"purchase_option": "reserved"}, "on owned or reserved GPUs: they are paid whether it runs or not"),
        ({"is_committed": True}, "covered by commitments: they are paid whether it runs or not"),
        ({"purchase_option": "spot"}, "on spot already"),
        ({"hourly": None}, "a part of its time has no price"),
    ],
)  # fmt: skip
def test_what_is_paid_anyway_or_has_no_price_is_not_moved(pool: dict[str, Any], why: str) -> None:
    workload_id, _ = move_scene.make_work(**pool)
    move_scene.plant_training(workload_id)
    move_scene.offer_spot()
    make_offer_book(at=AT)
    detect_moves(week=WEEK, at=AT)
    assert open_fleet_moves(AT) == ()
    assert reasons("to_spot") == {why: 1}


def test_without_a_book_of_offers_the_look_says_so() -> None:
    workload_id, _ = move_scene.make_work()
    move_scene.plant_training(workload_id)
    detect_moves(week=WEEK, at=AT)
    assert reasons("to_spot") == {"no offer book was made yet": 1}


def test_two_thousand_workloads_are_looked_at_in_few_statements() -> None:
    workload_id, pool_id = move_scene.make_work()
    move_scene.plant_training(workload_id)
    team_id = Workload.objects.get(pk=workload_id).team_id
    many = Workload.objects.bulk_create(
        Workload(name=f"work {number}", team_id=team_id, kind="training") for number in range(2_000)
    )
    LedgerDay.objects.bulk_create(
        LedgerDay(
            day=BEGUN.date(), posting_month=BEGUN.date().replace(day=1), status="estimated", kind="node_hour",
            unit="gpu", is_of_job=True, workload=each, team_id=team_id, pool_id=pool_id, state=1, flags=0,
            list_micros=1_000, contracted_micros=1_000, effective_micros=1_000, billed_micros=1_000,
            unit_milliseconds=3_600, held_milliseconds=3_600, observed_milliseconds=0, unpriced_milliseconds=0,
        )
        for each in many
    )  # fmt: skip
    move_scene.offer_spot()
    make_offer_book(at=AT)
    began = time.process_time()
    with CaptureQueriesContext(connection) as asked:
        detect_moves(week=WEEK, at=AT)
    assert len(asked) <= 40
    assert time.process_time() - began < 10
    look = latest_move_detection_run()
    assert look is not None
    assert look.kinds[0]["seen"] == 2_001
    assert reasons("to_spot")["not among the 300 that cost most"] == 1_701
    (move,) = open_fleet_moves(AT)
    assert move.workload_id == workload_id
