"""Two who act at the same moment: each dollar is counted once, and a week is frozen once."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from apps.accounts.queries import Viewer, viewer_of_user
from apps.review import actions
from apps.review.actions.recommendations import RecommendationAnswer
from apps.review.models import Recommendation, RecommendationVerb, WeeklyReview
from tests import make
from tests.apps.review.recommended import AT, looked, proposal
from tests.apps.review.review_weeks import MONDAY, WEEK, Company
from tests.databases import meanwhile

pytestmark = pytest.mark.django_db(transaction=True)


def claiming(recommendation_id: int, by: Viewer) -> Callable[[], None]:
    answer = RecommendationAnswer(
        RecommendationVerb.CLAIMED, owner_id=by.person_id, due_on=AT.date() + timedelta(days=9)
    )
    return lambda: actions.answer_recommendation(
        recommendation_id=recommendation_id, answer=answer, by=by, at=AT
    )


def test_of_two_claims_at_once_for_the_same_dollars_one_is_counted() -> None:
    make.make_organisation()
    petra = viewer_of_user(make.make_person("petra@example.org", name="Petra", role="platform"))
    dollars = frozenset(["7:2"])
    best, *others = looked(
        *(
            proposal(key, likely, cells=dollars)
            for key, likely in (("a", 900), ("b", 500), ("c", 400))
        )
    )
    meanwhile(*(claiming(each, petra) for each in others)).result()
    counted = dict(Recommendation.objects.filter(is_counted=True).values_list("id", "state"))
    assert list(counted.values()) == ["claimed"]
    assert best not in counted


def test_of_two_who_make_a_weeks_review_at_once_the_second_reads_the_first() -> None:
    Company().plant(1)
    second = meanwhile(
        lambda: actions.make_review(week=WEEK, at=MONDAY),
        lambda: actions.make_review_if_missing(name=WEEK.name, at=MONDAY),
    )
    assert second.result() == WEEK.name
    assert WeeklyReview.objects.count() == 1


def test_a_sweep_that_comes_second_has_made_none() -> None:
    Company().plant(1)
    tuesday = MONDAY + timedelta(days=1)
    second = meanwhile(
        lambda: actions.make_review(week=WEEK, at=tuesday),
        lambda: actions.make_review_if_due(at=tuesday),
    )
    assert second.result() == 0
    assert WeeklyReview.objects.count() == 1
