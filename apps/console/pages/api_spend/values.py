"""The values that the page of API spend gets."""

from dataclasses import dataclass
from datetime import date, datetime, tzinfo

from apps.console.pages.frame import EmptyState, Filter, Frame, Link
from apps.console.pages.listed import Listed
from apps.console.pages.overview.values import DailyChart, Figure


@dataclass(frozen=True, slots=True)
class ModelRow:
    """Calls of a model in the month; amounts are None where not known.

    `end` says when its vendor shuts it off, and `is_ending` that this is soon or past.
    """

    vendor: str
    model: str
    requests: int
    rate_limited: int
    server_errors: int
    unpriced: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_micros: int | None
    list_micros: int | None
    million_micros: int | None
    end: str = ""
    end_source: str = ""
    is_ending: bool = False


@dataclass(frozen=True, slots=True)
class OwnerRow:
    """What a team's calls of a feature cost."""

    team: str
    workload: str
    feature: str
    requests: int
    tokens: int
    cost_micros: int | None
    unpriced: int


@dataclass(frozen=True, slots=True)
class UnpricedRow:
    """Calls that have no price, and why."""

    vendor: str
    model: str
    tier: str
    requests: int
    tokens: int
    reason: str


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A vendor's day beside its own report; None where not known."""

    vendor: str
    day: date
    our_micros: int | None
    their_micros: int | None
    difference_micros: int | None
    unpriced: int


@dataclass(frozen=True, slots=True)
class PriceRow:
    """A contract price; `end` leads to ending it, where the viewer may."""

    what: str
    unit: str
    price: str
    starts_at: datetime | None
    ends_at: datetime | None
    end: Link | None


@dataclass(frozen=True, slots=True)
class ApiSpendPage:
    """What calls cost in a month. `prices` and `compared` None: not for this viewer."""

    frame: Frame
    finding: str
    period: str
    currency: str
    zone: tzinfo
    filters: tuple[Filter, ...]
    problems: tuple[str, ...]
    figures: tuple[Figure, ...]
    chart: DailyChart | None
    models: Listed[ModelRow]
    owners: Listed[OwnerRow]
    unpriced: tuple[UnpricedRow, ...]
    compared: tuple[ComparedRow, ...] | None
    prices: tuple[PriceRow, ...] | None
    sort: str
    query: str
    actions: tuple[Link, ...]
    empty: EmptyState | None
