"""League of teams by how much of what they spend they waste, and who may know."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from django.conf import settings

from apps.accounts.queries import Viewer
from apps.ledger.queries.windows import Window
from apps.unit_economics.queries.team_work import TeamWork, by_team, work_of_teams


@dataclass(frozen=True, slots=True)
class LeaguePlace:
    """A team in the league: its place from 1, by the share of its cost that was wasted."""

    place: int
    work: TeamWork


@dataclass(frozen=True, slots=True)
class League:
    """The places a viewer may see, of how many teams, and what is usual among all of them.

    `is_published`: every place is here. Without it a team sees its own; the median tells no team's
    own share where there are fewer than three.
    """

    places: tuple[LeaguePlace, ...]
    teams: int
    median_ratio: float | None
    is_published: bool


FEWEST_TEAMS = 3


def league_of(
    window: Window, viewer: Viewer, at: datetime, work: Sequence[TeamWork] | None = None
) -> League:
    """The teams whose waste is known, the most wasteful share first.

    `work` is everybody's, where the caller has read it already.
    """
    read = work_of_teams(window, None, at) if work is None else work
    everybody = [team_work for team_work in by_team(read) if team_work.wasted_ratio is not None]
    ranked = sorted(
        everybody, key=lambda team_work: (-(team_work.wasted_ratio or 0), team_work.team_id)
    )
    places = tuple(
        LeaguePlace(number, team_work) for number, team_work in enumerate(ranked, start=1)
    )
    is_published = viewer.sees_everything or settings.PUBLISH_WASTE
    return League(
        places=tuple(
            place for place in places if is_published or viewer.sees_team(place.work.team_id)
        ),
        teams=len(places),
        median_ratio=_median_ratio(ranked, 1 if is_published else FEWEST_TEAMS),
        is_published=is_published,
    )


def _median_ratio(ranked: Sequence[TeamWork], fewest: int) -> float | None:
    ratios = [work.wasted_ratio for work in ranked if work.wasted_ratio is not None]
    return median(ratios) if len(ratios) >= fewest else None
