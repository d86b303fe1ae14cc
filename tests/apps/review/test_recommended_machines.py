"""What is recommended of pools: machines that nothing is on, minima, and pools too large for their queue."""

from collections.abc import Sequence

import pytest
from django.utils import timezone

from apps.economics.states import State
from apps.review.queries.recommending.proposal import DetectedKind, RecommendationProposal
from apps.review.queries.recommending.slot_words import slots_said
from apps.review.queries.recommending.spare_nodes import (
    detect_needless_floors,
    detect_unallocated_nodes,
)
from apps.workloads.models import Workload
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
    assert slots_said([]) == ""
    assert slots_said(range(168)) == "Monday to Sunday all day"
    assert slots_said([0, 1, 30]) == "Monday 00:00 to 02:00; Tuesday 06:00 to 07:00"
