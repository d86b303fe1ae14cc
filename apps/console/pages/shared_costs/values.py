"""The values that the template of shared costs gets."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal


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
