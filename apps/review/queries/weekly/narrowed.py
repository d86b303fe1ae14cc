"""A weekly review as a viewer may see it: a lead's has their own teams, and their totals."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypedDict

from apps.accounts.queries import Viewer
from apps.economics.money import sum_of_known, sum_or_unknown
from apps.ledger.queries.kinds import Status
from apps.review.queries.weekly.content import (
    BudgetsWeek,
    IdleNumbers,
    ReviewedTeam,
    WeekCost,
    WeeklyContent,
    WeekVariance,
)
from apps.review.queries.weekly.content_to_do import RecommendationsWeek
from apps.review.queries.weekly.headline import review_title
from apps.review.queries.weekly.restated import BUDGET
from apps.review.queries.weekly.stored_reviews import StoredReview, stored_review
from apps.review.queries.weekly.weeks import TREND_WEEKS

SURENESS = tuple(Status.values)


def review_for(viewer: Viewer, week: str, *, edition: int | None = None) -> StoredReview:
    """A week's review with what this viewer may see; refuses WeeklyReview.DoesNotExist.

    The digest stays that of the whole.
    """
    review = stored_review(week, edition=edition, team_ids=viewer.seen_teams)
    return review if viewer.seen_teams is None else review_of_teams(review, viewer.seen_teams)


def review_of_teams(review: StoredReview, team_ids: frozenset[int]) -> StoredReview:
    """Return a review with what is of these teams alone; the digest stays that of the whole."""
    return replace(review, content=narrowed(review.content, team_ids))


def narrowed(content: WeeklyContent, team_ids: frozenset[int]) -> WeeklyContent:
    """The review of these teams alone: their workloads and what they sum to.

    Commitments, the organisation's forecast and how good all of the data is are nobody's in
    particular, and left out.
    """
    teams = tuple(team for team in content.teams if team.team_id in team_ids)
    previous = content.previous
    if previous is not None:
        previous = replace(
            previous,
            cost_micros=sum_of_known(team.frozen_before_micros for team in teams),
            waste_micros=sum_of_known(team.waste_before_micros for team in teams),
        )
    budgets = tuple(
        budget
        for budget in content.budgets.budgets
        # A budget of a team is of all below it too: who leads one of these alone does not see the whole.
        if budget.team_ids and team_ids.issuperset(budget.team_ids)
    )
    earlier = content.earlier
    if earlier is not None:
        named = {budget.name for budget in budgets}
        own_figures = tuple(
            figure
            for figure in earlier.restated
            if figure.team_id in team_ids or (figure.part == BUDGET and figure.name in named)
        )
        earlier = replace(earlier, restated=own_figures, posted_micros={})
    narrower = replace(
        content,
        **sums_of_teams(teams),
        variance=summed_variance([team.variance for team in teams]),
        workloads=tuple(workload for workload in content.workloads if workload.team_id in team_ids),
        commitments=None,
        budgets=BudgetsWeek(budgets=budgets),
        matters=tuple(matter for matter in content.matters if matter.team_id in team_ids),
        recommendations=RecommendationsWeek(
            recommendations=tuple(
                recommendation
                for recommendation in content.recommendations.recommendations
                if recommendation.team_id in team_ids
            ),
            proven=tuple(
                saving for saving in content.recommendations.proven if saving.team_id in team_ids
            ),
            is_known=content.recommendations.is_known,
        ),
        data_quality=None,
        previous=previous,
        earlier=earlier,
    )
    return replace(narrower, title=review_title(narrower))


class TeamSums(TypedDict):
    """The fields of a WeeklyContent that teams sum to, with these teams."""

    teams: tuple[ReviewedTeam, ...]
    cost: WeekCost
    trend: tuple[int | None, ...]
    waste_micros: int | None
    diverged_micros: int | None
    idle: IdleNumbers
    no_workload_micros: int | None


def sums_of_teams(teams: tuple[ReviewedTeam, ...]) -> TeamSums:
    """Return what these teams come to, be they all of them or a viewer's."""
    return TeamSums(
        teams=teams,
        cost=_summed_cost(team.cost for team in teams),
        trend=_summed_trend(teams),
        waste_micros=sum_of_known(team.waste_micros for team in teams),
        diverged_micros=sum_of_known(team.diverged_micros for team in teams),
        idle=_summed_idle(team.idle for team in teams),
        no_workload_micros=sum_of_known(team.no_workload_micros for team in teams),
    )


def _summed_cost(costs: Iterable[WeekCost]) -> WeekCost:
    """All of them together: as sure as the least sure, what is known of any is."""
    listed = [cost for cost in costs if cost != WeekCost()]
    statuses = [cost.status for cost in listed if cost.status]
    return WeekCost(
        micros=sum_of_known(cost.micros for cost in listed),
        status=min(statuses, key=SURENESS.index, default=""),
        unpriced_ms=sum(cost.unpriced_ms for cost in listed),
        provisional_micros=sum_of_known(cost.provisional_micros for cost in listed),
        provisional_ms=sum(cost.provisional_ms for cost in listed),
        time_ms=sum(cost.time_ms for cost in listed),
    )


def _summed_trend(teams: Iterable[ReviewedTeam]) -> tuple[int | None, ...]:
    """Week by week; without any team none is known."""
    summed = map(sum_of_known, zip(*(team.trend for team in teams), strict=True))
    return tuple(summed) or (None,) * TREND_WEEKS


def summed_variance(parts: list[WeekVariance]) -> WeekVariance:
    """Cause by cause; they still sum to the change exactly. Unknown where a part is."""
    before = sum_or_unknown(part.before_micros for part in parts) if parts else None
    after = sum_or_unknown(part.after_micros for part in parts) if parts else None
    is_known = before is not None and after is not None
    return WeekVariance(
        before_micros=before,
        after_micros=after,
        causes=_summed(part.causes for part in parts) if is_known else {},
        unpriced_ms=(
            sum(part.unpriced_ms[0] for part in parts),
            sum(part.unpriced_ms[1] for part in parts),
        ),
    )


def _summed_idle(numbers: Iterable[IdleNumbers]) -> IdleNumbers:
    """Part by part."""
    listed = list(numbers)
    return IdleNumbers(
        micros=_summed(number.micros for number in listed),
        gpu_ms=_summed(number.gpu_ms for number in listed),
    )


def _summed(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for part in parts:
        for name, value in part.items():
            sums[name] = sums.get(name, 0) + value
    return sums
