"""What each kind looks at, what it proposes of that, and why it proposes the rest not."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from apps.economics.states import State
from apps.ledger.models import Charge, ChargePiece, LedgerDay
from apps.planning.models import KeptScenario, ScenarioRun
from apps.review.queries.recommending.idle_holders import detect_idle_holders
from apps.review.queries.recommending.lapsing_commitments import detect_lapsing
from apps.review.queries.recommending.proposal import DetectedKind, RecommendationProposal
from apps.review.queries.recommending.self_hosting import detect_self_hosting
from apps.workloads.models import Workload
from tests import make
from tests.apps.ledger import scene
from tests.apps.placement import move_scene
from tests.apps.placement.move_scene import AT, BEGUN, HOUR, HOURS

pytestmark = pytest.mark.django_db
MONTH_OF_WEEK = 730 / 168
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()


def only(found: DetectedKind) -> RecommendationProposal:
    (proposal,) = found.proposals
    assert found.looked_at == 1 + found.passed_over.total()
    return proposal


def leave_idle(workload_id: int, days: tuple[int, ...]) -> None:
    """Nothing ran on these days of the two weeks, though it held its GPUs."""
    idle = [(BEGUN + place * DAY).date() for place in days]
    LedgerDay.objects.filter(workload_id=workload_id, day__in=idle).update(
        state=int(State.HELD_IDLE)
    )


def test_what_is_idle_week_by_week_is_to_be_given_back_at_the_marginal_price() -> None:
    workload_id, pool_id = move_scene.make_work("jupyter", kind="notebook")
    leave_idle(workload_id, (0, 1, 2, 7, 8, 9))
    move_scene.make_work("busy")
    found = detect_idle_holders(AT)
    proposal = only(found)
    assert found.passed_over == {"it is not idle again and again": 1}
    # 3 days of 7 at 55.04 an hour, both weeks the same: half, three quarters, all of it.
    idle = 72 * 55_040_000 * MONTH_OF_WEEK
    saving = proposal.saving
    assert [saving.low, saving.likely, saving.high] == pytest.approx(
        [idle / 2, idle * 0.75, idle], rel=1e-6
    )
    assert proposal.spend_micros == pytest.approx(55_040_000 * 730, rel=1e-6)
    assert (proposal.key, proposal.cells) == (
        f"{workload_id}:{pool_id}",
        frozenset([f"{workload_id}:{pool_id}"]),
    )
    assert proposal.frees_gpu_hours is None
    assert proposal.baseline["idle_gpu_hours_week"] == 576
    assert [each.is_price for each in proposal.evidence] == [False, False, False, True]
    assert proposal.why.startswith("43% of the GPU time")


@pytest.mark.parametrize("days", [(0, 1, 2), (0, 7), ()])
def test_one_week_of_idleness_or_a_little_of_it_is_nothing_to_give_back(days: tuple[int, ...]) -> None:  # fmt: skip
    workload_id, _ = move_scene.make_work("jupyter", kind="notebook")
    leave_idle(workload_id, days)
    assert detect_idle_holders(AT).proposals == []


def test_gpus_that_are_paid_anyway_are_freed_and_save_nothing() -> None:
    workload_id, _ = move_scene.make_work("jupyter", kind="notebook", is_committed=True)
    leave_idle(workload_id, (0, 1, 2, 7, 8, 9))
    proposal = only(detect_idle_holders(AT))
    assert (proposal.saving.low, proposal.saving.high, proposal.spend_micros) == (0, 0, 0)
    assert proposal.frees_gpu_hours == pytest.approx(576 * MONTH_OF_WEEK)


def test_what_has_no_price_is_no_saving() -> None:
    workload_id, _ = move_scene.make_work("jupyter", kind="notebook", hourly=None)
    leave_idle(workload_id, (0, 1, 2, 7, 8, 9))
    found = detect_idle_holders(AT)
    assert found.passed_over == {"what its GPUs cost by the hour is not known": 1}


def test_nothing_is_looked_at_before_a_whole_week() -> None:
    for detect in (detect_idle_holders, detect_lapsing, detect_self_hosting):
        assert detect(AT).not_looked


def commit(used: bool, **given: Any) -> int:
    """Two machines at 24 an hour each, of which one was used, at 30 by the hour; or both."""
    pool_id = move_scene.make_work("committed", hourly=24_000_000, is_committed=True)[1]
    commitment_id = scene.make_commitment(
        **{"hourly": Decimal(48), "units": 2, "period": (BEGUN - HOUR, AT + 30 * DAY)} | given
    )
    on_demand = 30_000_000 if not used else 60_000_000
    charges = Charge.objects.filter(pool_id=pool_id)
    ChargePiece.objects.bulk_create(
        ChargePiece(
            charge=charge, start_ms=0, end_ms=3_600_000, list_micros=on_demand, contracted_micros=on_demand,
            effective_micros=24_000_000, commitment_id=commitment_id,
        )
        for charge in charges
    )  # fmt: skip
    Charge.objects.bulk_create(
        Charge(
            kind="commitment_unused", commitment_id=commitment_id, hour=hour, through=hour + HOUR,
            posting_month=hour.date().replace(day=1), status="estimated", currency="USD", digest=b"",
            effective_micros=24_000_000,
        )
        for hour in (BEGUN + place * HOUR for place in range(HOURS))
    )  # fmt: skip
    return commitment_id


def test_a_commitment_that_costs_more_than_its_use_would_is_let_lapse() -> None:
    commitment_id = commit(used=False)
    proposal = only(detect_lapsing(AT))
    # 48 an hour for what costs 30: 18 an hour, of 48.
    saving = proposal.saving
    assert (saving.low, saving.likely, saving.high) == (18_000_000 * 730,) * 3
    assert proposal.spend_micros == 48_000_000 * 730
    assert proposal.cells == frozenset([f"commitment:{commitment_id}"])
    assert "lapse on 1 April 2026" in proposal.title
    assert proposal.team_id is None


def test_a_commitment_that_is_worth_it_or_holds_for_long_is_passed_over() -> None:
    commit(used=True)
    scene.make_commitment(period=(BEGUN, AT + 200 * DAY), hourly=Decimal(40))
    found = detect_lapsing(AT)
    assert found.proposals == []
    assert found.passed_over == {
        "it costs no more than its use would by the hour": 1,
        "it ends in more than 13 weeks": 1,
    }


def compare(service: Workload, **given: Any) -> None:
    scenario = KeptScenario.objects.create(
        name=f"{service.name} against an API",
        service_id=service.pk,
        team_id=service.team_id,
        text="",
        created_at=AT,
        changed_at=AT,
        asked_at=AT,
    )
    answer = {
        "currency": "USD",
        "uncertainty": {"savings": {"p10": 100.0, "p50": 400.0, "p90": 9_000.0}},
    }
    values = {"ran_at": AT, "is_asked": False, "advice": "self_host", "answer": answer} | given
    ScenarioRun.objects.create(scenario=scenario, **values)


def pay_for_calls(service: Workload, daily: int) -> None:
    amounts = dict.fromkeys(
        ("list_micros", "contracted_micros", "effective_micros", "billed_micros"), daily
    )
    LedgerDay.objects.bulk_create(
        LedgerDay(
            day=day, posting_month=day.replace(day=1), status="estimated", kind="api", team_id=service.team_id,
            workload=service, flags=0, unit_milliseconds=0, held_milliseconds=0, observed_milliseconds=0,
            unpriced_milliseconds=0, **amounts,
        )
        for day in ((BEGUN + place * DAY).date() for place in range(14))
    )  # fmt: skip


def test_a_comparison_that_advises_to_serve_oneself_saves_no_more_than_calls_cost() -> None:
    move_scene.make_work("llm")
    team_id = make.make_team("Assistants")
    chat, idle, api = (
        Workload.objects.create(name=name, team_id=team_id, kind="serving")
        for name in ("chat", "quiet", "other")
    )
    pay_for_calls(chat, 48_000_000)
    compare(chat, flipped_from="api", moved=[{"name": "price of a GPU-hour"}])
    compare(idle)
    compare(api, advice="api")
    found = detect_self_hosting(AT)
    proposal = only(found)
    assert (proposal.title, proposal.team_id) == ("Serve chat yourself", team_id)
    spend = 48_000_000 / 24 * 730
    assert proposal.spend_micros == pytest.approx(spend, rel=1e-6)
    assert (proposal.saving.low, proposal.saving.likely) == (100_000_000, 400_000_000)
    assert proposal.saving.high == proposal.spend_micros
    assert "recommendation changed on 2 March 2026 as price of a GPU-hour moved" in proposal.why
    assert found.passed_over == {
        "no calls of its service are on record": 1,
        "it does not advise to serve it oneself": 1,
    }
