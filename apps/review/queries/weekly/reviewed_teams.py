"""Teams in a week's review; they sum to the organisation."""

from apps.ledger.queries.cube import variances_by_team
from apps.review.queries.weekly.content import ReviewedTeam, WeekCost
from apps.review.queries.weekly.week_costs import idle_of, observed_waste_micros
from apps.review.queries.weekly.week_reading import WeekRead, week_variance


def reviewed_teams(read: WeekRead) -> tuple[ReviewedTeam, ...]:
    """Those with any line in the eight weeks, settled or provisional, the dearest first."""
    variances = variances_by_team(read.compared)
    previous = () if read.previous is None else read.previous.content.teams
    frozen = {team.team_id: team for team in previous}
    reviewed = []
    for team_id in {*read.costs.teams, *read.costs.team_costs}:
        if team_id is None:
            continue
        sums = read.costs.teams.get(team_id, {})
        before, waste = frozen.get(team_id), read.costs.team_waste.get(team_id)
        monday = read.week.first_day
        reviewed.append(
            ReviewedTeam(
                team_id=team_id,
                name=read.team_names[team_id],
                cost=read.costs.team_costs.get(team_id, WeekCost(read.costs.cost_of(sums, monday))),
                trend=read.costs.trend(sums),
                idle=idle_of(waste, read.costs.team_waste_ms.get(team_id, {})),
                variance=week_variance(variances.get(team_id)),
                waste_micros=observed_waste_micros(waste, [sums[monday]] if monday in sums else []),
                diverged_micros=read.diverged.week_by_team.get(team_id),
                no_workload_micros=read.costs.no_workload.get(team_id, 0),
                frozen_before_micros=None if before is None else before.cost.micros,
                waste_before_micros=None if before is None else before.waste_micros,
            )
        )
    return tuple(sorted(reviewed, key=lambda team: (-(team.cost.micros or 0), team.team_id)))
