"""Everything that a week's review of teams and workloads is made of, read once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from django.conf import settings

from apps.accounts.queries import OrganisationFact, organisation, teams
from apps.ledger.queries.cube import CostVariance, CubeQuestion
from apps.review.queries.weekly.content import WeekVariance
from apps.review.queries.weekly.diverged import DivergedCosts, diverged_costs
from apps.review.queries.weekly.output import Outputs, outputs
from apps.review.queries.weekly.stored_reviews import StoredReview, newest_review
from apps.review.queries.weekly.week_costs import WeekCosts, settled_question, week_costs
from apps.review.queries.weekly.weeks import TREND_WEEKS, ReviewWeek
from apps.unit_economics.queries.run_workloads import workloads_of_runs
from apps.workloads.queries.returns import ScoreReading, owner_readings, run_readings

ScorePairs: TypeAlias = dict[str, tuple[ScoreReading | None, ScoreReading | None]]
"""By name the newest reading, and the one before this week's that it is held against."""


@dataclass(frozen=True, slots=True)
class WeekRead:
    """`previous` is the frozen review of the week before; verdicts are of `verdict_weeks`."""

    week: ReviewWeek
    ours: OrganisationFact
    team_names: Mapping[int, str]
    costs: WeekCosts
    outputs: Outputs
    scores: Mapping[int, ScorePairs]
    diverged: DivergedCosts
    previous: StoredReview | None
    verdict_weeks: int

    @property
    def compared(self) -> CubeQuestion:
        """The week's settled costs against those of the week before."""
        zone = self.ours.zone
        against = self.week.back(1).window(zone)
        return replace(settled_question(self.week.window(zone)), against=against)


def read_week(week: ReviewWeek, stands_at: datetime | None = None) -> WeekRead:
    """As the ledger stands, held against what was frozen of the week before, valued and scored as stated, until `stands_at` where that is given."""
    ours, weeks = organisation(), settings.REVIEW_VERDICT_WEEKS
    workload_of = workloads_of_runs()
    return WeekRead(
        week=week,
        ours=ours,
        team_names={team.id: team.name for team in teams()},
        costs=week_costs(week, ours.zone, weeks),
        outputs=outputs(week, ours.zone, workload_of, stands_at),
        scores=_scores(week, ours.zone, workload_of, stands_at),
        diverged=diverged_costs(week, ours.zone, weeks, workload_of),
        previous=newest_review(week.back(1).name, stands_at),
        verdict_weeks=weeks,
    )


def _scores(
    week: ReviewWeek, zone: str, workload_of: Mapping[int, int], known_at: datetime | None
) -> dict[int, ScorePairs]:
    """By workload, of each name the newest reading of eight weeks, and the newest of the weeks before this one.

    Of owners' words those that were stated until `known_at`.
    """
    longest, own_window = week.window(zone, TREND_WEEKS), week.window(zone)
    begins = own_window.starts_at
    by_workload = owner_readings(longest.starts_at, begins, own_window.ends_at, zone, known_at)
    for run_id, readings in run_readings(longest.starts_at, begins, own_window.ends_at).items():
        if run_id in workload_of:
            by_workload.setdefault(workload_of[run_id], []).extend(readings)
    pairs_by_workload: dict[int, ScorePairs] = {}
    for workload_id, readings in by_workload.items():
        pairs = pairs_by_workload.setdefault(workload_id, {})
        for reading in sorted(readings, key=lambda score: score.at):
            newest, before = pairs.get(reading.name, (None, None))
            is_new = reading.at >= begins
            if newest is not None and newest.at < begins and is_new:
                before = newest
            pairs[reading.name] = (reading, before)
    return pairs_by_workload


def week_variance(variance: CostVariance | None) -> WeekVariance:
    """As it is frozen."""
    if variance is None:
        return WeekVariance(None, None)
    return WeekVariance(
        variance.before_micros,
        variance.after_micros,
        dict(variance.causes),
        variance.unpriced_milliseconds,
    )
