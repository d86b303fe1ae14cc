"""Services that hold more than their load needs: what is proposed, and what of it gives way."""

from datetime import date
from decimal import Decimal

import pytest
from django.utils import timezone

from apps.accounts.queries import viewer_of_user
from apps.economics.moves.choice import WeighedMove
from apps.review.queries.recommending.counting import counted_matters
from apps.review.queries.recommending.fewer_replicas import detect_shrinkable
from apps.review.queries.recommending.proposal import DetectedKind, RecommendationProposal
from apps.workloads.actions.returns import state_value
from apps.workloads.models import Workload
from apps.workloads.queries.returns import EnteredValue
from tests import make
from tests.apps.review import pool_scene
from tests.apps.review.pool_scene import AT, PRICE, held, idle, plant_pool

pytestmark = pytest.mark.django_db
MONTH = 730


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()


@pytest.fixture
def chat() -> Workload:
    return pool_scene.make_workload("chat", "serving")


def only(found: DetectedKind) -> RecommendationProposal:
    (proposal,) = found.proposals
    assert proposal.doubts
    assert proposal.range_basis == "measured"
    return proposal


def plant_service(chat: Workload, busy: float, *, night: float | None = None, **pool: str) -> None:
    """Four replicas of two GPUs, each active for a part of every hour, at night for another."""

    def what(hour: int, _: int) -> list[pool_scene.Part]:
        part = night if night is not None and hour % 24 < 8 else busy
        return [
            piece
            for job in range(4)
            for piece in (
                held(chat, 2 * part, jobs[job]),
                idle(chat, 2 * (1 - part), jobs[job]),
            )
            if piece.gpus
        ]

    jobs = [pool_scene.make_replica(chat, place) for place in range(4)]
    plant_pool("h100", 1, what, **pool)
    pool_scene.roll_up()


@pytest.mark.parametrize("option", ["on_demand", "spot"])
def test_replicas_that_the_load_does_not_need_at_p99_are_to_go(chat: Workload, option: str) -> None:
    """A quarter of eight GPUs active is 2.9 with headroom: two replicas do."""
    plant_service(chat, 0.25, purchase_option=option)
    proposal = only(detect_shrinkable(AT))
    assert proposal.title == "Run chat with 2 replicas fewer: its load at p99 does not need them"
    assert proposal.saving.likely == pytest.approx(4 * PRICE * MONTH)
    assert "0 of 672" in proposal.doubts[1]


def test_a_replica_is_a_whole_job_with_all_its_machines(chat: Workload) -> None:
    """Its only job holds two machines, a quarter of each active: half of it is no replica that could be stopped."""
    job = pool_scene.make_replica(chat, 0)
    plant_pool("h100", 2, lambda *_: [held(chat, 2, job), idle(chat, 6, job)])
    pool_scene.roll_up()
    found = detect_shrinkable(AT)
    assert found.proposals == []
    assert found.looked_at == 1


def test_replicas_that_nights_do_not_need_go_by_a_schedule(chat: Workload) -> None:
    plant_service(chat, 0.7, night=0.05)
    proposal = only(detect_shrinkable(AT))
    assert "at hours that never need them" in proposal.title
    assert "Monday to Sunday 00:00 to 08:00" in proposal.why
    assert proposal.saving.likely == pytest.approx(6 * PRICE * MONTH / 3, rel=0.01)


def test_a_service_whose_load_needs_them_is_not_shrunk_however_much_is_idle(
    chat: Workload,
) -> None:
    """Six tenths active: 4.8 of 8 GPUs are 6.9 with headroom. It returns nine times its cost, or nothing."""
    plant_service(chat, 0.6)
    platform = viewer_of_user(make.make_person("petra@example.org", role="platform"))
    value = EnteredValue(
        chat.pk, "week", low=Decimal(90_000), high=Decimal(99_000), valid_from=date(2026, 1, 1)
    )
    state_value(value=value, by=platform, at=AT)
    found = detect_shrinkable(AT)
    assert found.proposals == []
    assert list(found.passed_over) == [
        "its load needs the replicas that it holds: no way to hold fewer was found"
    ]


def test_a_training_is_no_service_that_is_shrunk() -> None:
    plant_service(pool_scene.make_workload("llm", "training"), 0.1)
    assert detect_shrinkable(AT).looked_at == 0


def test_a_way_to_hold_fewer_never_displaces_what_is_concrete() -> None:
    shrink = WeighedMove("shrink", frozenset(["7:2"]), 900.0)
    feed = WeighedMove("feed", frozenset(["7:2"]), 100.0)
    other = WeighedMove("other", frozenset(["9:2"]), 50.0)
    counted = counted_matters([feed], [], [shrink, other]).counted
    assert counted == {"feed", "other"}
    assert counted_matters([], [], [shrink]).counted == {"shrink"}
