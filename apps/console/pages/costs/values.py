"""The values that the templates of Costs get."""

from dataclasses import dataclass
from datetime import datetime, tzinfo

from apps.console.kit.chart import DailyChart, Figure
from apps.console.kit.frame import EmptyState, Filter, Frame, Link, Under
from apps.console.kit.table import ColumnHeading
from apps.console.pages.meters import MeterTable
from apps.show.amounts import Ratio
from apps.show.strip import Strip
from apps.show.words import StateWords, Word


@dataclass(frozen=True, slots=True)
class CostRow:
    """What something cost and bought; unknown amounts are None, never 0."""

    name: str
    cost_micros: int | None
    strip: Strip | None
    worked_ratio: Ratio | None
    not_worked_micros: int | None
    gpu_milliseconds: int
    gpu_hour_micros: int | None
    is_partly_unpriced: bool
    href: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class CostTable:
    """A table of costs with its total; `order` of its columns is that of the address."""

    id: str
    title: str
    note: str
    columns: tuple[ColumnHeading, ...]
    rows: tuple[CostRow, ...]
    total: CostRow
    csv_href: str
    states: tuple[StateWords, ...]


@dataclass(frozen=True, slots=True)
class LineCells:
    """One line in a table, with the page of everything behind it."""

    href: str
    hour: datetime
    node: str
    state: StateWords
    flags: tuple[Word, ...]
    status: str
    micros: int | None
    gpu_milliseconds: int


@dataclass(frozen=True, slots=True)
class LinesTotal:
    """A row under the lines; the amount is None where none is known."""

    text: str
    micros: int | None
    gpu_milliseconds: int


@dataclass(frozen=True, slots=True)
class LineTable:
    """The newest lines in the order asked for; `is_cut` where there are more than fit.

    `totals` is of the lines shown and, where they are cut, of the whole period too.
    """

    columns: tuple[ColumnHeading, ...]
    rows: tuple[LineCells, ...]
    totals: tuple[LinesTotal, ...]
    csv_href: str
    is_cut: bool
    zone: tzinfo


@dataclass(frozen=True, slots=True)
class Detail:
    """A term and what is known of it; `note` is the quiet part after it."""

    term: str
    text: str
    note: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class CostsPage:
    """Everything that a page of the way down reads. With `empty` set, only it is shown."""

    frame: Frame
    finding: str
    currency: str
    filters: tuple[Filter, ...]
    action: str
    trail: tuple[Link, ...]
    sort: str = ""
    state: str = ""
    problems: tuple[str, ...] = ()
    under: Under | None = None
    figures: tuple[Figure, ...] = ()
    chart: DailyChart | None = None
    tables: tuple[CostTable, ...] = ()
    about: tuple[Detail, ...] = ()
    lines: LineTable | None = None
    meters: MeterTable | None = None
    empty: EmptyState | None = None
    export_href: str = ""
