"""What is recommended of work that does not earn its cost: by the review's own rule, at the marginal price."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts.queries import Viewer, viewer_of_user
from apps.accounts.queries.reading import reading_once
from apps.economics.states import State
from apps.ledger.models import LedgerDay
from apps.review import actions
from apps.review.models import Recommendation
from apps.review.queries.recommending.kinds import KINDS
from apps.review.queries.recommending.proposal import DetectedKind, RecommendationProposal
from apps.review.queries.recommending.unearned_work import detect_retirable
from apps.review.queries.weekly.making import make_content
from apps.review.queries.weekly.weeks import last_week
from apps.workloads.actions.returns import state_value
from apps.workloads.models import Workload
from apps.workloads.queries.returns import EnteredValue
from tests import make
from tests.apps.placement import move_scene
from tests.apps.placement.move_scene import AT, BEGUN
from tests.apps.review.test_recommended_kinds import pay_for_calls

pytestmark = pytest.mark.django_db
HOURLY = 55_040_000
MONTH = 730 * HOURLY
"""What a machine of eight at 6.88 costs in a month."""
TWO_WEEKS = 336 * HOURLY
EARNING = (detect_retirable,)


@pytest.fixture(autouse=True)
def viewer(monkeypatch: pytest.MonkeyPatch) -> Viewer:
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()
    return viewer_of_user(make.make_person("petra@example.org", name="Petra", role="platform"))


def state(viewer: Viewer, workload_id: int, low: int, high: int, unit: str = "week") -> None:
    since = date(2026, 1, 1)
    value = EnteredValue(workload_id, unit, low=Decimal(low), high=Decimal(high), valid_from=since)
    state_value(value=value, by=viewer, at=AT - timedelta(days=7))


def only(found: DetectedKind) -> RecommendationProposal:
    (proposal,) = found.proposals
    assert found.looked_at == 1 + found.passed_over.total()
    assert max(proposal.saving.low, proposal.saving.high) <= proposal.spend_micros
    return proposal


def leave_idle(workload_id: int, days: int) -> None:
    """So many first days of each of the two weeks it held its GPUs, and nothing ran."""
    idle = [BEGUN.date() + timedelta(days=7 * week + day) for week in (0, 1) for day in range(days)]
    LedgerDay.objects.filter(workload_id=workload_id, day__in=idle).update(
        state=int(State.HELD_IDLE)
    )


def test_work_that_returns_less_than_it_costs_is_to_be_retired_with_all_that_goes_away(
    viewer: Viewer,
) -> None:
    workload_id, pool_id = move_scene.make_work()
    state(viewer, workload_id, 1_000, 2_000)
    found = detect_retirable(AT)
    proposal = only(found)
    # Two weeks at $9,246.72, worth at most $2,000 each.
    saving = proposal.saving
    assert [saving.low, saving.likely, saving.high] == pytest.approx([MONTH] * 3, rel=1e-6)
    assert proposal.why == "It returned $2.00k to $4.00k and cost $18.5k in 4 weeks."
    returned = [round(each * 730 / 168 * 1e6) for each in (1_000, 2_000)]
    assert proposal.forgoes_micros == pytest.approx(sum(returned) / 2)
    assert proposal.worth == pytest.approx((MONTH - proposal.forgoes_micros) * 0.5), "half for risk"
    assert "forgoes_micros" not in proposal.document
    assert (proposal.risk, proposal.risk_reason) == (
        "high",
        "$4.35k to $8.69k that it returns in a month is gone with it",
    )
    assert (proposal.key, proposal.cells) == (
        str(workload_id),
        frozenset([f"{workload_id}:{pool_id}"]),
    )
    links = {each.label: each.link for each in proposal.evidence}
    assert links["Its value, by its owner"] == f"/workloads/{workload_id}/returns"
    assert links["What it cost"].endswith(f"{workload_id}?window=2026-02-02%2F2026-03-02")


def test_the_verdict_is_the_reviews_own_of_the_week_that_is_over(viewer: Viewer) -> None:
    """One rule: what a review of the same hour would say, which needs not be kept."""
    worths: dict[str, tuple[int, int] | None] = {
        "loses": (1, 2),
        "earns": (20_000, 30_000),
        "maybe": (1, 30_000),
        "silent": None,
        "wasteful": (1, 6_000),
    }
    for name, worth in worths.items():
        workload_id, _ = move_scene.make_work(name)
        if worth:
            state(viewer, workload_id, *worth)
        if name == "wasteful":
            leave_idle(workload_id, 3)
    week = last_week(AT, "UTC")
    verdicts = {each.name: each.verdict.verdict for each in make_content(week, AT).workloads}
    found = detect_retirable(AT)
    assert verdicts == {
        "loses": "retire",
        "earns": "earns",
        "maybe": "unknown",
        "silent": "unknown",
        "wasteful": "shrink",
    }
    assert [proposal.subject for proposal in found.proposals] == ["loses"]
    assert found.passed_over["it is to be shrunk, not retired"] == 1


def test_waste_alone_is_reason_enough_without_a_stated_value() -> None:
    workload_id, _ = move_scene.make_work("jupyter", kind="notebook")
    leave_idle(workload_id, 7)
    proposal = only(detect_retirable(AT))
    assert proposal.saving.likely == pytest.approx(MONTH, rel=1e-6)
    assert (proposal.risk, proposal.forgoes_micros) == ("medium", 0)
    assert proposal.evidence[2].figure == "its owner has stated none"


@pytest.mark.parametrize(
    ("worth", "unit", "why"),
    [
        (None, "", "no value is stated, and little of it is waste"),
        ((1, 2), "thousand_requests", "a value is stated, but its units are not counted"),
        ((1, 30_000), "week", "what it cost lies within what it may have returned"),
        ((20_000, 30_000), "week", "it earns what it costs"),
    ],
)
def test_what_is_no_proposal_says_why(
    viewer: Viewer, worth: tuple[int, int] | None, unit: str, why: str
) -> None:
    workload_id, _ = move_scene.make_work(kind="serving")
    if worth:
        state(viewer, workload_id, *worth, unit)
    for detect in EARNING:
        found = detect(AT)
        assert (found.proposals, found.passed_over) == ([], {why: 1})
        assert found.declined == {str(workload_id): why}


def test_time_without_a_price_lets_nobody_say_that_it_earns(viewer: Viewer) -> None:
    workload_id, _ = move_scene.make_work()
    state(viewer, workload_id, 20_000, 30_000)
    days = LedgerDay.objects.filter(workload_id=workload_id, day__lt=BEGUN.date() + timedelta(3))
    days.update(effective_micros=None, unpriced_milliseconds=8 * 24 * 3_600_000)
    assert detect_retirable(AT).passed_over == {"not enough of its time is priced": 1}


def test_gpus_that_are_paid_anyway_are_no_saving_and_what_they_return_is_kept(
    viewer: Viewer,
) -> None:
    worthless, _ = move_scene.make_work("worthless", is_committed=True)
    state(viewer, worthless, 0, 0)
    worthy, _ = move_scene.make_work("worthy", is_committed=True)
    state(viewer, worthy, 1_000, 2_000)
    found = detect_retirable(AT)
    proposal = only(found)
    assert (proposal.workload_id, proposal.saving.high, proposal.spend_micros) == (worthless, 0, 0)
    assert proposal.frees_gpu_hours == pytest.approx(8 * 730)
    assert found.passed_over == {
        "it returns more than would go away without it: the rest of its cost is paid anyway": 1
    }


def test_calls_to_models_go_away_with_what_is_retired_and_count_in_what_it_cost(
    viewer: Viewer,
) -> None:
    workload_id, pool_id = move_scene.make_work()
    caller = Workload.objects.create(
        name="caller", team_id=make.make_team("Assistants"), kind="other"
    )
    for each in (workload_id, caller.pk):
        state(viewer, each, 1, 2)
        pay_for_calls(Workload.objects.get(pk=each), 24_000_000)
    both, alone = sorted(detect_retirable(AT).proposals, key=lambda each: -each.spend_micros)
    calls = 24_000_000 * 730 / 24
    assert both.saving.likely == pytest.approx(MONTH + calls, rel=1e-6)
    assert both.cells == {f"{workload_id}:{pool_id}", f"api:{workload_id}"}
    assert (alone.saving.likely, alone.pool_id) == (pytest.approx(calls, rel=1e-6), None)
    assert alone.cells == {f"api:{caller.pk}"}


def test_what_saves_less_than_the_floor_is_passed_over(viewer: Viewer) -> None:
    workload_id, _ = move_scene.make_work()
    state(viewer, workload_id, 1, 2)
    with override_settings(FINDING_FLOOR=MONTH // 1_000_000 + 1):
        assert detect_retirable(AT).passed_over == {"it saves too little": 1}


def look() -> None:
    week = AT.date()
    actions.detect_recommendations(week=week, at=AT, kinds=KINDS)


def test_idle_unused_and_unearned_never_count_the_same_dollars() -> None:
    workload_id, _ = move_scene.make_work("jupyter", kind="notebook")
    leave_idle(workload_id, 7)
    look()
    rows = Recommendation.objects.filter(workload_id=workload_id)
    assert {row.kind for row in rows} == {"idle_holder", "unused_work", "retire_work"}
    assert len({row.exclusive_group for row in rows}) == 1
    assert sum(row.is_counted for row in rows) == 1


def statements(**given: Any) -> int:
    with reading_once(), CaptureQueriesContext(connection) as asked:
        for detect in EARNING:
            assert detect(AT).looked_at == given["looked_at"]
    return len(asked)


def test_more_workloads_take_no_more_statements(viewer: Viewer) -> None:
    first, _ = move_scene.make_work()
    state(viewer, first, 1, 2)
    few = statements(looked_at=1)
    for number in range(10):
        workload_id, _ = move_scene.make_work(f"more {number}")
        state(viewer, workload_id, 1, 2)
    assert statements(looked_at=11) <= few


def test_nothing_is_looked_at_before_a_whole_week() -> None:
    for detect in EARNING:
        assert detect(AT).not_looked
