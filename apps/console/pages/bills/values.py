"""The values that the templates of bills get."""

from dataclasses import dataclass
from datetime import datetime, tzinfo

from apps.console.kit.frame import Frame
from apps.console.pages.listed import Listed


@dataclass(frozen=True, slots=True)
class BillRow:
    """A bill in the list; amounts are micro-units of its currency, None where no row says them."""

    issuer: str
    href: str
    account: str
    starts_at: datetime
    period: str
    currency: str
    rows: int
    billed: int | None
    effective: int | None
    contracted: int | None
    listed: int | None
    state: str
    note: str


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A delivery in the list."""

    name: str
    started_at: datetime
    state: str
    rows: int
    imported: int
    unchanged: int
    replaced: int
    rejected: int
    href: str


@dataclass(frozen=True, slots=True)
class BillsPage:
    """Every bill, the latest deliveries, and the form for another."""

    frame: Frame
    finding: str
    zone: tzinfo
    bills: Listed[BillRow]
    deliveries: Listed[DeliveryRow]
    largest: str


@dataclass(frozen=True, slots=True)
class Total:
    """What the rows of a file sum to in one currency, exactly, by basis."""

    currency: str
    amounts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class DeliveryPage:
    """One delivery, in whatever state it is."""

    frame: Frame
    finding: str
    zone: tzinfo
    id: int
    name: str
    layout: str
    by: str
    state: str
    size: str
    is_addition: bool
    started_at: datetime
    ended_at: datetime | None
    undone_at: datetime | None
    rows: int
    imported: int
    unchanged: int
    replaced: int
    rejected: int
    flags: tuple[str, ...]
    failure: str
    totals: tuple[Total, ...]
    bills: tuple[BillRow, ...]
    first_rejected: tuple[tuple[str, ...], ...]
    may_be_accepted: bool
    accepted_at: datetime | None
    accepted_by: str
    accepted_reason: str

    @property
    def is_busy(self) -> bool:
        """Whether the page will say more in a moment."""
        return self.state in {"waiting", "running"}
