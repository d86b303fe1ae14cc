"""The one value that the Overview template gets, and what it is made of."""

from dataclasses import dataclass

from apps.console.kit.chart import DailyChart, Figure
from apps.console.kit.frame import EmptyState, Filter, Frame, Link, Under
from apps.console.kit.table import ColumnHeading
from apps.show.amounts import Ratio
from apps.show.strip import Strip
from apps.show.words import StateWords


@dataclass(frozen=True, slots=True)
class TeamRow:
    """What one team's GPU time cost and bought. Unknown amounts are None, never 0.

    `now_micros` and `before_micros` are the spans of `change`: whole days that are over.
    """

    name: str
    cost_micros: int | None
    now_micros: int | None
    before_micros: int | None
    strip: Strip | None
    worked_ratio: Ratio | None
    waste_micros: int | None
    gpu_milliseconds: int
    gpu_hour_micros: int | None
    is_partly_unpriced: bool
    href: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class TeamTable:
    """Spend by team. `columns` holds team, cost, change, bought, waste, gpu_hours, unit_cost.

    `compared` says which spans the change is between, or why there is none.
    """

    columns: tuple[ColumnHeading, ...]
    rows: tuple[TeamRow, ...]
    total: TeamRow
    csv_href: str
    states: tuple[StateWords, ...]
    compared: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something unknown, said aloud: what it is, how much of it, and what to do.

    `kind` is unpriced, unowned, unobserved, unclaimed, contested or incidents; `href` leads to its rows.
    """

    kind: str
    amount: str
    sentence: str
    link: Link | None = None
    href: str = ""


@dataclass(frozen=True, slots=True)
class OverviewPage:
    """Everything the Overview template reads. With `empty` set, only the frame and it are shown.

    `problems` say what of the address was not understood; `sort` is kept when a filter changes.
    """

    frame: Frame
    finding: str
    currency: str
    filters: tuple[Filter, ...]
    sort: str = ""
    problems: tuple[str, ...] = ()
    under: Under | None = None
    figures: tuple[Figure, ...] = ()
    chart: DailyChart | None = None
    teams: TeamTable | None = None
    notices: tuple[Notice, ...] = ()
    empty: EmptyState | None = None
