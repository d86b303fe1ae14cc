"""The pages of fleet moves: the finding, why the rest is none, one move with its evidence, and whose they are."""

import csv
import io

import pytest
from django.core.cache import cache
from django.utils import timezone

from apps.placement.actions import detect_moves
from apps.placement.models import FleetMove
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
    move_scene.make_spot_world()
    detect_moves(week=WEEK, at=AT)
    return FleetMove.objects.get().pk


def test_the_page_says_what_moving_saves_and_why_the_rest_is_no_move(move_id: int) -> None:
    text = signed_in("finance").get("/placement/moves").content.decode()
    assert "1 move would save about $" in text
    assert "Paid by the hour" in text
    assert "The newest portfolio" not in text
    assert "No portfolio was answered yet" in text
    assert f"/placement/moves/{move_id}" in text


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
    counts = finance.get("/placement/moves.csv?table=not-moved").content.decode()
    assert "To spot,Proposed,1,1" in counts


def test_one_move_shows_its_evidence_with_links(move_id: int) -> None:
    finance = signed_in("finance")
    text = finance.get(f"/placement/moves/{move_id}").content.decode()
    assert "nobody said what an engineer&#x27;s hour costs" in text
    assert 'href="/runs/' in text
    assert 'href="/prices/' in text
    assert finance.get("/placement/moves/987654").status_code == 404


def test_a_lead_sees_the_own_move_without_prices_and_a_stranger_none(move_id: int) -> None:
    team_id = FleetMove.objects.get().team_id
    assert team_id is not None
    lead = signed_in("lead", team_id)
    text = lead.get(f"/placement/moves/{move_id}").content.decode()
    assert 'href="/runs/' in text
    assert 'href="/prices/' not in text
    assert "a GPU-hour" not in text
    stranger = signed_in("viewer", make.make_team("Others"))
    assert stranger.get(f"/placement/moves/{move_id}").status_code == 404
    assert "Nothing of your teams" in stranger.get("/placement/moves").content.decode()
    assert stranger.get("/placement/moves.csv?table=not-moved").status_code == 404


def test_rest_has_the_newest_week_or_one_that_is_named(move_id: int) -> None:
    reader = with_token("read", name="reader")
    (row,) = reader.get("fleet-moves").json()["results"]
    assert (row["id"], row["kind"], row["is_counted"]) == (move_id, "to_spot", True)
    assert reader.get(f"fleet-moves?week={WEEK}").json()["results"] == [row]
    assert reader.get("fleet-moves?week=2026-01-05").json()["results"] == []
    (look,) = reader.get("fleet-moves/looks").json()["results"]
    assert look["weeks"] == 2
    assert look["counted"] == row["saving_likely"]
