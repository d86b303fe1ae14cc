"""What is gone, covered or cheaper at the end of the weeks is not promised, and no dollar is saved twice."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from apps.fleet.models import Node
from apps.ledger.models import Charge, Line
from apps.placement.queries.moves.work import move_week
from apps.review import actions
from apps.review.models import Recommendation
from apps.review.queries.recommendations import latest_recommendation_detection_run
from apps.review.queries.recommending.current_holdings import held_time
from apps.review.queries.recommending.idle_holders import detect_idle_holders
from apps.review.queries.recommending.oversized_pools import detect_oversized_pools
from apps.review.queries.recommending.spare_nodes import detect_unallocated_nodes
from apps.review.queries.recommending.unused_work import detect_unused_work
from apps.review.queries.recommending.waste_explained import waste_from
from apps.review.queries.recommending.weeks import work_of_week
from apps.workloads.models import Workload
from tests import make
from tests.apps.review import pool_scene
from tests.apps.review.pool_scene import AT, GPUS, HOURS, PRICE, held, idle, plant_pool

pytestmark = pytest.mark.django_db
MONTH = GPUS * PRICE * 730
LAST_WEEK = HOURS - 168


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()


@pytest.fixture
def llm() -> Workload:
    return pool_scene.make_workload()


def test_machines_given_back_or_covered_since_are_not_promised(llm: Workload) -> None:
    """Of one pool eight of ten machines went; all of another are covered since a week; a third joined three hours ago."""
    plant_pool(
        "shrunk",
        10,
        lambda hour, machine: [held(llm)] if machine < 2 else [] if hour < LAST_WEEK else None,
    )
    plant_pool(
        "covered",
        3,
        lambda _, machine: [held(llm)] if machine == 0 else [],
        committed=lambda hour, _: hour >= LAST_WEEK,
        region="elsewhere",
    )
    plant_pool("young", 2, lambda *_: [], hours=range(HOURS - 3, HOURS))
    for detect in (detect_unallocated_nodes, detect_oversized_pools):
        assert not any(each.saving.high for each in detect(AT).proposals)
    assert (
        detect_unallocated_nodes(AT).passed_over["less than two whole weeks of it are known"] == 1
    )


def test_the_waste_of_machines_that_went_is_said_to_be_gone(llm: Workload) -> None:
    plant_pool(
        "shrunk",
        3,
        lambda hour, machine: [held(llm)] if machine < 1 else [] if hour < LAST_WEEK else None,
    )
    pool_scene.roll_up()
    actions.detect_recommendations(week=move_week(AT), at=AT)
    look = latest_recommendation_detection_run(AT)
    assert look is not None
    told = waste_from(look.waste)
    assert told is not None
    (line,) = told.lines
    assert line.reason == "gone"
    assert line.micros == pytest.approx(2 * MONTH * LAST_WEEK / HOURS)


def test_what_is_cheaper_since_is_promised_at_its_last_price(llm: Workload) -> None:
    pool_id = plant_pool("fell", 3, lambda _, machine: [held(llm)] if machine == 0 else [])
    names = ("list_micros", "contracted_micros", "effective_micros", "billed_micros")
    for model in (Charge, Line):
        model.objects.filter(
            pool_id=pool_id, hour__gte=pool_scene.BEGUN + timedelta(hours=LAST_WEEK)
        ).update(**{name: F(name) / 4 for name in names})
    (proposal,) = detect_unallocated_nodes(AT).proposals
    assert proposal.saving.likely == pytest.approx(2 * MONTH / 4)


def test_machines_are_given_back_by_their_own_sizes(llm: Workload) -> None:
    """Of a pool of one machine of eight GPUs and eight of one only the first is free."""
    pool_id = plant_pool("mixed", 1, lambda *_: [])
    small = plant_pool("small", 8, lambda *_: [held(llm, 1)], gpus=1)
    for model in (Line, Charge, Node):
        model.objects.filter(pool_id=small).update(pool_id=pool_id)
    (proposal,) = detect_unallocated_nodes(AT).proposals
    assert proposal.title == "Give back 1 machine of mixed: nothing is ever on them"
    assert proposal.saving.likely == pytest.approx(MONTH)


def test_machines_that_a_job_waits_for_are_not_given_back(llm: Workload) -> None:
    """A job of all GPUs waits most of the weeks, until it finds them free for six hours."""
    plant_pool(
        "big", 4, lambda hour, machine: [held(llm)] if machine == 0 or 640 <= hour < 646 else []
    )
    pool_scene.make_job(llm, "big-0", submitted=40, started=640, gpus=4 * GPUS)
    free_hours = 40 + (HOURS - 646)
    (proposal,) = detect_unallocated_nodes(AT).proposals
    assert proposal.title.startswith("Scale big down")
    assert proposal.saving.likely <= 3 * MONTH * free_hours / HOURS
    assert detect_oversized_pools(AT).proposals == []


def test_what_ended_is_not_given_back() -> None:
    """A notebook that ended a week ago, and a training job that did nothing and ended three days ago."""
    book = pool_scene.make_workload("book", "notebook")
    train = pool_scene.make_workload("train", "training")

    def what(hour: int, machine: int) -> list[pool_scene.Part]:
        ends = (LAST_WEEK, HOURS - 72)[machine]
        return [idle((book, train)[machine])] if hour < ends else []

    plant_pool("h100", 2, what)
    pool_scene.roll_up()
    for detect in (detect_idle_holders, detect_unused_work):
        found = detect(AT)
        assert found.proposals == []
        assert found.passed_over["it holds nothing any more"]


@pytest.mark.parametrize(
    ("stays", "is_over"),
    [
        # It was given back at three in the morning of the last day, and never before.
        (lambda hour: hour < HOURS - 21, True),
        # It holds from eight to eight, and will again.
        (lambda hour: 8 <= hour % 24 < 20, False),
        # It came three hours ago.
        (lambda hour: hour >= HOURS - 3, False),
    ],
)
def test_what_is_held_still_goes_by_the_hour(stays: Callable[[int], bool], is_over: bool) -> None:
    book = pool_scene.make_workload("book", "notebook")
    plant_pool("h100", 1, lambda hour, _: [idle(book)] if stays(hour) else [])
    pool_scene.roll_up()
    (held,) = held_time(work_of_week(move_week(AT)).span).values()
    assert held.is_over is is_over
    assert sum(held.held) == GPUS * sum(map(stays, range(HOURS)))
    if is_over:
        assert detect_idle_holders(AT).proposals == []


def test_no_more_is_counted_than_is_paid_by_the_hour() -> None:
    """One of two machines is covered, whichever work is on: idle work and a free machine are the same dollars."""
    book = pool_scene.make_workload("book", "notebook")
    plant_pool(
        "half",
        2,
        lambda _, machine: [idle(book)] if machine == 0 else [],
        committed=lambda _, machine: machine == 0,
    )
    pool_scene.roll_up()
    actions.detect_recommendations(week=move_week(AT), at=AT)
    found = Recommendation.objects.filter(is_counted=True)
    assert 0 < sum(each.proposal["saving"]["likely"] for each in found) <= MONTH * (1 + 1e-6)
