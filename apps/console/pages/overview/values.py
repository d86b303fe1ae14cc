"""The one value that the Overview template gets, and what it is made of."""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.console.pages.frame import EmptyState, Filter, Frame, Link, Under
from apps.show.amounts import Ratio
from apps.show.charts import MOST_END_LABELS
from apps.show.sparkline import Sparkline
from apps.show.strip import Strip
from apps.show.words import StateWords


@dataclass(frozen=True, slots=True)
class Figure:
    """One of at most four key figures.

    `number` is text ready to show (`$18.2k`, `69 %`); `change` its difference from the span before
    (`+8 %`) and `note` the words after it. `tone` names the state whose colour the sparkline has.
    `is_unknown` hatches the number.
    """

    title: str
    number: str
    note: str
    status: str
    change: str = ""
    sparkline: Sparkline | None = None
    tone: str = "active"
    is_unknown: bool = False
    href: str = ""


@dataclass(frozen=True, slots=True)
class DayRow:
    """One day of the table behind the chart; `micros` is in the order of the chart's states."""

    label: str
    micros: tuple[int | None, ...]
    total_micros: int | None
    is_provisional: bool = False
    href: str = ""


@dataclass(frozen=True, slots=True)
class DailyChart:
    """Daily cost by state: the figure, what it shows in one sentence, and the table behind it.

    `title` is that sentence, the text alternative too; a day's `href` narrows to it.
    """

    title: str
    unit: str
    figure: Mapping[str, object]
    states: tuple[StateWords, ...]
    rows: tuple[DayRow, ...]
    total: DayRow
    csv_href: str = ""
    has_provisional: bool = False

    @property
    def is_keyed(self) -> bool:
        """Whether there are too many series to name each beside its last bar."""
        return len(self.states) > MOST_END_LABELS


@dataclass(frozen=True, slots=True)
class Column:
    """A heading that sorts: `order` is `ascending`, `descending` or empty."""

    key: str
    text: str
    href: str
    order: str = ""
    is_number: bool = True


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

    columns: tuple[Column, ...]
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
