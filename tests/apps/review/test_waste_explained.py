"""Where the waste of a look goes: every dollar of the ledger's, once."""

from collections import defaultdict

import pytest
from django.utils import timezone

from apps.economics.states import State
from apps.ledger.queries.cube import CubeQuestion
from apps.ledger.queries.kinds import ChargeKind
from apps.placement.queries.moves.work import fleet_work, move_week
from apps.review import actions
from apps.review.models import Recommendation, RecommendationLook
from apps.review.queries.recommendations import latest_recommendation_detection_run
from apps.review.queries.recommending.waste_explained import ExplainedWaste, waste_from
from apps.unit_economics.queries.waste import waste_by, wastes_summed
from tests import make
from tests.apps.console.people import signed_in, words_of
from tests.apps.review import pool_scene
from tests.apps.review.pool_scene import AT, GPUS, PRICE, Part, held, idle, plant_pool

pytestmark = pytest.mark.django_db
MACHINE = GPUS * PRICE * 730


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()


def look() -> ExplainedWaste:
    pool_scene.roll_up()
    actions.detect_recommendations(week=move_week(AT), at=AT)
    kept = latest_recommendation_detection_run(AT)
    assert kept is not None
    explained = waste_from(kept.waste)
    assert explained is not None
    return explained


def plant_waste() -> None:
    """Two machines that stand, one that is idle by night, one in parts, one covered, one owned, and one that broke."""
    llm, book = pool_scene.make_workload(), pool_scene.make_workload("jupyter", "notebook")
    plant_pool("spare", 3, lambda _, machine: [held(llm)] if machine == 0 else [])
    plant_pool(
        "notebooks", 1, lambda hour, _: [idle(book)] if hour % 24 >= 12 else [held(book)],
        purchase_option="spot",
    )  # fmt: skip
    plant_pool("parts", 1, lambda *_: [held(llm, 6)])
    plant_pool("covered", 1, lambda *_: [], committed=lambda *_: True, region="us-west-2")
    plant_pool("owned", 1, lambda *_: [], purchase_option="owned")
    plant_pool("broken", 1, lambda *_: [Part(GPUS, State.OUT_OF_SERVICE)], purchase_option="spot")


def test_every_dollar_of_waste_is_covered_by_a_recommendation_or_has_a_reason() -> None:
    plant_waste()
    explained = look()
    window = fleet_work(move_week(AT)).span.window
    question = CubeQuestion(window, ("workload", "pool"), is_bounded=False)
    ledger = wastes_summed(waste_by(question.of(kind=[str(ChargeKind.NODE_HOUR)])).values())
    assert explained.micros == pytest.approx((ledger.micros or 0) * 730 / 672, rel=1e-9)
    assert explained.other_micros == 0
    gone: dict[tuple[str, str], int] = defaultdict(int)
    for line in explained.lines:
        gone[line.pool, line.matter.partition(":")[0] or line.reason] += line.micros
    assert gone == {
        ("spare", "unallocated_nodes"): pytest.approx(2 * MACHINE),
        ("notebooks", "idle_holder"): pytest.approx(MACHINE * 11 / 24, rel=1e-6),
        ("notebooks", "too_short"): pytest.approx(MACHINE / 24, rel=1e-6),
        ("parts", "partly_held"): pytest.approx(MACHINE / 4),
        ("covered", "committed"): pytest.approx(MACHINE),
        ("owned", "owned"): pytest.approx(MACHINE),
        ("broken", "fault"): pytest.approx(MACHINE),
    }


def test_what_somebody_dismissed_is_said_of_the_next_look() -> None:
    plant_waste()
    look()
    Recommendation.objects.filter(kind="unallocated_nodes").update(
        state="dismissed", state_reason="they wait for the launch"
    )
    RecommendationLook.objects.all().delete()
    explained = look()
    (line,) = [line for line in explained.lines if line.pool == "spare"]
    assert (line.reason, line.matter) == ("declined", "")


def test_the_page_its_csv_and_rest_say_the_same() -> None:
    client = signed_in("platform")
    assert client.get("/api/v1/recommendations/waste").json()["lines"] == []
    plant_waste()
    explained = look()
    page = words_of(client.get("/recommendations"))
    assert "Where the waste goes" in page
    assert "needed as headroom" not in page
    table = client.get("/recommendations.csv?table=waste").content.decode()
    assert len(table.splitlines()) == 1 + len(explained.lines)
    told = client.get("/api/v1/recommendations/waste").json()
    assert told["other"]["amount"] == "0.000000"
    assert len(told["lines"]) == len(explained.lines)
    first = told["lines"][0]
    assert first["recommendation"] == Recommendation.objects.get(kind="unallocated_nodes").pk
    assert first["title"] in page
    assert sum(float(line["waste"]["amount"]) for line in told["lines"]) == pytest.approx(
        explained.micros / 1e6
    )


def test_a_lead_reads_no_waste_of_the_organisation() -> None:
    client = signed_in("lead", make.make_team())
    assert client.get("/api/v1/recommendations/waste").status_code == 403
    refused = client.get("/recommendations.csv?table=waste")
    assert (refused.status_code, "waste" in refused.content.decode()) == (404, False)
