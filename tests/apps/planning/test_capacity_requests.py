"""Capacity requests: what Runrate attaches by itself, who decides, and the clock to productive work."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from apps.economics.capacity import GpuReturn
from apps.economics.refusal import Refusal
from apps.planning.actions import requests as actions
from apps.planning.actions.budgets import EnteredBudget, add_budget
from apps.planning.actions.requests import CapacityNotAskable
from apps.planning.models import CapacityRequest
from apps.planning.queries.budgets import BudgetStep
from apps.planning.queries.request_profile import DemandForecast, RequestedCapacity
from apps.planning.queries.request_words import (
    budget_words,
    forecast_words,
    profile_sentences,
    request_cost,
    returned_gpus,
)
from apps.planning.queries.requests import (
    CapacityRequestFact,
    capacity_request,
    capacity_requests,
    may_decide,
)
from apps.workloads.actions.workloads import add_workload
from tests import make
from tests.apps.planning.capacity_scene import ASKED_AT, NEXT_DAY, raised, starved_team
from tests.apps.unit_economics import service_scene

pytestmark = pytest.mark.django_db
HOUR_MS = 3_600_000


@pytest.fixture(scope="module")
def starved(of_module: None) -> Iterator[tuple[int, int]]:
    """The team, and the pool in which it waited."""
    make.make_organisation()
    return starved_team()


def fact_of(request_id: int) -> CapacityRequestFact:
    fact = capacity_request(request_id, None)
    assert fact is not None
    return fact


def test_the_profile_of_28_days_is_attached_and_says_what_follows(starved) -> None:
    team_id, pool_id = starved
    profile = fact_of(raised(team_id, pool_id=pool_id)).profile
    assert (profile.first_day, profile.end_day) == ("2026-02-03", "2026-03-03")
    assert profile.span_ms == 14 * HOUR_MS, "nothing was there before ten o'clock of the last day"
    use = profile.there
    assert use == profile.everywhere
    assert (use.held_ms, use.active_ms, use.told_ms) == (8 * HOUR_MS, 4 * HOUR_MS, 8 * HOUR_MS)
    assert use.lost_ms == {GpuReturn.DATA_WAIT: 4 * HOUR_MS, GpuReturn.IDLE: 2 * HOUR_MS}
    assert use.waste == {"held_idle": use.waste_micros} == {"held_idle": 49_160_000}
    assert use.micros == 98_320_000
    said = [(each.sentence, each.formula) for each in profile_sentences(profile)]
    assert said == [
        (
            "A data-loader fix returns up to 0.29 GPUs.",
            "0.57 GPUs of runs that report × 50\xa0% of their time waiting for data = 0.29",
        ),
        (
            "Giving up GPUs that are idle while allocated returns up to 0.14 GPUs.",
            "0.57 GPUs held × 25\xa0% idle while allocated, data waits left aside = 0.14",
        ),
        ("None of its runs’ reported time failed or was redone.", ""),
    ]
    assert returned_gpus(profile) == pytest.approx(6 / 14)


def test_of_a_team_all_below_it_counts_and_of_a_workload_that_alone(starved) -> None:
    team_id, pool_id = starved
    below = make.make_team("Research, evaluation", parent_id=team_id)
    service_scene.make_line(pool_id, below, None)
    service_scene.roll_up(pool_id)
    profile = fact_of(raised(team_id, pool_id=pool_id)).profile
    assert profile.there.held_ms == profile.everywhere.held_ms == 9 * HOUR_MS
    assert fact_of(raised(below, pool_id=pool_id)).profile.there.held_ms == HOUR_MS
    llm = add_workload(name="llm", team_id=team_id, kind="training")
    alone = fact_of(raised(team_id, pool_id=pool_id, workload_id=llm)).profile
    assert alone.everywhere.held_ms == 0


def test_what_is_not_measured_is_said_and_of_other_gpus_nothing_returns(starved) -> None:
    team_id, pool_id = starved
    elsewhere = fact_of(raised(team_id, gpu_model="B200")).profile
    assert elsewhere.there.held_ms == 0
    assert returned_gpus(elsewhere) is None
    assert elsewhere.price is None
    assert elsewhere.forecasts == ()
    idle = make.make_team("Dark")
    service_scene.make_line(pool_id, idle, None, state=3)
    service_scene.roll_up(pool_id)
    dark = fact_of(raised(idle, pool_id=pool_id)).profile
    assert [each.gpus for each in profile_sentences(dark)] == [None, None, None]
    assert "not measured" in profile_sentences(dark)[0].sentence
    assert profile_sentences(fact_of(raised(make.make_team("New"), pool_id=pool_id)).profile) == []


def test_a_request_costs_gpus_times_hours_times_the_price_in_force(starved) -> None:
    team_id, pool_id = starved
    fact = fact_of(raised(team_id, pool_id=pool_id))
    price = fact.profile.price
    assert price is not None
    assert (price.micros, price.basis) == (12_290_000, "list")
    assert request_cost(fact) == 12 * 240 * 12_290_000
    open_ended = fact_of(raised(team_id, pool_id=pool_id, ends_at=None))
    assert request_cost(open_ended) == 12 * 720 * 12_290_000
    assert request_cost(fact_of(raised(team_id, gpu_model="B200"))) is None


def test_the_budgets_that_run_are_attached_and_those_of_others_are_not(starved) -> None:
    team_id, pool_id = starved
    for name, of, first_day in (
        ("Research, a month", team_id, date(2026, 1, 1)),
        ("Research, later", team_id, date(2027, 1, 1)),
        ("Blue, a month", make.make_team("Blue"), date(2026, 1, 1)),
    ):
        steps = (BudgetStep(first_day, Decimal(1000)),)
        budget = EnteredBudget(name, "team", str(of), "money", "monthly", first_day, None, steps)
        add_budget(budget=budget, at=ASKED_AT)
    (held,) = fact_of(raised(team_id, pool_id=pool_id)).profile.budgets
    assert (held.name, held.amount, held.end_day) == ("Research, a month", 10**9, "2026-04-01")
    assert held.headroom is not None
    assert held.headroom < 10**9 - 98_320_000
    assert budget_words(held, "USD").startswith("Research, a month: ")


def test_the_snapshot_stays_as_it_was(starved) -> None:
    team_id, pool_id = starved
    request_id = raised(team_id, pool_id=pool_id)
    before = fact_of(request_id).profile
    service_scene.make_line(pool_id, team_id, None)
    service_scene.roll_up(pool_id)
    assert fact_of(request_id).profile == before
    assert fact_of(raised(team_id, pool_id=pool_id)).profile != before


def test_forecasts_are_held_against_what_is_there() -> None:
    demand = DemandForecast(1, "pool", "h100", "2026-03-02T00:00:00+00:00", 336, 50.0, 66.0, 64)
    assert forecast_words(demand, 12) == (
        "GPU-hours forecast of pool h100: 50.0 GPUs on average over 14 days, up to 66.0; 64 are there, "
        "14.0 free on average: 12 more fit in them."
    )
    assert "15 more do not fit in them" in forecast_words(demand, 15)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"gpu_model": "B200", "gpus": 0}, "gpus"),
        ({"gpu_model": "B200", "ends_at": NEXT_DAY}, "ends_at"),
        ({"gpu_model": "B200", "reason": "  "}, "reason"),
        ({"gpu_model": "abacus"}, "gpu_model"),
        ({"gpu_model": "H100"}, "gpu_model"),
        ({"pool_id": 987654}, "pool"),
        ({}, "pool"),
        ({"gpu_model": "B200", "pool_id": 987654}, "pool"),
        ({"gpu_model": "B200", "workload_id": 987654}, "workload"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_at_its_field(starved, given, field) -> None:
    with pytest.raises(Refusal) as refused:
        raised(starved[0], **given)
    assert refused.value.field == field
    assert not CapacityRequest.objects.exists()


def test_finance_or_platform_decides_but_nobody_on_their_own(starved) -> None:
    finn = make.make_person("finn@example.org", role="finance")
    dee = make.make_person("dee@example.org", role="lead")
    decision = {"reason": "it pays", "at": ASKED_AT + timedelta(hours=2)}
    own = raised(starved[0], pool_id=starved[1], by=finn)
    assert may_decide(fact_of(own), finn, "finance"), "nobody else could"
    petra = make.make_person("petra@example.org", role="platform")
    assert not may_decide(fact_of(own), finn, "finance")
    with pytest.raises(actions.AnotherPersonDecides):
        actions.approve_capacity_request(capacity_request_id=own, by=finn, **decision)
    with pytest.raises(actions.RequestDecidedByManagers):
        actions.decline_capacity_request(capacity_request_id=own, by=dee, **decision)
    with pytest.raises(CapacityNotAskable):
        actions.approve_capacity_request(
            capacity_request_id=own, by=petra, reason=" ", at=decision["at"]
        )
    actions.approve_capacity_request(capacity_request_id=own, by=petra, **decision)
    fact = fact_of(own)
    assert (fact.state, fact.time_to_decision) == ("approved", timedelta(hours=2))
    assert [(step.kind, step.by, step.reason) for step in fact.steps] == [
        ("raised", "Ada", "a longer context"),
        ("approved", "Ada", "it pays"),
    ]
    with pytest.raises(actions.RequestNotOpen, match="the request is approved"):
        actions.decline_capacity_request(capacity_request_id=own, by=petra, **decision)


def test_who_raised_it_may_take_it_back_until_it_is_delivered(starved) -> None:
    dee = make.make_person("dee@example.org", role="lead")
    eve = make.make_person("eve@example.org", role="lead")
    petra = make.make_person("petra@example.org", role="platform")
    request_id = raised(starved[0], pool_id=starved[1], by=dee)
    given = {"reason": "", "at": ASKED_AT + timedelta(hours=1)}
    with pytest.raises(actions.RequestDecidedByManagers):
        actions.withdraw_capacity_request(capacity_request_id=request_id, by=eve, **given)
    with pytest.raises(actions.RequestNotOpen):
        actions.deliver_capacity_request(capacity_request_id=request_id, by=petra, **given)
    actions.withdraw_capacity_request(capacity_request_id=request_id, by=dee, **given)
    assert fact_of(request_id).state == "withdrawn"
    with pytest.raises(actions.RequestNotOpen):
        actions.withdraw_capacity_request(capacity_request_id=request_id, by=petra, **given)


def test_the_clock_runs_from_raised_to_the_first_productive_gpu_hour(starved) -> None:
    team_id, pool_id = starved
    dee = make.make_person("dee@example.org", role="lead")
    petra = make.make_person("petra@example.org", role="platform")
    request_id = raised(team_id, pool_id=pool_id, by=dee)
    decided_at, delivered_at = ASKED_AT + timedelta(hours=2), ASKED_AT + timedelta(days=2)
    actions.approve_capacity_request(
        capacity_request_id=request_id, by=petra, reason="yes", at=decided_at
    )
    assert actions.clock_capacity_requests(delivered_at) == 0
    actions.deliver_capacity_request(
        capacity_request_id=request_id, by=petra, reason="", at=delivered_at
    )
    # It held eight GPUs in an hour of the week before: eight active ones are no more than that.
    later = delivered_at + timedelta(hours=30)
    for lead, gpu_hours in ((3, 8), (9, 9), (20, 16)):
        hour = delivered_at + timedelta(hours=lead)
        service_scene.make_line(pool_id, team_id, None, hour=hour, ms=gpu_hours * HOUR_MS)
    assert fact_of(request_id).time_to_work is None
    assert actions.clock_capacity_requests(later) == 1
    fact = fact_of(request_id)
    assert fact.time_to_delivery == delivered_at - decided_at
    assert fact.time_to_work == timedelta(hours=9)
    assert (fact.steps[-1].kind, fact.steps[-1].by) == ("productive", "Runrate")
    assert actions.clock_capacity_requests(later) == 0


def test_hours_of_another_workload_are_not_this_ones(starved) -> None:
    team_id, pool_id = starved
    petra = make.make_person("petra@example.org", role="platform")
    workload_id = add_workload(name="llm", team_id=team_id, kind="training")
    request_id = raised(team_id, pool_id=pool_id, workload_id=workload_id)
    actions.approve_capacity_request(
        capacity_request_id=request_id, by=petra, reason="y", at=ASKED_AT
    )
    actions.deliver_capacity_request(
        capacity_request_id=request_id, by=petra, reason="", at=ASKED_AT
    )
    for of, lead in ((None, 1), (workload_id, 5)):
        hour = ASKED_AT + timedelta(hours=lead)
        service_scene.make_line(pool_id, team_id, of, hour=hour)
    assert actions.clock_capacity_requests(ASKED_AT + timedelta(days=1)) == 1
    assert fact_of(request_id).time_to_work == timedelta(hours=5)


def test_a_clock_that_cannot_be_read_stops_no_other(starved, monkeypatch) -> None:
    team_id, pool_id = starved
    petra = make.make_person("petra@example.org", role="platform")
    given: dict[str, Any] = {"by": petra, "at": ASKED_AT}
    first, second = raised(team_id, gpu_model="B200"), raised(team_id, pool_id=pool_id)
    for each in (first, second):
        actions.approve_capacity_request(capacity_request_id=each, reason="yes", **given)
        actions.deliver_capacity_request(capacity_request_id=each, reason="", **given)
    below = make.make_team("Research, evaluation", parent_id=team_id)
    hour = ASKED_AT + timedelta(hours=1)
    service_scene.make_line(pool_id, below, None, hour=hour, ms=20 * HOUR_MS)
    known_hours = actions.active_hours

    def broken(asked: RequestedCapacity, *span: datetime) -> list[tuple[datetime, int]]:
        if asked.pool_id is None:
            raise ZeroDivisionError
        return known_hours(asked, *span)

    monkeypatch.setattr(actions, "active_hours", broken)
    assert actions.clock_capacity_requests(ASKED_AT + timedelta(days=1)) == 1
    assert fact_of(first).time_to_work is None
    assert fact_of(second).time_to_work == timedelta(hours=1), "of a team below it"


def test_a_team_sees_its_own_requests_and_no_others(starved) -> None:
    team_id, pool_id = starved
    other = make.make_team("Blue")
    request_id = raised(team_id, pool_id=pool_id)
    assert capacity_request(request_id, frozenset({other})) is None
    assert capacity_requests(frozenset({other})) == []
    assert [fact.id for fact in capacity_requests(None)] == [request_id]
