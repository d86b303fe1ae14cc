"""The values that the template of teams' work gets."""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.console.kit.chart import Figure
from apps.console.kit.frame import EmptyState, Filter, Frame
from apps.console.pages.listed import Listed
from apps.console.pages.meters import MeterTable
from apps.ledger.queries.team_work import TeamWork
from apps.ledger.queries.time_to_work import Waits


@dataclass(frozen=True, slots=True)
class WorkRow:
    """A workload of a team, with the parts of its waste.

    `unit` is what its units cost, in words, empty where it has none.
    """

    workload: str
    href: str
    team: str
    work: TeamWork
    change: str
    unit: str
    failed_micros: int | None
    unasked_micros: int | None
    idle_micros: int | None
    not_held_micros: int | None


@dataclass(frozen=True, slots=True)
class LeagueRow:
    """A team's rank by the share of its cost that was waste, and the parts of that."""

    place: int
    team: str
    work: TeamWork
    failed_micros: int | None
    unasked_micros: int | None
    idle_micros: int | None
    not_held_micros: int | None


@dataclass(frozen=True, slots=True)
class WaitRow:
    """How long a workload's work waited from its entry in the queue until it did something."""

    workload: str
    team: str
    waits: Waits
    told_by: str
    median: str
    ninth: str


@dataclass(frozen=True, slots=True)
class TeamWorkPage:
    """Teams and their work in a span."""

    frame: Frame
    finding: str
    under: str
    currency: str
    filters: tuple[Filter, ...]
    problems: tuple[str, ...]
    sort: str
    figures: tuple[Figure, ...]
    chart_title: str
    figure: Mapping[str, object] | None
    league: tuple[LeagueRow, ...]
    league_words: str
    work: Listed[WorkRow]
    waits: tuple[WaitRow, ...]
    csv_href: str
    waste_href: str
    waits_href: str
    empty: EmptyState | None
    meters: MeterTable | None = None
