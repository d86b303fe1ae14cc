"""Reasons of waste say what is so: by the hours, by what came of their kind, of the thing itself; else it is *other*."""

import pytest
from django.utils import timezone

from apps.economics.kept_promises import PromiseCase, promise_record
from apps.economics.states import State
from apps.ledger.models import Charge, ChargePart, Line
from apps.placement.queries.moves.work import fleet_work, move_week
from apps.review import actions
from apps.review.actions import recommending
from apps.review.models import Recommendation
from apps.review.queries.recommendations import latest_recommendation_detection_run
from apps.review.queries.recommending.idle_holders import detect_idle_holders
from apps.review.queries.recommending.pool_capacity import NO_PRICE, pool_capacities
from apps.review.queries.recommending.proposal import DetectedKind
from apps.review.queries.recommending.waste_cells import detect_waste
from apps.review.queries.recommending.waste_explained import (
    ExplainedWaste,
    explain_waste,
    waste_from,
)
from tests import make
from tests.apps.console.people import signed_in, words_of
from tests.apps.review import pool_scene
from tests.apps.review.pool_scene import AT, GPUS, PRICE, held, idle, plant_pool

pytestmark = pytest.mark.django_db
MACHINE = GPUS * PRICE * 730


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()


def look() -> dict[str, int]:
    pool_scene.roll_up()
    actions.detect_recommendations(week=move_week(AT), at=AT)
    kept = latest_recommendation_detection_run(AT)
    assert kept is not None
    return by_reason(waste_from(kept.waste))


def by_reason(explained: ExplainedWaste | None) -> dict[str, int]:
    assert explained is not None
    gone: dict[str, int] = {}
    for line in explained.lines:
        name = line.reason or line.matter.partition(":")[0]
        gone[name] = gone.get(name, 0) + line.micros
    return gone


def told(*kinds: DetectedKind, **states: str) -> dict[str, int]:
    pool_scene.roll_up()
    return by_reason(explain_waste(detect_waste(AT), kinds, states))


def test_what_is_promised_less_for_its_kind_s_record_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record = promise_record([PromiseCase(100_000_000, 20_000_000, False)] * 8)
    monkeypatch.setattr(recommending, "promise_records", lambda at: {"unallocated_nodes": record})
    llm = pool_scene.make_workload()
    plant_pool("stand", 3, lambda _, machine: [held(llm)] if machine == 0 else [])
    assert look() == {
        "unallocated_nodes": pytest.approx(2 * MACHINE * record.factor, rel=1e-6),
        "taken_down": pytest.approx(2 * MACHINE * (1 - record.factor), rel=1e-6),
    }


def test_what_gave_way_to_another_for_the_same_dollars_says_so() -> None:
    book = pool_scene.make_workload("book")
    pool_id = plant_pool("x", 1, lambda *_: [idle(book)])
    pool_scene.roll_up()
    found = detect_idle_holders(AT)
    matter = f"idle_holder:{book.pk}:{pool_id}"
    assert set(told(found, **{matter: "open"})) == {"same_dollars", "too_short"}
    assert "declined" in told(found, **{matter: "dismissed"})


def test_what_no_rule_explains_is_other() -> None:
    llm = pool_scene.make_workload()
    plant_pool("stand", 3, lambda _, machine: [held(llm)] if machine == 0 else [])
    assert told() == {
        "other": pytest.approx(2 * MACHINE * 671 / 672, rel=1e-6),
        "too_short": pytest.approx(2 * MACHINE / 672, rel=1e-6),
    }


def test_a_workload_s_id_says_nothing_of_a_pool_with_the_same() -> None:
    llm = pool_scene.make_workload()
    pool_id = plant_pool("stand", 3, lambda _, machine: [held(llm)] if machine == 0 else [])
    of_work, of_pool = DetectedKind("shrink_work", ""), DetectedKind("unallocated_nodes", "")
    for found in (of_work, of_pool):
        found.pass_over(NO_PRICE, str(pool_id))
    assert "no_price" not in told(of_work)
    assert "no_price" in told(of_pool)


def test_machines_free_for_seven_hours_a_week_are_free_too_rarely() -> None:
    llm = pool_scene.make_workload()
    plant_pool("mondays", 10, lambda hour, _: [] if hour % 168 < 7 else [held(llm)])
    assert set(look()) == {"too_short"}


def test_nodes_that_are_counted_by_cores_have_a_reason() -> None:
    llm = pool_scene.make_workload()
    plant_pool("h100", 1, lambda *_: [held(llm)])
    plant_pool("cpu", 3, lambda *_: [], gpu_model="", unit="core", gpus_per_node=0)
    assert look() == {"not_looked": pytest.approx(3 * MACHINE)}


def test_a_lead_reads_not_what_others_pay_for_on_a_pool_of_their_team() -> None:
    mine, theirs = make.make_team("Mine"), pool_scene.make_workload("theirs")
    plant_pool(
        "ours", 4, lambda _, machine: [held(theirs)] if machine < 3 else [], owner_team_id=mine
    )
    look()
    row = Recommendation.objects.get(kind="unallocated_nodes")
    lead, whole = signed_in("lead", mine), row.proposal["spend_micros"]
    page = words_of(lead.get(f"/recommendations/{row.pk}"))
    assert "what it costs is not shown" in page
    assert f"{whole / 1e6:.6f}" not in lead.get("/recommendations.csv").content.decode()
    rest = lead.get("/api/v1/recommendations").json()["results"]
    assert [each["spend"] for each in rest] == [None]
    assert "what it costs is not shown" not in words_of(
        signed_in("finance").get(f"/recommendations/{row.pk}")
    )


def test_a_price_that_came_after_the_close_is_known() -> None:
    llm = pool_scene.make_workload()
    pool_id = plant_pool(
        "late", 2, lambda _, machine: [held(llm)] if machine == 0 else [], price=None
    )
    Charge.objects.filter(pool_id=pool_id).update(part=ChargePart.UNPRICED)
    span = fleet_work(move_week(AT)).span
    assert [each.price for each in pool_capacities(span)] == [None]
    _price_later(pool_id)
    assert [each.price for each in pool_capacities(span)] == [pytest.approx(GPUS * PRICE)]


def _price_later(pool_id: int) -> None:
    names = ("list_micros", "contracted_micros", "effective_micros", "billed_micros")
    amounts = dict.fromkeys(names, GPUS * PRICE)
    later = Charge.objects.bulk_create(
        Charge(
            kind="node_hour", node_id=each.node_id, pool_id=pool_id, part=ChargePart.PRICED,
            hour=each.hour, through=each.through, posting_month=each.posting_month,
            status="restated", currency="USD", digest=b"", corrects=each, **amounts,
        )
        for each in Charge.objects.filter(pool_id=pool_id)
    )  # fmt: skip
    of = {each.corrects_id: each for each in later}
    Line.objects.bulk_create(
        Line(
            id=10**6 + place, posting_month=line.posting_month, charge=of[line.charge_id],
            hour=line.hour, pool_id=pool_id, team_id=line.team_id, workload_id=line.workload_id,
            state=int(State.ACTIVE), flags=0, evidence=0, unit_milliseconds=0, **amounts,
        )
        for place, line in enumerate(Line.objects.filter(pool_id=pool_id))
    )  # fmt: skip
