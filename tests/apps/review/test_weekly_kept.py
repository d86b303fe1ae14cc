"""A weekly review is frozen: read again it is the same, and nothing can change it."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from django.db import ProgrammingError, transaction

from apps.economics.refusal import Refusal
from apps.review import actions
from apps.review.models import WeeklyReview, WeeklyReviewWorkload
from apps.review.queries.weekly.stored_reviews import digest_is_good, review_weeks, stored_review
from apps.workloads.actions.workloads import add_workload
from tests import make
from tests.apps.review.reviews import SCORED, VALUED, content, team, workload

pytestmark = pytest.mark.django_db
AT = datetime(2026, 7, 27, 5, tzinfo=UTC)


@pytest.fixture
def teams() -> tuple[int, int]:
    make.make_organisation()
    return make.make_team("search"), make.make_team("ads")


def test_a_review_is_read_as_it_was_frozen(teams: tuple[int, int]) -> None:
    ids = [add_workload(name=f"w{team_id}", team_id=team_id, kind="serving") for team_id in teams]
    made = content(
        workload(ids[0], teams[0], returned=VALUED, scores=(SCORED,)),
        workload(ids[1], teams[1]),
        teams=(team(teams[0]), team(teams[1])),
    )
    review_id = actions.freeze_review(content=made, at=AT)
    assert stored_review("2026-W30").content == made
    assert digest_is_good(review_id)
    narrowed = stored_review("2026-W30", team_ids={teams[1]}).content.workloads
    assert [each.workload_id for each in narrowed] == [ids[1]]


@pytest.mark.parametrize("value", [1.7e308, -2.5e16, 1e16, 9.5e15, -0.0, 5e-324, 1.25e-7])
def test_its_digest_holds_whatever_numbers_are_in_it(teams: tuple[int, int], value: float) -> None:
    workload_id = add_workload(name="w", team_id=teams[0], kind="serving")
    scored = workload(workload_id, teams[0], scores=(replace(SCORED, value=value),))
    review_id = actions.freeze_review(content=content(scored), at=AT)
    assert digest_is_good(review_id)
    (score,) = stored_review("2026-W30").content.workloads[0].scores
    assert score.value == value


def test_a_frozen_review_refuses_every_change(teams: tuple[int, int]) -> None:
    workload_id = add_workload(name="w", team_id=teams[0], kind="serving")
    actions.freeze_review(content=content(workload(workload_id, teams[0])), at=AT)
    for table in (WeeklyReview, WeeklyReviewWorkload):
        with pytest.raises(ProgrammingError, match="Cannot update"), transaction.atomic():
            table.objects.update(content={})


def test_made_again_it_is_a_further_edition_with_its_reason(teams: tuple[int, int]) -> None:
    actions.freeze_review(content=content(), at=AT)
    with pytest.raises(Refusal, match="why it is made again"):
        actions.freeze_review(content=content(), at=AT)
    actions.freeze_review(content=content(title="Again"), at=AT, reason="A bill came late")
    newest, first = stored_review("2026-W30"), stored_review("2026-W30", edition=1)
    assert (newest.edition, newest.editions, newest.content.title) == (2, 2, "Again")
    assert first.content.title == "The week cost $20"
    assert newest.digest != first.digest
    assert review_weeks() == ["2026-W30"]
