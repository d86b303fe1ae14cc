"""A lead's review has their own teams and what these sum to; nothing of anybody else's."""

from apps.review.queries.weekly.content import BudgetsWeek, CommitmentsWeek, ReviewedBudget
from apps.review.queries.weekly.content_to_do import ReviewedMatter
from apps.review.queries.weekly.narrowed import narrowed
from tests.apps.review.reviews import content, team, workload


def budget(team_ids: tuple[int, ...]) -> ReviewedBudget:
    return ReviewedBudget(
        1, "GPUs", "money", team_ids, "2026-07", 100, 50, 90, 10, None, None, "forecast"
    )


def test_a_lead_sees_the_totals_of_their_own_teams_alone() -> None:
    whole = content(
        workload(1, 1),
        workload(2, 2),
        teams=(team(1), team(2), team(3)),
        commitments=CommitmentsWeek(),
        budgets=BudgetsWeek(
            tuple(map(budget, ((), (1,), (2,), (1, 2), (1, 3)))), week_budget_micros=7
        ),
        matters=tuple(
            ReviewedMatter("alert", "x", "urgent", team_id, "2026-07-20", "/alerts/1")
            for team_id in (None, 1, 2)
        ),
    )
    seen = narrowed(whole, frozenset({1, 3}))
    assert [each.workload_id for each in seen.workloads] == [1]
    assert [each.team_id for each in seen.teams] == [1, 3]
    assert seen.cost.micros == 20_000_000
    assert seen.variance.causes == {"price": 1_000_000, "volume": 3_000_000}
    assert seen.variance.after_micros == seen.variance.before_micros + 4_000_000
    assert seen.idle.micros == {"unallocated": 1_000_000}
    assert seen.commitments is None
    assert [each.team_ids for each in seen.budgets.budgets] == [(1,), (1, 3)]
    assert seen.budgets.week_budget_micros is None
    assert [each.team_id for each in seen.matters] == [1]


def test_who_has_no_team_sees_nothing_and_no_zero() -> None:
    seen = narrowed(content(workload(1, 1), teams=(team(1),)), frozenset())
    assert (seen.workloads, seen.teams, seen.cost.micros) == ((), (), None)
    assert (seen.variance.before_micros, seen.variance.causes) == (None, {})
    assert seen.title == "Nothing is known yet of what week 2026-W30 cost"
