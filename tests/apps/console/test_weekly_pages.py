"""A week's review as a page: rows with the sum that they add up to, and words that say what is not there yet."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from apps.review import actions
from apps.review.queries.weekly.content import (
    BudgetsWeek,
    CommitmentsWeek,
    IdleNumbers,
    ReviewedBudget,
    ReviewedCommitment,
    WeeklyContent,
)
from tests import make
from tests.apps.console.people import signed_in, words_of
from tests.apps.review import reviews

pytestmark = pytest.mark.django_db
AT = datetime(2026, 7, 27, 9, tzinfo=UTC)


def shown(content: WeeklyContent) -> str:
    make.make_organisation()
    actions.freeze_review(content=content, at=AT)
    return words_of(signed_in("finance").get(f"/weekly-reviews/{content.week}"))


def test_teams_and_parts_of_idle_end_in_the_sum_of_the_week() -> None:
    teams = tuple(reviews.team(number, frozen_before_micros=8_000_000) for number in (7, 8))
    words = shown(reviews.content(teams=teams, sections=("variance", "idle")))

    assert "All $20.00 – not known $2.00 $1.00 $16.00" in words
    assert "All $1.00 2.00" in words


def test_a_sum_with_a_part_that_has_no_price_is_not_known() -> None:
    idle = IdleNumbers({"unallocated": 1_000_000}, {"unallocated": 1, "stranded": 3_600_000})
    words = shown(reviews.content(sections=("idle",), idle=idle))

    assert "Stranded – not known 1.00" in words
    assert "All – not known 1.00" in words


def test_what_moved_the_cost_most_is_said_above_its_picture() -> None:
    words = shown(reviews.content(sections=("variance",)))

    assert "most of all price, +$4.00" in words


def test_days_and_periods_are_said_in_words_and_nothing_measured_is_no_amount() -> None:
    budget = ReviewedBudget(
        budget_id=1, name="Research", measure="money", team_ids=(), period="2026-07-01/2026-08-01",
        amount=1, spent=1, expected=1, headroom=0, chance_low=None, chance_high=None, method="run rate",
        exceeds_on="", is_hard=False,
    )  # fmt: skip
    ending = ReviewedCommitment(3, "Plan A", 0.5, 0.5, 1, 1, 1, "2026-08-30", 34)
    content = replace(
        reviews.content(sections=("budgets", "commitments")),
        budgets=BudgetsWeek(budgets=(budget,)),
        commitments=CommitmentsWeek(commitments=(ending,)),
    )
    words = shown(content)

    assert "Research July 2026" in words
    assert "Plan A on 30 August 2026" in words
    assert "Proven savings – nothing that was done in the last quarter is measured yet" in words
