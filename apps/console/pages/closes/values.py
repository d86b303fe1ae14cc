"""The values that the templates of months and statements get."""

from dataclasses import dataclass
from datetime import date, datetime, tzinfo

from apps.console.kit.frame import Frame
from apps.ledger.queries.closes.checklist import Item
from apps.ledger.queries.closes.months import CloseFact
from apps.ledger.queries.closes.statements import TeamStatement


@dataclass(frozen=True, slots=True)
class MonthRow:
    """A month of the list: closed (by whom, when) or open, and its late-arriving hours."""

    month: date
    href: str
    standing: str
    closed_at: datetime | None
    closed_by: str
    effective_micros: int | None
    late_hours: int


@dataclass(frozen=True, slots=True)
class MonthsPage:
    """The months with cost, the newest first."""

    frame: Frame
    finding: str
    zone: tzinfo
    currency: str
    rows: tuple[MonthRow, ...]


@dataclass(frozen=True, slots=True)
class StatementRow:
    """A team's part of a close."""

    said: TeamStatement
    href: str


@dataclass(frozen=True, slots=True)
class MonthPage:
    """One month: what stands open, or how it was closed and what each team was told."""

    frame: Frame
    finding: str
    zone: tzinfo
    currency: str
    month: date
    key: str
    items: tuple[Item, ...]
    versions: tuple[CloseFact, ...]
    statements: tuple[StatementRow, ...]
    is_closed: bool
    is_over: bool
    may_close: bool
    late_hours: int
    problem: str = ""

    @property
    def is_ready(self) -> bool:
        """Whether nothing is left that must be 0."""
        return not any(item.is_blocking and item.count for item in self.items)


@dataclass(frozen=True, slots=True)
class StatementLineRow:
    """A line of a statement in words."""

    what: str
    workload: str
    pool: str
    state: str
    gpu_milliseconds: int | None
    list_micros: int | None
    effective_micros: int | None
    billed_micros: int | None


@dataclass(frozen=True, slots=True)
class StatementPage:
    """What one team was told of one month, to read and to print."""

    frame: Frame
    finding: str
    zone: tzinfo
    currency: str
    team: str
    cost_centre: str
    close: CloseFact
    whole: TeamStatement
    lines: tuple[StatementLineRow, ...]
    team_id: int
