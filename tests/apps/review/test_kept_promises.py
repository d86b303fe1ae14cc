"""What came of a kind is shown, and takes later promises of the kind down, which they say."""

from dataclasses import asdict
from datetime import date, timedelta

import pytest
from django.utils import timezone

from apps.economics.moves.saving import SavingRange
from apps.review.models import Recommendation, RecommendationOutcome
from apps.review.queries.recommendations import MeasuredSaving
from apps.review.queries.recommending.kept_promises import FACTOR, promise_records
from tests import make
from tests.apps.console.people import csv_rows, signed_in, words_of
from tests.apps.review.recommended import AT, DOLLAR, looked, proposal
from tests.rest import with_token

pytestmark = pytest.mark.django_db
WEEKS = timedelta(weeks=1)


@pytest.fixture(autouse=True)
def _world(monkeypatch: pytest.MonkeyPatch) -> None:
    make.make_organisation()
    monkeypatch.setattr(timezone, "now", lambda: AT + 2 * WEEKS)


def came_to(row: Recommendation, share: float, days_ago: int = 1) -> None:
    """One that was done and judged: that share of its promise."""
    promised = row.proposal["saving"]["likely"]
    saved = round(promised * share)
    measured = MeasuredSaving(
        saving=SavingRange(saved, saved, saved),
        spend_micros=0,
        counterfactual_micros=promised,
        counterfactual="what it cost before",
        first_day=date(2026, 2, 1),
        last_day=date(2026, 2, 28),
    )
    at = AT + WEEKS - timedelta(days=days_ago)
    RecommendationOutcome.objects.create(
        recommendation=row,
        claimed_at=at,
        done_at=at,
        settled_at=at,
        is_verified=share > 0.5,
        promise=row.proposal,
        measured=measured.document,
    )


def proposed(*keys: str) -> list[Recommendation]:
    looked(*(proposal(key) for key in keys))
    return list(Recommendation.objects.order_by("id"))


def test_later_promises_of_a_kind_are_taken_down_and_say_so() -> None:
    for row in proposed("a", "b", "c", "d", "e"):
        came_to(row, 0.62)
    record = promise_records(AT + WEEKS)["zombie"]
    assert (record.cases, record.factor) == (5, pytest.approx(0.7625))
    assert promise_records(AT - 5 * WEEKS) == {}
    looked(proposal("f"), at=AT + WEEKS)
    fresh = Recommendation.objects.get(matter="zombie:f").proposal
    assert fresh["saving"]["likely"] == round(1_000 * DOLLAR * 0.7625)
    assert "the last 5 of this kind came to 62% of what was promised" in fresh["doubts"]
    assert "Of that 76% is promised" in fresh["computed"]
    # Judged by what was computed, so that a kind does not look better for having been taken down.
    came_to(Recommendation.objects.get(matter="zombie:f"), 1.0, days_ago=0)
    assert fresh["baseline"][FACTOR] == pytest.approx(0.7625)
    again = promise_records(AT + 2 * WEEKS)["zombie"]
    assert again.ratio == pytest.approx((5 * 0.62 + 0.7625) / 6)


def test_one_that_was_done_again_counts_as_it_came_out_last() -> None:
    (row,) = proposed("a")
    came_to(row, 0.0, days_ago=9)
    came_to(row, 1.0, days_ago=1)
    assert promise_records(AT + WEEKS)["zombie"].ratio == 1.0


def test_the_page_its_csv_and_rest_say_the_same() -> None:
    for row in proposed("a", "b"):
        came_to(row, 0.5)
    finance = signed_in("finance")
    assert "Realised and promised, by kind" in words_of(finance.get("/recommendations"))
    (kept,) = csv_rows(finance.get("/recommendations.csv?table=kept"))
    assert (kept["cases"], kept["realised_ratio"]) == ("2", "0.500000")
    answer = with_token("read").get("recommendations").json()
    assert answer["results"][0]["kind_record"] == {
        "cases": 2,
        "verified": 0,
        "realised_ratio": 0.5,
        "factor": 0.8,
    }
    assert asdict(promise_records(AT + WEEKS)["zombie"])["cases"] == 2
