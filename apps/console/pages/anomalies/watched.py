"""The figures that are watched: shown where nothing has changed, with from when on each can be judged."""

from typing import NamedTuple

from apps.accounts import queries as accounts
from apps.console.kit.cells import COUNT, PROSE
from apps.console.kit.request import Context
from apps.console.kit.table import Table
from apps.economics.watch import FEWEST_DAYS
from apps.review.queries.measures import UNIT_WORDS
from apps.review.queries.series import Series, every_series
from apps.tables.column import Column
from apps.workloads.queries import WorkloadFact, workloads


class WatchedFigure(NamedTuple):
    """A figure, and the workload and team that it is of."""

    series: Series
    workload: WorkloadFact
    team: str


WATCHED = Table[WatchedFigure](
    "watched",
    "Figures watched",
    (
        Column("workload", "Workload", lambda row: row.workload.name),
        Column("feature", "Feature", lambda row: row.series.feature),
        Column("measure", "Figure", lambda row: UNIT_WORDS[row.series.measure], PROSE),
        Column("team", "Team", lambda row: row.team),
        Column("days", "Days known", lambda row: len(row.series.days), COUNT),
        Column("state", "State", lambda row: state_of(row.series), PROSE),
    ),
    noun=("figure", "figures"),
)


def state_of(series: Series) -> str:
    """Return whether there are days enough to hold a figure against its own weeks before."""
    lacking = FEWEST_DAYS - len(series.days)
    return f"compared from {lacking} more days on" if lacking > 0 else "no change of its level"


def watched_figures(context: Context) -> list[WatchedFigure]:
    """Return every figure of services and training programmes that the viewer sees, as it stands today."""
    facts, seen_teams = workloads(), context.seen_teams
    teams = {team.id: team.name for team in accounts.teams()}
    rows = (
        WatchedFigure(series, facts[series.workload_id], teams[facts[series.workload_id].team_id])
        for series in every_series(context.calendar.today, context.organisation.zone)
    )
    return [row for row in rows if seen_teams is None or row.workload.team_id in seen_teams]
