"""The values that the template of shared costs gets."""

from dataclasses import dataclass
from datetime import datetime, tzinfo
from decimal import Decimal

from apps.console.kit.frame import Frame, Link
from apps.console.pages.listed import Listed


@dataclass(frozen=True, slots=True)
class CostRow:
    """A shared cost; what was carried of it is null before anything was charged."""

    id: int
    name: str
    amount: str
    number: Decimal
    currency: str
    method: str
    weights: str
    starts_at: datetime
    ends_at: datetime | None
    standing: str
    last_micros: int | None
    this_micros: int | None
    end_href: str
    weights_href: str


@dataclass(frozen=True, slots=True)
class TeamRow:
    """What a team carried of one shared cost."""

    cost: str
    team: str
    href: str
    last_micros: int | None
    this_micros: int | None


@dataclass(frozen=True, slots=True)
class SharedCostsPage:
    """Everything that the page reads; the months are named."""

    frame: Frame
    finding: str
    zone: tzinfo
    currency: str
    last_month: str
    this_month: str
    costs: Listed[CostRow]
    teams: Listed[TeamRow]
    new: Link
    other: Link
