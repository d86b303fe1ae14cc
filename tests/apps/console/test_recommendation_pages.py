"""Recommendations are listed with what was looked at, answered after a look, and over REST by the same rules."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.economics.moves.saving import SavingRange
from apps.review import actions
from apps.review.models import Recommendation
from apps.review.queries.recommendations import MeasuredSaving
from tests import make
from tests.apps.console.people import confirmed, csv_rows, signed_in, words_of
from tests.apps.review.recommended import AT, DOLLAR, WEEK, looked, proposal

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _world(monkeypatch: pytest.MonkeyPatch) -> None:
    make.make_organisation()
    monkeypatch.setattr(timezone, "now", lambda: AT)


def posted(client: Client, recommendation_id: int, step: str, **entered: str) -> Any:
    return confirmed(client, f"/recommendations/{recommendation_id}/{step}", entered)


def test_before_the_first_look_the_page_says_what_it_needs() -> None:
    text = words_of(signed_in("finance").get("/recommendations"))
    assert "Nothing was looked for yet" in text
    assert "seven hours after its first midnight" in text


def test_nothing_found_says_what_was_looked_at() -> None:
    looked()
    text = words_of(signed_in("finance").get("/recommendations"))
    assert "No open recommendation" in text
    assert "It answered requests" in text
    rows = csv_rows(signed_in("platform").get("/recommendations.csv?table=looked-at"))
    assert [(row["kind"], row["why"], row["count"]) for row in rows] == [
        ("Zombie", "Recommended", "0"),
        ("Zombie", "It answered requests", "1"),
    ]


def test_savings_are_added_up_once_and_filtered() -> None:
    team_id = make.make_team("Red")
    looked(
        proposal("a", likely=1_000, cells=frozenset(["7:2"]), team_id=team_id),
        proposal("b", likely=600, cells=frozenset(["7:2"])),
        proposal("c", likely=0, frees_gpu_hours=2_500.0),
    )
    finn = signed_in("finance")
    text = words_of(finn.get("/recommendations"))
    assert "3 recommendations would save $900 to $1,100 a month" in text
    assert "De-duplicated: overlaps with another" in text
    assert "frees 2,500 GPU-hours" in text
    rows = csv_rows(finn.get("/recommendations.csv"))
    assert [(row["matter"], row["is_counted"]) for row in rows] == [
        ("zombie:a", "true"), ("zombie:b", "false"), ("zombie:c", "false"),
    ]  # fmt: skip
    assert rows[0]["saving_likely"] == "1000.000000"
    assert len(csv_rows(finn.get(f"/recommendations.csv?team={team_id}"))) == 1
    assert len(csv_rows(finn.get("/recommendations.csv?team=none"))) == 2
    assert csv_rows(finn.get("/recommendations.csv?owner=me")) == []
    assert "There is no state" in words_of(finn.get("/recommendations?state=gone"))


def test_a_filter_of_what_is_not_in_the_total_says_what_it_would_save_and_why() -> None:
    team_id = make.make_team("Red")
    cells = frozenset(["7:2"])
    looked(
        proposal("a", likely=2_000, cells=cells),
        proposal("b", likely=1_804, cells=cells, team_id=team_id),
        proposal("c", likely=1_314, cells=cells, team_id=team_id),
    )
    finn = signed_in("finance")
    filtered = f"/recommendations?team={team_id}"
    text = words_of(finn.get(filtered))
    assert "2 recommendations to look at" in text
    left_out = "a month in the total; $3,118 overlaps with other recommendations"
    assert f"Open $0.00 {left_out}" in text
    assert "in the total;" not in words_of(finn.get("/recommendations"))
    # What was carried over is not known to overlap before the next look.
    Recommendation.objects.filter(matter="zombie:c").update(exclusive_group=0)
    text = words_of(finn.get(filtered))
    assert (
        "$1,804 overlaps with other recommendations; $1,314 is added up from the next weekly analysis on"
        in text
    )


def test_two_claims_of_the_same_dollars_promise_them_once() -> None:
    finn = signed_in("finance")
    cells = frozenset(["7:2"])
    both = looked(proposal("a", likely=1_000, cells=cells), proposal("b", likely=600, cells=cells))
    for known in both:
        posted(finn, known, "claim", owner=str(make_own_id(finn)), due_on="2026-03-20", reason="")
    text = words_of(finn.get("/recommendations"))
    assert "$900 to $1,100 a month promised by 2 claims, de-duplicated" in text


def test_one_is_claimed_done_and_settled_beside_what_was_promised() -> None:
    team_id = make.make_team("Red")
    lee = signed_in("lead", team_id)
    (known,) = looked(proposal(team_id=team_id))
    page = words_of(lee.get(f"/recommendations/{known}"))
    assert "Stop 7:2: $900 to $1,100 a month less" in page
    assert "What it was charged in four weeks" in page
    assert "0 in 28 days" in page
    assert "$2.00 a GPU-hour" not in page, "a lead reads no prices"
    assert "$2.00 a GPU-hour" in words_of(signed_in("finance").get(f"/recommendations/{known}"))

    offered = words_of(lee.get(f"/recommendations/{known}/claim"))
    assert "Lead" in offered
    row = Recommendation.objects.get()
    own = str(make_own_id(lee))
    posted(lee, known, "claim", owner=own, due_on="2026-03-20", reason="with the next release")
    row.refresh_from_db()
    assert (row.state, str(row.owner_id), row.due_on) == ("claimed", own, date(2026, 3, 20))
    listed = words_of(lee.get("/recommendations"))
    assert "No open recommendation; 1 other claimed" in listed
    assert "Lead, until 20 Mar 2026" in listed
    assert len(csv_rows(lee.get("/recommendations.csv?owner=me"))) == 1
    posted(lee, known, "done", reason="")
    amount = 800 * DOLLAR
    measured = MeasuredSaving(
        SavingRange(700 * DOLLAR, amount, 900 * DOLLAR),
        spend_micros=0,
        counterfactual_micros=amount,
        counterfactual="its hours of four weeks before",
        first_day=WEEK,
        last_day=WEEK + 27 * DAY,
    )
    actions.settle_recommendation(
        recommendation_id=known, measured=measured, is_verified=True, at=AT
    )
    page = words_of(lee.get(f"/recommendations/{known}"))
    assert "verified" in page
    assert "its hours of four weeks before" in page
    assert "of $1,000 promised: 1 verified, 0 failed" in words_of(lee.get("/recommendations"))
    (row_of,) = csv_rows(lee.get("/recommendations.csv?table=proven"))
    assert row_of["measured"] == "800.000000"
    assert row_of["title"] == proposal().title
    steps = csv_rows(lee.get(f"/recommendations/{known}.csv"))
    assert [(each["step"], each["who"]) for each in steps] == [
        ("proposed", "Runrate"), ("claimed", "Lead"), ("done", "Lead"), ("verified", "Runrate"),
    ]  # fmt: skip


def test_what_was_done_again_is_proven_once(monkeypatch: pytest.MonkeyPatch) -> None:
    finn = signed_in("finance")
    own, (known,) = str(make_own_id(finn)), looked(proposal())
    for place, saved in enumerate((800, 500)):
        at = AT + place * DAY
        monkeypatch.setattr(timezone, "now", lambda at=at: at)
        posted(finn, known, "claim", owner=own, due_on="2026-03-20", reason="")
        posted(finn, known, "done", reason="")
        amount = saved * DOLLAR
        measured = MeasuredSaving(
            SavingRange(amount, amount, amount), 0, amount, "its hours", WEEK, WEEK
        )
        actions.settle_recommendation(
            recommendation_id=known, measured=measured, is_verified=True, at=at
        )
        posted(finn, known, "reopen", reason="it came back")
    text = words_of(finn.get("/recommendations"))
    assert "Proven $500 a month" in text
    assert len(csv_rows(finn.get("/recommendations.csv?table=proven"))) == 2


def make_own_id(client: Client) -> int:
    return int(client.session["_auth_user_id"])


def test_one_is_dismissed_with_a_reason_snoozed_and_reopened() -> None:
    petra = signed_in("platform")
    (known,) = looked(proposal())
    assert "Say why." in words_of(petra.post(f"/recommendations/{known}/dismiss", {"reason": ""}))
    posted(petra, known, "dismiss", reason="the launch needs it")
    assert "the launch needs it" in words_of(petra.get("/recommendations?state=dismissed"))
    posted(petra, known, "reopen", reason="")
    posted(petra, known, "snooze", reason="", until="2026-03-09T09:00")
    assert Recommendation.objects.get().snoozed_until == datetime(2026, 3, 9, 9, tzinfo=UTC)
    assert petra.get(f"/recommendations/{known}/eat").status_code == 404


@pytest.mark.parametrize(
    ("step", "entered", "refused"),
    [
        ("claim", {"due_on": "2020-01-01"}, "Say until when: today or later."),
        ("snooze", {"until": "2020-01-01T00:00"}, "A moment that is still to come"),
        ("done", {}, "It is open: so it cannot be done."),
    ],
)
def test_what_would_be_refused_is_refused_at_the_look(
    step: str, entered: dict[str, str], refused: str
) -> None:
    (first,) = looked(proposal())
    finance = signed_in("finance")
    said = {"owner": str(User.objects.get().pk), "reason": ""} | entered
    page = finance.get(f"/recommendations/{first}/{step}", said)
    assert refused.casefold() in words_of(page).casefold()
    assert 'id="effects"' not in page.content.decode()


def test_another_teams_is_not_there_and_who_only_views_answers_nothing() -> None:
    team_id = make.make_team("Red")
    own, others = looked(proposal(team_id=team_id), proposal("8:2", team_id=make.make_team("Blue")))
    vera = signed_in("viewer", team_id)
    assert "Claim" not in words_of(vera.get(f"/recommendations/{own}"))
    assert posted(vera, own, "dismiss", reason="no").status_code == 403
    assert vera.get(f"/recommendations/{others}").status_code == 404
    assert "Stop 8:2" not in words_of(vera.get("/recommendations"))


def caller(*scopes: str, **given: Any) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {make.make_token(*scopes, **given).secret}")
    return client


def test_rest_lists_and_answers_by_the_same_rules() -> None:
    team_id = make.make_team("Red")
    make.make_person("ada@example.org", name="Ada", role="finance")
    own, _ = looked(proposal(team_id=team_id), proposal("8:2", likely=500))
    reader, manager = caller("read", team_id=team_id), caller("read", "manage")
    base = "/api/v1/recommendations"
    (row,) = reader.get(base).json()["results"]
    assert (row["matter"], row["saving_likely"]["amount"]) == ("zombie:7:2", "1000.000000")
    assert [each["what"] for each in row["evidence"]] == ["Requests"]
    assert reader.post(f"{base}/{own}/claim", {}, format="json").status_code == 403
    assert [row["matter"] for row in manager.get(base).json()["results"]] == [
        "zombie:7:2",
        "zombie:8:2",
    ]
    for body, field in (
        ({"due_on": "2026-03-20"}, "owner"),
        ({"owner": "ada@example.org"}, "due_on"),
        ({"until": "2026-03-20T00:00:00Z"}, "until"),
    ):
        refused = manager.post(f"{base}/{own}/claim", body, format="json")
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, field)
    body = {"owner": "ada@example.org", "due_on": "2026-03-20", "reason": "next release"}
    claimed = manager.post(f"{base}/{own}/claim", body, format="json").json()
    assert (claimed["state"], claimed["owner"], claimed["due_on"]) == (
        "claimed",
        "Ada",
        "2026-03-20",
    )
    assert manager.post(f"{base}/{own}/claim", body, format="json").status_code == 409
    assert manager.post(f"{base}/{own}/eat", {}, format="json").status_code == 404
    done = manager.post(f"{base}/{own}/done", {}, format="json").json()
    assert Counter(each["verb"] for each in done["steps"]) == Counter(
        ["proposed", "claimed", "done"]
    )
    assert manager.get(f"{base}?state=done").json()["results"][0]["id"] == own
    assert manager.get(f"{base}?kind=zombie").status_code == 400
