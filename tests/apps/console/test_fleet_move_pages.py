"""Fleet moves on the page of recommendations: their list, their looks, one with its evidence, and the former addresses."""

import csv
import io

import pytest
from django.core.cache import cache
from django.utils import timezone

from apps.console.pages.saved_views.page_words import page_name
from apps.placement.actions import detect_moves
from apps.placement.models import FleetMove
from apps.placement.queries.moves.proposal import MoveKind
from apps.review.actions import detect_recommendations
from apps.review.models import Recommendation
from apps.review.queries.recommending.moved_work import MOVE_KINDS
from tests import make
from tests.apps.console.people import signed_in
from tests.apps.placement import move_scene
from tests.apps.placement.move_scene import AT
from tests.rest import with_token

pytestmark = pytest.mark.django_db
WEEK = AT.date()


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture
def move_id() -> int:
    """A move that the week's look at the fleet proposes, and that is recommended since."""
    move_scene.make_spot_world()
    detect_moves(week=WEEK, at=AT)
    detect_recommendations(week=WEEK, at=AT)
    return FleetMove.objects.get().pk


def recommended() -> Recommendation:
    return Recommendation.objects.get(kind="to_spot")


def test_the_former_page_leads_to_the_recommendations_that_are_moves(move_id: int) -> None:
    finance = signed_in("finance")
    assert finance.get("/placement/moves")["Location"] == "/recommendations?kind=moves"
    answer = finance.get("/placement/moves?sort=x&team=", follow=True)
    text = answer.content.decode()
    assert answer.redirect_chain == [("/recommendations?sort=x&team=&kind=moves", 302)]
    assert "Run llm on spot" in text
    assert ">From<" in text
    assert "spot, aws:us-east-1" in text
    assert f'href="/recommendations/{recommended().pk}"' in text
    assert 'href="/recommendations/fleet-looks"' in text
    # One kind of them has the same columns, another kind none of them.
    assert ">From<" in finance.get("/recommendations?kind=to_spot").content.decode()
    assert ">From<" not in finance.get("/recommendations").content.decode()


@pytest.mark.parametrize(
    ("former", "order"),
    [
        ("-likely", "-likely"),
        ("subject", "title"),
        ("from", "from"),
        ("-to", "-to"),
        ("confidence", "confidence"),
        ("-disruption", "-risk"),
        ("team", "team"),
        # What was proposed first has waited longest.
        ("since", "-age"),
        ("-since", "age"),
    ],
)
def test_the_former_page_is_ordered_as_its_address_said(
    move_id: int, former: str, order: str
) -> None:
    finance = signed_in("finance")
    address = f"/placement/moves?moves-by={former}&moves-by-page=2"
    assert finance.get(address)["Location"] == f"/recommendations?by={order}&by-page=2&kind=moves"
    text = finance.get(address, follow=True).content.decode()
    heading = 'aria-sort="descending"' if order.startswith("-") else 'aria-sort="ascending"'
    assert heading in text
    assert "There is no column" not in text


def test_an_order_that_the_list_does_not_have_is_left_out(move_id: int) -> None:
    led = signed_in("finance").get("/placement/moves?moves-by=-once")["Location"]
    assert led == "/recommendations?kind=moves"


def test_every_kind_of_move_is_in_the_list_of_moves_and_no_other(move_id: int) -> None:
    assert set(MOVE_KINDS) == set(MoveKind)
    other = Recommendation.objects.get(pk=recommended().pk)
    other.pk, other.kind, other.matter = None, "idle_holder", "idle_holder:7:2"
    other.save()
    finance = signed_in("finance")
    listed = finance.get("/recommendations.csv?kind=moves").content.decode()
    assert [row["kind"] for row in csv.DictReader(io.StringIO(listed))] == ["to_spot"]


def test_the_list_has_the_figures_of_the_look(move_id: int) -> None:
    finance = signed_in("finance")
    (of_look,) = csv.DictReader(io.StringIO(finance.get("/placement/moves.csv").content.decode()))
    (listed,) = csv.DictReader(
        io.StringIO(finance.get("/recommendations.csv?kind=moves").content.decode())
    )
    assert listed["matter"] == of_look["key"]
    assert listed["first_week"] == of_look["opened_week"]
    for name in (
        "saving_low", "saving_likely", "saving_high", "spend", "currency", "one_time", "effort_hours", "moves_from",
        "moves_to", "confidence", "payback_months", "team", "kind",
    ):  # fmt: skip
        assert listed[name] == of_look[name], name


def test_what_is_dismissed_is_no_move_to_be_done(move_id: int) -> None:
    finance = signed_in("finance")
    Recommendation.objects.update(state="dismissed", state_reason="not on spot", is_counted=False)
    assert "Run llm on spot" not in finance.get("/recommendations?kind=moves").content.decode()
    dismissed = finance.get("/recommendations?kind=moves&state=dismissed").content.decode()
    assert "Run llm on spot" in dismissed


def test_a_week_that_is_named_is_shown_as_its_look_proposed_it(move_id: int) -> None:
    finance = signed_in("finance")
    week = f"/placement/moves?week={WEEK}"
    assert finance.get(week)["Location"] == f"/recommendations/fleet-looks?week={WEEK}"
    text = finance.get(week, follow=True).content.decode()
    assert "1 move would save about $" in text
    assert "a month before overlaps with other recommendations</h1>" in text
    assert "a month before overlaps with other recommendations; the ends add up to" in text
    assert "Paid by the hour" in text
    assert "The newest portfolio" not in text
    assert "No portfolio was answered yet" in text
    assert f'href="/recommendations/{recommended().pk}"' in text


def test_a_view_of_the_former_page_opens_and_keeps_its_name(move_id: int) -> None:
    assert page_name("/placement/moves") == "Fleet moves"
    finance = signed_in("finance")
    kept = finance.get("/placement/moves?kind=to_spot&state=claimed")["Location"]
    assert kept == "/recommendations?kind=moves&state=claimed"


def test_the_file_has_the_ends_and_what_stands_against_it(move_id: int) -> None:
    finance = signed_in("finance")
    answer = finance.get("/placement/moves.csv")
    (row,) = csv.DictReader(io.StringIO(answer.content.decode()))
    assert row["kind"] == "to_spot"
    assert (
        0
        < float(row["saving_low"])
        <= float(row["saving_likely"])
        <= float(row["saving_high"])
        <= float(row["spend"])
    )
    assert row["doubts"] == "the ledger has 2 of 4 weeks"
    assert row["payback_months"] == ""
    counts = finance.get("/recommendations/fleet-looks.csv?table=not-moved").content.decode()
    assert "To spot,Proposed,1,1" in counts
    # Former addresses of these tables answer the same.
    former = finance.get("/placement/moves/not-moved.csv", follow=True)
    assert former.content.decode() == counts
    assert finance.get("/recommendations/fleet-looks.csv").content == answer.content
    closed = finance.get("/placement/moves/closed.csv", follow=True).content.decode()
    assert closed == "subject,moves_to,closed_week,closed_reason,team,opened_week,key\r\n"


def test_one_move_shows_its_evidence_with_links(move_id: int) -> None:
    finance = signed_in("finance")
    answer = finance.get(f"/placement/moves/{move_id}", follow=True)
    assert answer.redirect_chain == [(f"/recommendations/{recommended().pk}", 302)]
    text = answer.content.decode()
    assert "no hourly cost of an engineer is set" in text
    assert "Interruptions" in text
    assert 'href="/runs/' in text
    assert 'href="/prices/' in text
    assert 'href="/fleet?pool=' in text
    assert 'href="/placement/spot"' in text
    assert "Week by week" in text
    weeks = finance.get(f"/recommendations/{recommended().pk}.csv?table=weeks").content
    assert weeks == finance.get(f"/placement/moves/{move_id}/weeks.csv", follow=True).content
    assert weeks.decode().splitlines()[1].startswith(str(WEEK))
    assert finance.get("/placement/moves/987654").status_code == 404


def test_a_move_that_is_not_recommended_yet_leads_to_its_look(move_id: int) -> None:
    recommended().delete()
    finance = signed_in("finance")
    led = finance.get(f"/placement/moves/{move_id}")["Location"]
    assert led == f"/recommendations/fleet-looks?week={WEEK}"
    assert finance.get(led).status_code == 200


def test_a_lead_sees_the_own_move_without_prices_and_a_stranger_none(move_id: int) -> None:
    team_id = FleetMove.objects.get().team_id
    assert team_id is not None
    lead = signed_in("lead", team_id)
    text = lead.get(f"/placement/moves/{move_id}", follow=True).content.decode()
    assert 'href="/runs/' in text
    assert 'href="/prices/' not in text
    assert 'href="/placement/spot"' not in text
    assert "a GPU-hour" not in text
    stranger = signed_in("viewer", make.make_team("Others"))
    assert stranger.get(f"/placement/moves/{move_id}").status_code == 404
    assert stranger.get(f"/placement/moves/{move_id}.csv").status_code == 404
    assert stranger.get(f"/recommendations/{recommended().pk}.csv?table=weeks").status_code == 404
    assert "Nothing of your teams" in stranger.get("/recommendations/fleet-looks").content.decode()
    for address in ("/recommendations/fleet-looks.csv", "/placement/moves.csv"):
        assert stranger.get(f"{address}?table=not-moved").status_code == 404


def test_rest_recommends_the_move_with_what_it_had(move_id: int) -> None:
    reader = with_token("read", name="reader")
    (move,) = reader.get("fleet-moves").json()["results"]
    (listed,) = reader.get("recommendations?kind=to_spot").json()["results"]
    assert listed["matter"] == move["key"]
    for name in ("moves_from", "moves_to", "egress", "restart", "effort", "payback_months", "confidence",
                 "interruptions_per_month", "restart_hours_per_month"):  # fmt: skip
        assert listed["move"][name] == move[name], name
    for name in (
        "spend",
        "saving_low",
        "saving_likely",
        "saving_high",
        "one_time",
        "effort_hours",
        "team",
        "workload",
    ):
        assert listed[name] == move[name], name
    assert [(one["what"].lower(), one["ref"], one["figure"]) for one in listed["evidence"][1:]] == [
        (one["kind"], one["ref"], one["words"]) for one in move["evidence"]
    ]
    whole = reader.get(f"recommendations/{listed['id']}").json()
    (week,) = whole["move_weeks"]
    assert (week["week"], week["saving_likely"]) == (str(WEEK), move["saving_likely"])


def test_rest_has_the_newest_week_or_one_that_is_named(move_id: int) -> None:
    reader = with_token("read", name="reader")
    (row,) = reader.get("fleet-moves").json()["results"]
    assert (row["id"], row["kind"], row["is_counted"]) == (move_id, "to_spot", True)
    assert reader.get(f"fleet-moves?week={WEEK}").json()["results"] == [row]
    assert reader.get("fleet-moves?week=2026-01-05").json()["results"] == []
    (look,) = reader.get("fleet-moves/looks").json()["results"]
    assert look["weeks"] == 2
    assert look["counted"] == row["saving_likely"]
