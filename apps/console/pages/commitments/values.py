"""The values that the templates of commitments get."""

from dataclasses import dataclass
from datetime import datetime, tzinfo
from fractions import Fraction

from apps.console.pages.frame import EmptyState, Filter, Frame, Link
from apps.console.pages.listed import Listed
from apps.console.pages.overview.values import DailyChart, Figure


@dataclass(frozen=True, slots=True)
class CommitmentRow:
    """A commitment in a month; ratios and micro-units are None where undefined or not known."""

    name: str
    href: str
    kind: str
    rank: int
    covers: str
    bought: str
    owner: str
    ends_at: datetime
    standing: str
    ends_soon: int | None
    coverage: Fraction | None
    utilisation: Fraction | None
    savings_rate: Fraction | None
    break_even: Fraction | None
    on_demand_micros: int | None
    cost_micros: int | None
    unused_micros: int | None

    @property
    def is_below(self) -> bool:
        """Whether it is used less than it takes to cost what on-demand would."""
        if self.utilisation is None or self.break_even is None:
            return False
        return self.utilisation < self.break_even


@dataclass(frozen=True, slots=True)
class EndingRow:
    """A commitment that ends soon."""

    link: Link
    ends_at: datetime
    within_days: int


@dataclass(frozen=True, slots=True)
class CommitmentsPage:
    """All commitments of a month."""

    frame: Frame
    finding: str
    period: str
    currency: str
    zone: tzinfo
    filters: tuple[Filter, ...]
    problems: tuple[str, ...]
    figures: tuple[Figure, ...]
    chart: DailyChart | None
    commitments: Listed[CommitmentRow]
    ending: tuple[EndingRow, ...]
    nameless_micros: int | None
    sort: str
    csv_href: str
    new: Link | None
    empty: EmptyState | None


@dataclass(frozen=True, slots=True)
class TeamRow:
    """What a commitment covered of one team in one pool."""

    pool: str
    pool_href: str
    team: str
    unit_milliseconds: int
    on_demand_micros: int | None
    cost_micros: int | None


@dataclass(frozen=True, slots=True)
class UnusedRow:
    """What nobody used on a day, and who carries it."""

    day: str
    owner: str
    hours: int
    micros: int | None


@dataclass(frozen=True, slots=True)
class MonthRow:
    """One month of a commitment."""

    month: str
    href: str
    row: CommitmentRow


@dataclass(frozen=True, slots=True)
class TermFacts:
    """The terms in words; amounts as they were agreed, in the commitment's own currency."""

    kind: str
    covers: str
    bought: str
    prices: tuple[tuple[str, str], ...]
    upfront: str
    hourly: str
    starts_at: datetime
    ends_at: datetime
    ended_at: datetime | None
    owner: str
    external_id: str
    source: str
    paid: str
    left: str
    left_time: str


@dataclass(frozen=True, slots=True)
class CommitmentPage:
    """One commitment: its terms, its months, whom it covered in one, and what nobody used."""

    frame: Frame
    finding: str
    period: str
    currency: str
    zone: tzinfo
    filters: tuple[Filter, ...]
    problems: tuple[str, ...]
    here: str
    ends_soon: int | None
    terms: TermFacts
    month: CommitmentRow | None
    months: tuple[MonthRow, ...]
    teams: tuple[TeamRow, ...]
    unused: tuple[UnusedRow, ...]
    teams_href: str
    unused_href: str
    end: Link | None
