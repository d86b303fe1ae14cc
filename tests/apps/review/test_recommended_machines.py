"""What is recommended of pools: machines that nothing is on, minima, and pools too large for their queue."""

from collections.abc import Sequence
from statistics import stdev
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.queries.reading import reading_once
from apps.economics.moves.saving import TENTH_OF_NORMAL
from apps.economics.states import State
from apps.fleet.models import Device, Node
from apps.review.queries.recommending.oversized_pools import detect_oversized_pools
from apps.review.queries.recommending.pool_capacity import GONE, NO_PRICE, TOO_YOUNG
from apps.review.queries.recommending.proposal import (
    DetectedKind,
    Detector,
    RecommendationProposal,
)
from apps.review.queries.recommending.queued_beside_idle import detect_queued_with_idle
from apps.review.queries.recommending.slot_words import describe_slots
from apps.review.queries.recommending.spare_nodes import (
    COVERED,
    detect_needless_floors,
    detect_unallocated_nodes,
)
from apps.review.queries.recommending.stranded_slices import detect_stranded_slices
from apps.workloads.models import Allocation, Job, Workload
from tests import make
from tests.apps.review import pool_scene
from tests.apps.review.pool_scene import AT, GPUS, PRICE, Part, held, plant_pool

pytestmark = pytest.mark.django_db
MACHINE = GPUS * PRICE
MONTH = 730


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()


@pytest.fixture
def llm() -> Workload:
    return pool_scene.make_workload()


def only(found: DetectedKind) -> RecommendationProposal:
    (proposal,) = found.proposals
    assert found.looked_at == 1 + found.passed_over.total()
    assert proposal.doubts
    assert proposal.range_basis == "measured"
    assert max(proposal.saving.low, proposal.saving.high) <= proposal.spend_micros
    return proposal


def is_office(hour: int) -> bool:
    return hour % 168 < 5 * 24 and 8 <= hour % 24 < 20


@pytest.mark.parametrize("option", ["on_demand", "spot"])
def test_machines_that_nothing_is_ever_on_are_to_be_given_back(llm: Workload, option: str) -> None:
    pool_id = plant_pool(
        "h100", 3, lambda _, machine: [held(llm)] if machine == 0 else [], purchase_option=option
    )
    proposal = only(detect_unallocated_nodes(AT))
    assert proposal.title == "Give back 2 machines of h100: nothing is ever on them"
    ends = [proposal.saving.low, proposal.saving.likely, proposal.saving.high]
    assert ends == pytest.approx([2 * MACHINE * MONTH] * 3, rel=1e-9)
    assert proposal.spend_micros == pytest.approx(3 * MACHINE * MONTH)
    assert proposal.cells == {f"unallocated:{pool_id}"}
    assert "0 of 672" in proposal.doubts[0]
    assert detect_needless_floors(AT).proposals == []


@pytest.mark.parametrize("option", ["owned", "reserved"])
def test_machines_that_are_paid_anyway_are_named_apart(llm: Workload, option: str) -> None:
    plant_pool("h100", 2, lambda _, machine: [], purchase_option=option)
    plant_pool("covered", 2, lambda _, machine: [], committed=lambda hour, machine: True)
    found = detect_unallocated_nodes(AT)
    assert found.proposals == []
    assert sorted(found.passed_over) == [
        "commitments cover its machines: they are paid whether they are used or not",
        "its machines are owned or reserved: they are paid whether they are used or not",
    ]


def test_of_a_pool_that_commitments_cover_in_part_the_rest_goes(llm: Workload) -> None:
    """Two of three machines are covered, one job runs: one machine goes, whichever it is on."""
    plant_pool(
        "h100",
        3,
        lambda _, machine: [held(llm)] if machine == 2 else [],
        committed=lambda _, machine: machine < 2,
    )
    proposal = only(detect_unallocated_nodes(AT))
    assert proposal.saving.likely == pytest.approx(MACHINE * MONTH)
    assert any("commitments cover" in each.label for each in proposal.evidence)


def test_what_stands_every_night_and_weekend_is_to_be_stopped_by_a_schedule(llm: Workload) -> None:
    plant_pool("h100", 2, lambda hour, _: [held(llm)] if is_office(hour) else [])
    proposal = only(detect_unallocated_nodes(AT))
    assert "at hours when nothing is on them" in proposal.title
    assert proposal.saving.likely == pytest.approx(2 * MACHINE * MONTH * (168 - 60) / 168, rel=0.01)
    said = "Monday to Friday 00:00 to 08:00 and 20:00 to 24:00; Saturday to Sunday all day"
    assert said in proposal.why


def test_what_stands_at_hours_that_nobody_can_tell_is_to_scale_to_zero(llm: Workload) -> None:
    # A job of 20 hours every 67: no hour of the week is always free.
    plant_pool("h100", 1, lambda hour, _: [held(llm)] if hour % 67 < 20 else [])
    proposal = only(detect_unallocated_nodes(AT))
    assert proposal.title == "Scale h100 to zero while nothing is on it"
    assert proposal.saving.likely == pytest.approx(MACHINE * MONTH * 46 / 67, rel=0.03)
    assert "10 times" in proposal.doubts[0], "what came back and waits for a machine"


def test_a_minimum_that_is_never_needed_is_to_be_lowered(llm: Workload) -> None:
    """Four machines by day, two by night; nothing is on the two at night."""

    def what(hour: int, machine: int) -> Sequence[Part] | None:
        if is_office(hour):
            return [held(llm)]
        return [] if machine < 2 else None

    plant_pool("h100", 4, what)
    proposal = only(detect_needless_floors(AT))
    assert proposal.title == "Lower the minimum of h100 by 2 machines"
    assert proposal.saving.likely == pytest.approx(2 * MACHINE * MONTH * 108 / 168, rel=0.01)
    assert detect_unallocated_nodes(AT).proposals == []


def busy(llm: Workload, gpus: float) -> Sequence[Part]:
    return [held(llm, gpus)]


@pytest.mark.parametrize("what", ["full", "gaps", "parts", "headroom", "stranded"])
def test_what_is_busy_or_free_for_an_hour_is_nothing_to_give_back(llm: Workload, what: str) -> None:
    plans = {
        "full": lambda hour, machine: busy(llm, 8),
        "gaps": lambda hour, machine: [] if hour % 9 == machine else busy(llm, 8),
        "parts": lambda hour, machine: busy(llm, 5),
        # A burst in an hour of fifty needs them all: they go again in the hours between, one by one.
        "headroom": lambda hour, machine: busy(llm, 8) if machine == 0 or hour % 2 else [],
        "stranded": lambda hour, machine: [Part(8, State.STRANDED)],
    }
    plant_pool("h100", 2, plans[what])
    for detect in (detect_unallocated_nodes, detect_needless_floors):
        assert detect(AT).proposals == []


def test_what_has_no_price_is_no_saving_and_what_is_gone_cannot_be_given_back(
    llm: Workload,
) -> None:
    plant_pool("unpriced", 2, lambda hour, _: [], price=None)
    plant_pool("ended", 2, lambda hour, _: [] if hour < 500 else None)
    found = detect_unallocated_nodes(AT)
    assert found.proposals == []
    assert found.passed_over == {
        "what its machines cost by the hour is not known": 1,
        "it has no machines any more": 1,
    }


def test_hours_of_the_week_are_said_day_by_day() -> None:
    assert describe_slots([]) == ""
    assert describe_slots(range(168)) == "Monday to Sunday all day"
    assert describe_slots([0, 1, 30]) == "Monday 00:00 to 02:00; Tuesday 06:00 to 07:00"


def test_a_pool_whose_jobs_are_spread_thin_is_too_large(llm: Workload) -> None:
    """Four machines of which each has three of eight GPUs held: two do, with headroom; no machine is free as it is."""
    pool_id = plant_pool("h100", 4, lambda *_: [held(llm, 3)])
    proposal = only(detect_oversized_pools(AT))
    assert proposal.title == "Make h100 smaller by 2 machines: 2 do for what it is asked for"
    assert proposal.saving.likely == pytest.approx(2 * MACHINE * MONTH)
    assert (proposal.cells, proposal.frees_gpu_hours) == ({f"unallocated:{pool_id}"}, None)
    assert detect_unallocated_nodes(AT).proposals == []


def test_owned_machines_beyond_what_is_asked_for_are_freed(llm: Workload) -> None:
    plant_pool("h100", 4, lambda *_: [held(llm, 3)], purchase_option="owned")
    proposal = only(detect_oversized_pools(AT))
    assert proposal.saving.high == 0
    assert proposal.frees_gpu_hours == pytest.approx(2 * GPUS * MONTH)


@pytest.mark.parametrize("what", ["large jobs", "queue", "peaks", "free machines", "broken"])
def test_a_pool_that_its_jobs_or_its_queue_need_is_not_too_large(llm: Workload, what: str) -> None:
    """Jobs of five GPUs do not share a machine; what waits needs room; one hour in fifty needs all."""
    plans = {
        "large jobs": lambda hour, machine: [held(llm, 5)],
        "queue": lambda hour, machine: [held(llm, 3)],
        "peaks": lambda hour, machine: [held(llm, 8 if hour % 50 == 0 else 3)],
        "free machines": lambda hour, machine: [held(llm, 8)] if machine == 0 else [],
        "broken": lambda hour, machine: [Part(GPUS, State.OUT_OF_SERVICE)],
    }
    plant_pool("h100", 3, plans[what])
    if what == "queue":
        for start in range(0, 670, 10):
            pool_scene.make_job(llm, "h100-0", submitted=start, started=start + 9, gpus=16)
    assert detect_oversized_pools(AT).proposals == []


def test_jobs_that_wait_beside_idle_gpus_of_the_same_model_are_to_use_them(llm: Workload) -> None:
    plant_pool("busy", 1, lambda *_: [held(llm)])
    other = plant_pool("quiet", 1, lambda *_: [held(llm, 4)], purchase_option="reserved")
    plant_pool("a100", 1, lambda *_: [], gpu_model="NVIDIA A100-SXM4-80GB")
    for start in range(0, 672, 24):
        pool_scene.make_job(llm, "busy-0", submitted=start, started=start + 12, gpus=2)
    proposal = only_freed(detect_queued_with_idle(AT))
    assert proposal.title == "Let jobs that wait for busy run on quiet, where GPUs stand"
    assert proposal.frees_gpu_hours == pytest.approx(2 * 12 / 24 * MONTH)
    assert (proposal.pool_id, proposal.saving.high) == (other, 0)


def only_freed(found: DetectedKind) -> RecommendationProposal:
    (proposal,) = found.proposals
    assert proposal.doubts
    return proposal


def test_two_queues_beside_one_pool_meet_its_gpus_once(llm: Workload) -> None:
    for name in ("first", "second"):
        plant_pool(name, 1, lambda *_: [held(llm)])
        for start in range(0, 672, 24):
            pool_scene.make_job(llm, f"{name}-0", submitted=start, started=start + 24, gpus=4)
    plant_pool("quiet", 1, lambda *_: [held(llm, 4)], purchase_option="reserved")
    freed = [each.frees_gpu_hours or 0 for each in detect_queued_with_idle(AT).proposals]
    assert sum(freed) == pytest.approx(4 * MONTH, rel=0.05)
    assert len(freed) == 1


def test_a_job_that_fits_on_no_machine_beside_is_not_sent_there(llm: Workload) -> None:
    plant_pool("busy", 1, lambda *_: [held(llm)])
    plant_pool("quiet", 4, lambda *_: [held(llm, 6)], purchase_option="reserved")
    for start in range(0, 672, 24):
        pool_scene.make_job(llm, "busy-0", submitted=start, started=start + 12, gpus=8)
    assert detect_queued_with_idle(AT).proposals == []


def test_a_queue_that_nothing_stands_beside_is_only_a_queue(llm: Workload) -> None:
    plant_pool("busy", 1, lambda *_: [held(llm)])
    plant_pool("also busy", 1, lambda hour, _: [held(llm, 8 if hour % 24 < 12 else 0.5)])
    for start in range(0, 672, 24):
        pool_scene.make_job(llm, "busy-0", submitted=start, started=start + 12, gpus=2)
    found = detect_queued_with_idle(AT)
    assert found.proposals == []
    assert found.looked_at == 1


def plant_slices(
    llm: Workload, *, taken: int, option: str = "on_demand", name: str = "h100", **pool: Any
) -> int:
    """A machine whose first GPU is cut into seven slices, of which a job holds so many; its pool's id."""
    pool_id = plant_pool(name, 1, lambda *_: [held(llm, 7)], purchase_option=option, **pool)
    node = Node.objects.get(pool_id=pool_id)
    parent = make.make_device(f"GPU-{name}", node_id=node.pk, at=pool_scene.BEGUN)
    Device.objects.bulk_create(
        Device(
            node=node, uuid=f"MIG-{name}-{place}", kind="mig", parent_id=parent, compute_slices=1, memory_slices=1,
            profile="1g.10gb", period=(pool_scene.BEGUN, None),
        )
        for place in range(7)
    )  # fmt: skip
    if taken:
        job = Job.objects.create(
            cluster_id=make.make_cluster(), raw_id="chat", opened_at=pool_scene.BEGUN
        )
        Allocation.objects.create(
            job=job, node=node, node_name=node.name, gpus_numerator=taken, gpus_denominator=7,
            device_uuids=[f"MIG-{name}-{place}" for place in range(taken)], period=(pool_scene.BEGUN, None),
        )  # fmt: skip
    return pool_id


def test_slices_that_nobody_takes_are_to_be_cut_otherwise(llm: Workload) -> None:
    pool_id = plant_slices(llm, taken=0)
    proposal = only_freed(detect_stranded_slices(AT))
    assert proposal.cells == {f"unallocated:{pool_id}"}
    assert proposal.frees_gpu_hours == pytest.approx(MONTH)
    assert proposal.saving.high == 0, "nothing waited: no bill falls"


def test_slices_that_nobody_takes_while_others_wait_save_what_would_be_rented(
    llm: Workload,
) -> None:
    plant_slices(llm, taken=0)
    for start in range(0, 672, 24):
        pool_scene.make_job(llm, "h100-0", submitted=start, started=start + 12, gpus=1)
        Allocation.objects.update(device_uuids=["GPU-0"])
    proposal = only_freed(detect_stranded_slices(AT))
    assert proposal.saving.likely == pytest.approx(PRICE * MONTH / 2, rel=1e-6)


@pytest.mark.parametrize(
    ("pool", "why"),
    [
        ({"price": None}, NO_PRICE),
        ({"hours": range(500)}, GONE),
        ({"hours": range(504, pool_scene.HOURS)}, TOO_YOUNG),
    ],
)
def test_slices_of_which_no_saving_is_known_are_passed_over_and_say_why(
    llm: Workload, pool: dict[str, Any], why: str
) -> None:
    """Jobs waited for them: a price that nobody knows, or machines that are gone, save what is unknown, and not nothing."""
    plant_slices(llm, taken=0, **pool)
    for start in range(0, 672, 24):
        pool_scene.make_job(llm, "h100-0", submitted=start, started=start + 12, gpus=1)
    Allocation.objects.update(device_uuids=["GPU-0"])
    found = detect_stranded_slices(AT)
    assert (found.proposals, found.passed_over) == ([], {why: 1})


@pytest.mark.parametrize(
    "detect", [detect_unallocated_nodes, detect_needless_floors, detect_oversized_pools]
)
@pytest.mark.parametrize(
    ("pool", "why"), [({"price": None}, NO_PRICE), ({"hours": range(500)}, GONE)]
)
def test_no_kind_of_a_pool_saves_nothing_where_its_saving_is_unknown(
    llm: Workload, detect: Detector, pool: dict[str, Any], why: str
) -> None:
    plant_pool("h100", 3, lambda _, machine: [held(llm)] if machine == 0 else [], **pool)
    found = detect(AT)
    assert (found.proposals, found.passed_over) == ([], {why: 1})


def test_what_slices_would_save_is_as_wide_as_its_weeks_differ(llm: Workload) -> None:
    """Jobs waited in three weeks of four: the ends are 1.28 standard errors of a week from the mean."""
    plant_slices(llm, taken=0)
    for start in range(0, 3 * 168, 24):
        pool_scene.make_job(llm, "h100-0", submitted=start, started=start + 12, gpus=1)
        Allocation.objects.update(device_uuids=["GPU-0"])
    saving = only_freed(detect_stranded_slices(AT)).saving
    week = PRICE * MONTH / 2
    error = TENTH_OF_NORMAL * stdev([week, week, week, 0.0]) / 2
    assert saving.likely == pytest.approx(0.75 * week, rel=1e-6)
    assert (saving.low, saving.high) == (
        pytest.approx(0.75 * week - error, rel=1e-6),
        pytest.approx(0.75 * week + error, rel=1e-6),
    )


def test_one_queue_is_served_by_the_slices_of_one_pool(llm: Workload) -> None:
    plant_slices(llm, taken=0)
    plant_slices(llm, taken=0, name="other")
    for start in range(0, 672, 24):
        pool_scene.make_job(llm, "h100-0", submitted=start, started=start + 12, gpus=1)
    Allocation.objects.update(device_uuids=["GPU-0"])
    saved = [each.saving.likely for each in detect_stranded_slices(AT).proposals]
    assert sum(saved) == pytest.approx(PRICE * MONTH / 2, rel=1e-6)


def test_slices_that_jobs_take_stay_as_they_are(llm: Workload) -> None:
    plant_slices(llm, taken=2)
    found = detect_stranded_slices(AT)
    assert found.passed_over == {"jobs hold slices of this size": 1}


def test_what_a_commitment_frees_would_cover_alike_machines_that_are_on_demand(
    llm: Workload,
) -> None:
    """Two of three covered machines stand; beside them jobs hold one machine of the same kind on demand, at twice the price."""
    covered = plant_pool(
        "covered", 3, lambda _, machine: [held(llm)] if machine == 0 else [],
        price=PRICE // 2, committed=lambda *_: True,
    )  # fmt: skip
    twin = plant_pool("twin", 1, lambda *_: [held(llm)])
    found = detect_unallocated_nodes(AT)
    (proposal,) = found.proposals
    # The commitment would cover the other's eight GPUs; of the second machine that stands nothing is saved.
    assert proposal.pool_id == covered
    assert proposal.saving.likely == pytest.approx(MACHINE * MONTH)
    assert proposal.title == "Give back 1 machine of covered: nothing is ever on them"
    assert proposal.cells == {f"unallocated:{covered}", f"pool:{twin}"}
    assert any("would cover instead" in each.label for each in proposal.evidence)
    # What comes of it is counted at that price, not at what the commitment costs.
    assert proposal.baseline["released_gpu_hour_micros"] == pytest.approx(PRICE)


def test_what_is_freed_covers_the_cheapest_first_and_no_hour_twice(llm: Workload) -> None:
    plant_pool("covered", 2, lambda *_: [], committed=lambda *_: True)
    plant_pool("dear", 1, lambda hour, _: [held(llm)] if hour % 24 < 12 else None, price=2 * PRICE)
    plant_pool("cheap", 1, lambda *_: [held(llm, 4)])
    (proposal,) = [
        each for each in detect_unallocated_nodes(AT).proposals if each.subject == "covered"
    ]
    # A machine of it at PRICE, and half of the time one at twice that.
    assert proposal.saving.likely <= (MACHINE + MACHINE) * MONTH
    assert proposal.saving.likely >= MACHINE * MONTH * 0.99


@pytest.mark.parametrize(
    "beside",
    [
        {"purchase_option": "spot"},
        {"purchase_option": "reserved"},
        {"region": "elsewhere"},
        {"instance_type": "p5e.48xlarge"},
        {"committed": lambda *_: True},
        {"price": None},
    ],
    ids=["spot", "reserved", "elsewhere", "another machine", "covered too", "no price"],
)
def test_a_commitment_frees_nothing_where_nothing_alike_is_on_demand(
    llm: Workload, beside: dict[str, object]
) -> None:
    pool_id = plant_pool("covered", 2, lambda *_: [], committed=lambda *_: True)
    plant_pool("beside", 1, lambda *_: [held(llm)], **beside)
    found = detect_unallocated_nodes(AT)
    assert found.proposals == []
    assert found.declined[str(pool_id)] == COVERED


def test_alike_machines_that_stand_themselves_are_given_back_and_free_nothing(
    llm: Workload,
) -> None:
    plant_pool("covered", 2, lambda *_: [], committed=lambda *_: True)
    free = plant_pool("free", 1, lambda *_: [])
    assert [each.pool_id for each in detect_unallocated_nodes(AT).proposals] == [free]


def plant_queue_beside_both(llm: Workload, name: str, *, gpus: int) -> None:
    """Jobs of one GPU that wait all the time for a pool that is held, beside so many free GPUs and a GPU in slices."""
    plant_pool(name, 1, lambda *_: [held(llm)])
    for start in range(0, 672, 24):
        pool_scene.make_job(llm, f"{name}-0", submitted=start, started=start + 24, gpus=1)
    if gpus:
        plant_pool("quiet", 1, lambda *_: [held(llm, 8 - gpus)], purchase_option="reserved")
    plant_slices(llm, taken=0)


@pytest.mark.parametrize("gpus", [1, 0])
def test_one_queue_meets_what_stands_or_what_is_cut_otherwise_and_never_both(
    llm: Workload, gpus: int
) -> None:
    plant_queue_beside_both(llm, "busy", gpus=gpus)
    moved = detect_queued_with_idle(AT).proposals
    slices = only_freed(detect_stranded_slices(AT))
    assert [each.frees_gpu_hours for each in moved] == pytest.approx([MONTH] * gpus, rel=0.05)
    assert slices.saving.likely == pytest.approx(0.0 if gpus else PRICE * MONTH, rel=0.05)


def test_no_order_of_the_kinds_changes_what_they_find(llm: Workload) -> None:
    plant_queue_beside_both(llm, "busy", gpus=1)
    detectors = [detect_queued_with_idle, detect_stranded_slices, detect_unallocated_nodes]
    looks = []
    for order in (detectors, detectors[::-1], [*detectors, *detectors]):
        with reading_once():
            found = {detect: detect(AT) for detect in order}
        looks.append([found[detect].proposals for detect in detectors])
    assert looks[0] == looks[1] == looks[2]


def test_slices_that_stand_are_no_room_for_jobs_of_whole_gpus(llm: Workload) -> None:
    plant_pool("busy", 1, lambda *_: [held(llm)])
    for start in range(0, 672, 24):
        pool_scene.make_job(llm, "busy-0", submitted=start, started=start + 12, gpus=1)
    plant_slices(llm, taken=0, option="reserved")
    assert detect_queued_with_idle(AT).proposals == []
