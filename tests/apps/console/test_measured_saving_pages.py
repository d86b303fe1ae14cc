"""What was saved is shown beside what was promised: on its page, as CSV and over REST."""

from datetime import date

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.review import actions
from tests import make
from tests.apps.console.people import confirmed, csv_rows, signed_in, words_of
from tests.apps.review import saving_scene as scene
from tests.apps.review.saving_scene import DAY, DONE_AT, JUDGED_AT, SINCE, PlantedDay

pytestmark = pytest.mark.django_db
MONTH = 730 / 24


def cheaper_since(day: date) -> PlantedDay:
    """200 dollars a day for as many requests as the weekday has, and 150 since it was done."""
    requests = 50_000 + 1_000 * day.weekday()
    return PlantedDay(requests / 500, 1.5 if day >= SINCE else 2.0, requests)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(timezone, "now", lambda: JUDGED_AT)
    subject = scene.make_subject()
    scene.plant_sums(subject, cheaper_since)
    return scene.done_one(subject, "to_spot", round(50 * MONTH))


def test_the_page_shows_measured_beside_promised_week_by_week(known: int) -> None:
    finn = signed_in("finance")
    address = f"/recommendations/{known}"
    assert "it is judged after four weeks" in words_of(finn.get(address))
    actions.measure_savings_if_due(at=DONE_AT + 14 * DAY)
    page = words_of(finn.get(address))
    assert "Promised and measured, week by week" in page
    assert "Too early in the week of 23 March 2026" in page
    assert "in the 56 settled days before 2 March 2026" in page
    actions.measure_savings_if_due(at=JUDGED_AT)
    page = words_of(finn.get(address))
    assert "Verified in the week of 13 April 2026" in page
    assert "its requests of each day at what one cost on the same weekday" in page
    assert "requests a day before" in page
    newest, first = csv_rows(finn.get(f"{address}.csv?table=measured"))
    assert (newest["status"], first["status"]) == ("Verified", "Too early")
    assert float(newest["measured"]) == pytest.approx(53 * MONTH, rel=0.02)
    assert (newest["days"], newest["unit"]) == ("28", "requests")
    assert len(newest["digest"]) == 64
    assert "1 verified, 0 failed" in words_of(finn.get("/recommendations"))
    confirmed(finn, f"{address}/reopen", {"reason": "it came back"})
    page = words_of(finn.get(address))
    assert "Once it is done, by the ledger" in page
    assert "Verified in the week" not in page, "that was said of what was done before"


def test_what_is_not_known_is_said_to_be_unknown_with_its_reason(
    known: int,
) -> None:
    actions.measure_savings_if_due(at=DONE_AT + 5 * DAY)
    finn = signed_in("finance")
    page = words_of(finn.get(f"/recommendations/{known}"))
    assert "fewer than three weeks of settled, priced days since" in page
    (row,) = csv_rows(finn.get(f"/recommendations/{known}.csv?table=measured"))
    assert (row["measured"], row["did_cost"]) == ("", "")


def test_another_teams_measurements_are_not_there(known: int) -> None:
    actions.measure_savings_if_due(at=JUDGED_AT)
    vera = signed_in("viewer", make.make_team("Blue"))
    assert vera.get(f"/recommendations/{known}.csv?table=measured").status_code == 404


def test_rest_has_every_measurement_of_one(known: int) -> None:
    actions.measure_savings_if_due(at=DONE_AT + 5 * DAY)
    actions.measure_savings_if_due(at=JUDGED_AT)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {make.make_token('read').secret}")
    told = client.get(f"/api/v1/recommendations/{known}").json()
    newest, first = told["measurements"]
    assert (first["status"], first["measured"]) == ("too_early", None)
    assert (newest["status"], newest["measured"]["days"]) == ("verified", 28)
    assert newest["measured"]["low"]["amount"] <= newest["measured"]["saved"]["amount"]
    assert newest["promised"]["amount"] == f"{round(50 * MONTH)}.000000"
    assert told["outcomes"][0]["is_verified"]
