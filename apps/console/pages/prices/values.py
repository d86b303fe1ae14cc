"""The values that the templates of prices get."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from decimal import Decimal

from apps.console.kit.frame import EmptyState, Filter, Frame, Link
from apps.console.pages.listed import Listed


@dataclass(frozen=True, slots=True)
class UnpricedRow:
    """A pool with GPU time of which nobody said the price; `price_href` says it."""

    pool: str
    gpu_model: str
    purchase_option: str
    milliseconds: int
    since: date
    price_href: str
    pool_href: str = ""
    costs_href: str = ""


@dataclass(frozen=True, slots=True)
class PaidRow:
    """What a pool pays now: the amount as quoted and whose price it is; empty: none.

    `exact` is the same in figures alone.
    """

    pool: str
    gpu_model: str
    purchase_option: str
    paid: str
    per: str
    which: str
    listed: str
    starts_at: datetime | None
    source: str
    href: str
    price_href: str
    exact: str = ""
    pool_href: str = ""
    amount: Decimal | None = None


@dataclass(frozen=True, slots=True)
class RateRow:
    """A rate as it was entered. `standing` is in force, ended, to come, waits or refused.

    `exact` is the amount in figures alone.
    """

    id: int
    what: str
    kind: str
    amount: str
    per: str
    starts_at: datetime | None
    ends_at: datetime | None
    source: str
    source_date: date | None
    standing: str
    href: str
    exact: str
    number: Decimal
    currency: str
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """A price that waits for finance: why, who entered it (empty: no person), what lies beside."""

    rate: RateRow
    why: str
    entered_at: datetime
    entered_by: str
    neighbours: tuple[RateRow, ...]
    href: str


@dataclass(frozen=True, slots=True)
class DecidePage:
    """One price that waits, and what accepting it would move."""

    frame: Frame
    finding: str
    zone: tzinfo
    row: WaitingRow
    waits: bool
    problem: str
    effects: tuple[str, ...]
    may_decide: bool
    is_own: bool


@dataclass(frozen=True, slots=True)
class PriceChart:
    """How a price moved; its table is the history beside it."""

    title: str
    unit: str
    figure: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class PricesPage:
    """Everything the list of prices reads; `show` says which rates are shown.

    `approval` is by how many per cent a price may move without a second person; None: by any.
    """

    frame: Frame
    finding: str
    currency: str
    zone: tzinfo
    filters: tuple[Filter, ...] = ()
    problems: tuple[str, ...] = ()
    unpriced: tuple[UnpricedRow, ...] = ()
    looked_back: str = ""
    paid: Listed[PaidRow] | None = None
    rates: Listed[RateRow] | None = None
    show: str = ""
    sort: str = ""
    csv_href: str = ""
    new: Link | None = None
    waiting: tuple[WaitingRow, ...] = ()
    approval: int | None = None
    may_decide: bool = False
    empty: EmptyState | None = None


@dataclass(frozen=True, slots=True)
class RatePage:
    """One rate, the pools that it can price, and the history of the price of the same thing."""

    frame: Frame
    finding: str
    zone: tzinfo
    rate: RateRow
    pools: tuple[Link, ...]
    history: Listed[RateRow]
    csv_href: str
    end: Link | None
    entered_at: datetime
    entered_by: str
    chart: PriceChart | None = None
    doubt: str = ""
    decide: Link | None = None
    decision: str = ""
    decided_at: datetime | None = None
    decided_by: str = ""
    tiers: str = ""
