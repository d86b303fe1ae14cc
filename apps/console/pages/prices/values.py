"""The values that the templates of prices get."""

from dataclasses import dataclass
from datetime import date, datetime, tzinfo

from apps.console.pages.frame import EmptyState, Filter, Frame, Link


@dataclass(frozen=True, slots=True)
class UnpricedRow:
    """A pool with GPU time of which nobody said the price; `price_href` says it."""

    pool: str
    gpu_model: str
    purchase_option: str
    milliseconds: int
    since: date
    price_href: str


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


@dataclass(frozen=True, slots=True)
class RateRow:
    """A rate as it was entered. `standing` is in force, ended or to come.

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


@dataclass(frozen=True, slots=True)
class PricesPage:
    """Everything the list of prices reads; `more` counts rates that only the CSV has."""

    frame: Frame
    finding: str
    currency: str
    zone: tzinfo
    filters: tuple[Filter, ...] = ()
    problems: tuple[str, ...] = ()
    unpriced: tuple[UnpricedRow, ...] = ()
    looked_back: str = ""
    paid: tuple[PaidRow, ...] = ()
    rates: tuple[RateRow, ...] = ()
    more: int = 0
    csv_href: str = ""
    new: Link | None = None
    empty: EmptyState | None = None


@dataclass(frozen=True, slots=True)
class RatePage:
    """One rate, the pools that it can price, and the history of the price of the same thing."""

    frame: Frame
    finding: str
    zone: tzinfo
    rate: RateRow
    pools: tuple[Link, ...]
    history: tuple[RateRow, ...]
    end: Link | None
    entered_at: datetime
