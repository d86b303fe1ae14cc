"""Calls to model APIs as prices see them, contracts, and what a call comes to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Counted:
    """A call as prices see it; input includes cached tokens, output reasoning ones."""

    vendor: str
    model: str
    at: datetime
    tier: str = ""
    outcome: str = "ok"
    input_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    detail: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Contract:
    """A contract price in `[starts_at, ends_at)`: an amount by quantity, or a share off."""

    id: int
    vendor: str
    model: str
    tier: str
    unit: str
    amount: Decimal | None
    per_quantity: int
    currency: str
    discount_ratio: Decimal | None
    starts_at: datetime | None
    ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class Priced:
    """Unrounded amounts by currency, and the public price's; None with a reason where unknown."""

    amounts: Mapping[str, Decimal] | None
    list_amount: Decimal | None
    price: str = ""
    reason: str = ""
