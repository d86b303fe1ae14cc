"""One row of a bill as values, in the words of FOCUS 1.4."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

import msgspec


class BillKey(NamedTuple):
    """The key of the bill that a row belongs to."""

    issuer: str
    provider: str
    account: str
    starts_at: datetime
    ends_at: datetime
    currency: str


class RowCosts(NamedTuple):
    """Amounts in the bill's currency; None where the file does not say."""

    listed: Decimal | None
    contracted: Decimal | None
    effective: Decimal | None
    billed: Decimal


@dataclass(frozen=True, slots=True)
class RowFrame:
    """The facts of a row beside its time and its amounts: most rows of a file say what others do.

    Texts are empty where the file says nothing; `tags` and `more` are the text of a JSON object.
    Rows of equal `traits` are alike in all that decides where their cost goes.
    """

    bill: BillKey
    traits: bytes
    kind: str
    category: str
    charge_class: str
    service: str
    usage_type: str
    description: str
    sku: str
    resource_id: str
    region: str
    sub_account: str
    pricing_category: str
    commitment_id: str
    commitment_status: str
    invoice_id: str
    consumed_unit: str
    pricing_unit: str
    tags: str
    more: str


class BilledRow(NamedTuple):
    """A row as it is kept; rows that differ in time and amounts alone have one `frame`."""

    frame: RowFrame
    digest: bytes
    starts_at: datetime
    ends_at: datetime
    consumed_quantity: Decimal | None
    pricing_quantity: Decimal | None
    list_unit_price: Decimal | None
    contracted_unit_price: Decimal | None
    costs: RowCosts


@dataclass(frozen=True, slots=True)
class Rejection:
    """A row that could not be read: the line it begins at (a row's number in Parquet), and why.

    `period` is its billing period, where that could be read.
    """

    line: int
    field: str
    reason: str
    period: tuple[datetime, datetime] | None = None


def as_json(values: dict[str, str]) -> str:
    """The text a JSON column takes; most rows have none."""
    return msgspec.json.encode(values).decode() if values else "{}"
