"""Makes the content of a week's review from the ledger, in few readings, however many workloads there are."""

from dataclasses import replace
from datetime import datetime

from apps.accounts.queries import organisation
from apps.accounts.queries.reading import reading_once
from apps.ledger.queries.costs import Basis
from apps.ledger.queries.cube import variance_of
from apps.review.queries.weekly.against_plan import budgets_week
from apps.review.queries.weekly.content import (
    BudgetsWeek,
    PreviousReview,
    ReviewedTeam,
    WeeklyContent,
)
from apps.review.queries.weekly.content_to_do import RecommendationsWeek
from apps.review.queries.weekly.first_edition import merge_earlier_edition
from apps.review.queries.weekly.headline import review_title
from apps.review.queries.weekly.moment import review_moment
from apps.review.queries.weekly.narrowed import sums_of_teams
from apps.review.queries.weekly.restated import earlier_edition
from apps.review.queries.weekly.review_words import (
    ALERTS,
    BUDGETS,
    COMMITMENTS,
    DATA_QUALITY,
    RECOMMENDATIONS,
    SECTIONS,
)
from apps.review.queries.weekly.reviewed_teams import reviewed_teams
from apps.review.queries.weekly.reviewed_workloads import reviewed_workloads
from apps.review.queries.weekly.sections import (
    commitments_week,
    data_quality,
    matters_of,
    recommendations_week,
)
from apps.review.queries.weekly.shown_sections import sections_left_out
from apps.review.queries.weekly.stored_reviews import StoredReview, newest_review
from apps.review.queries.weekly.week_reading import WeekRead, read_week, week_variance
from apps.review.queries.weekly.weeks import ReviewWeek, trend_weeks


def make_content(week: ReviewWeek, at: datetime) -> WeeklyContent:
    """The review of a week as the ledger stands at `at`, with what was said beside it at the week's own moment.

    Nothing is kept of it here. Where an edition of it is kept, what this one says otherwise is named.
    """
    with reading_once():
        zone = organisation().zone
        earlier = newest_review(week.name)
        stands_at = review_moment(week, zone, at, earlier)
        read = read_week(week, stands_at)
        content = _costs_content(read, at, reviewed_teams(read))
        content = _with_sections(content, read, stands_at)
        content = merge_earlier_edition(content, earlier)
        content = replace(content, title=review_title(content), stands_at=stands_at.isoformat())
        return replace(content, earlier=earlier_edition(earlier, content, week.window(zone)))


def _costs_content(read: WeekRead, at: datetime, teams: tuple[ReviewedTeam, ...]) -> WeeklyContent:
    """Return what the week cost and why, by team and workload."""
    week = read.week
    return WeeklyContent(
        week=week.name,
        first_day=week.first_day.isoformat(),
        end_day=week.end_day.isoformat(),
        zone=read.ours.zone,
        currency=read.ours.currency,
        basis=str(Basis.EFFECTIVE),
        made_at=at.isoformat(),
        title="",
        sections=tuple(
            key for key in SECTIONS if key not in sections_left_out(read.ours.starting_point)
        ),
        **sums_of_teams(teams),
        trend_weeks=tuple(trend_week.name for trend_week in trend_weeks(week)),
        variance=week_variance(variance_of(read.compared)),
        workloads=reviewed_workloads(read),
        previous=_previous(read.previous),
    )


def _with_sections(content: WeeklyContent, read: WeekRead, at: datetime) -> WeeklyContent:
    """The sections that are on, as of `at`, budgets as of the end of the week; what is off stays empty."""
    week, zone, on = read.week, read.ours.zone, content.sections
    sums = [
        by_week[week.first_day]
        for by_week in read.costs.teams.values()
        if week.first_day in by_week
    ]
    cost_and_time = content.cost, sum(team_sums.held_milliseconds for team_sums in sums)
    return replace(
        content,
        commitments=commitments_week(week, zone, at) if COMMITMENTS in on else None,
        budgets=budgets_week(week, zone, cost_and_time) if BUDGETS in on else BudgetsWeek(),
        matters=matters_of(week, zone, at) if ALERTS in on else (),
        recommendations=recommendations_week(week, zone, at)
        if RECOMMENDATIONS in on
        else RecommendationsWeek(),
        data_quality=data_quality(content, read, sums, at) if DATA_QUALITY in on else None,
    )


def _previous(review: StoredReview | None) -> PreviousReview | None:
    if review is None:
        return None
    content = review.content
    return PreviousReview(
        review.week, review.edition, review.digest, content.cost.micros, content.waste_micros
    )
