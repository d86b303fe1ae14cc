"""The values that the templates of hardware of one's own get."""

from dataclasses import dataclass
from datetime import date, datetime, tzinfo

from apps.console.kit.frame import EmptyState, Frame, Link
from apps.console.pages.listed import Listed


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A plan as it stands, in micro-units; per GPU-hour None where no GPU lived this month.

    `measured` of `told` node-hours of the last day had their power measured.
    """

    id: int
    name: str
    href: str
    pool: str
    nodes: int
    purchase_micros: int
    written_off_micros: int
    left_micros: int
    loaded_micros: int | None
    marginal_micros: int | None
    measured: str
    standing: str
    starts_at: datetime
    ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class MonthRow:
    """A plan in a month, in micro-units; power and all of it as they are charged so far."""

    month: date
    depreciation_micros: int
    running_micros: int
    power_micros: int
    unused_micros: int
    loaded_micros: int
    unit_milliseconds: int
    loaded_per_gpu_hour: int | None
    marginal_per_gpu_hour: int | None


@dataclass(frozen=True, slots=True)
class HeldRow:
    """A monthly cost, or a tariff from a time of day, and when it holds."""

    name: str
    amount: str
    starts_at: datetime
    ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class OwnedPage:
    """The list of plans."""

    frame: Frame
    finding: str
    currency: str
    month: str
    plans: Listed[PlanRow] | None
    new: Link
    empty: EmptyState | None


@dataclass(frozen=True, slots=True)
class PlanPage:
    """One plan: its terms, what it came to by month, its monthly costs and tariffs."""

    frame: Frame
    finding: str
    currency: str
    zone: tzinfo
    row: PlanRow
    terms: tuple[tuple[str, str], ...]
    months: tuple[MonthRow, ...]
    costs: tuple[HeldRow, ...]
    tariffs: tuple[HeldRow, ...]
    changes: tuple[Link, ...]
