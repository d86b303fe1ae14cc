"""One row of a bill as values, in the words of FOCUS 1.4."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from hashlib import blake2b
from typing import NamedTuple

from apps.economics.focus.cells import PRICE_STEP, BadCell, cost_of, moment_of, tags_of, text_of
from apps.economics.focus.columns import Layout
from apps.economics.focus.kinds import kind_of

NOTHING: dict[str, str] = {}
CATEGORIES = {
    "usage": "Usage",
    "purchase": "Purchase",
    "tax": "Tax",
    "credit": "Credit",
    "refund": "Credit",
    "adjustment": "Adjustment",
}
PRICING_CATEGORIES = {
    "on-demand": "Standard",
    "commitment-based": "Committed",
    "spot": "Dynamic",
}


class BillKey(NamedTuple):
    """Which bill a row belongs to."""

    issuer: str
    provider: str
    account: str
    starts_at: datetime
    ends_at: datetime
    currency: str


class Costs(NamedTuple):
    """Amounts in the bill's currency; None where the file does not say."""

    listed: Decimal | None
    contracted: Decimal | None
    effective: Decimal | None
    billed: Decimal


class BilledRow(NamedTuple):
    """A row as it is kept; the texts are empty where the file says nothing.

    Rows of equal `traits` are alike in all that decides where their cost goes.
    """

    bill: BillKey
    digest: bytes
    traits: bytes
    kind: str
    category: str
    charge_class: str
    starts_at: datetime
    ends_at: datetime
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
    consumed_quantity: Decimal | None
    consumed_unit: str
    pricing_quantity: Decimal | None
    pricing_unit: str
    list_unit_price: Decimal | None
    contracted_unit_price: Decimal | None
    costs: Costs
    tags: dict[str, str]
    more: dict[str, str]


@dataclass(slots=True)
class RowReader:
    """Reads rows of one layout; cells are texts (CSV) or values (Parquet)."""

    layout: Layout
    _at: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        """Know every column's place once, not once a row."""
        self._at = dict(self.layout.at)

    def read(self, cells: Sequence[object]) -> BilledRow:
        """The row's values. Refuses BadCell, which names the column."""
        starts_at, ends_at = self._period(cells, "ChargePeriodStart", "ChargePeriodEnd")
        category = self._category(cells)
        commitment = self._text(cells, "CommitmentDiscountId")
        status = self._text(cells, "CommitmentDiscountStatus")
        usage_type = self._text(cells, "SkuMeter") or self._text(cells, "ResourceType")
        description = self._text(cells, "ChargeDescription")
        pricing_unit = self._text(cells, "PricingUnit")
        consumed_unit = self._text(cells, "ConsumedUnit")
        of_service = self._text(cells, "ServiceCategory")
        pricing = self._text(cells, "PricingCategory")
        service = self._text(cells, "ServiceName")
        resource, account = self._text(cells, "ResourceId"), self._text(cells, "SubAccountId")
        tags = tags_of("Tags", self._cell(cells, "Tags"))
        kind = kind_of(
            (category, status, bool(commitment)),
            (of_service, usage_type, description),
            pricing_unit or consumed_unit,
        )
        return BilledRow(
            bill=self._bill(cells),
            digest=_digest(cells),
            traits=_traits((kind, category, status, service, usage_type, resource, account), tags),
            kind=kind,
            category=category,
            charge_class=self._text(cells, "ChargeClass"),
            starts_at=starts_at,
            ends_at=ends_at,
            service=service,
            usage_type=usage_type,
            description=description,
            sku=self._text(cells, "SkuId"),
            resource_id=resource,
            region=self._text(cells, "RegionId"),
            sub_account=account,
            pricing_category=PRICING_CATEGORIES.get(pricing.lower(), pricing),
            commitment_id=commitment,
            commitment_status=status,
            invoice_id=self._text(cells, "InvoiceId"),
            consumed_quantity=self._cost(cells, "ConsumedQuantity"),
            consumed_unit=consumed_unit,
            pricing_quantity=self._cost(cells, "PricingQuantity"),
            pricing_unit=pricing_unit,
            list_unit_price=self._price(cells, "ListUnitPrice"),
            contracted_unit_price=self._price(cells, "ContractedUnitPrice"),
            costs=self._costs(cells),
            tags=tags,
            more=self._more(cells, of_service),
        )

    def _cell(self, cells: Sequence[object], name: str) -> object:
        at = self._at.get(name)
        return None if at is None or at >= len(cells) else cells[at]

    def _text(self, cells: Sequence[object], name: str) -> str:
        at = self._at.get(name)
        return "" if at is None or at >= len(cells) else text_of(cells[at])

    def _cost(self, cells: Sequence[object], name: str) -> Decimal | None:
        return cost_of(name, self._cell(cells, name))

    def _price(self, cells: Sequence[object], name: str) -> Decimal | None:
        return cost_of(name, self._cell(cells, name), step=PRICE_STEP)

    def _costs(self, cells: Sequence[object]) -> Costs:
        billed = self._cost(cells, "BilledCost")
        if billed is None:
            raise BadCell("BilledCost", "is empty")
        return Costs(
            listed=self._cost(cells, "ListCost"),
            contracted=self._cost(cells, "ContractedCost"),
            effective=self._cost(cells, "EffectiveCost"),
            billed=billed,
        )

    def _category(self, cells: Sequence[object]) -> str:
        said = self._text(cells, "ChargeCategory")
        category = CATEGORIES.get(said.lower())
        if category is None:
            raise BadCell("ChargeCategory", f"{said[:40]!r} is no category of a charge")
        return category

    def _period(self, cells: Sequence[object], starts: str, ends: str) -> tuple[datetime, datetime]:
        starts_at = moment_of(starts, self._cell(cells, starts))
        ends_at = moment_of(ends, self._cell(cells, ends))
        if ends_at <= starts_at:
            raise BadCell(ends, f"is not after {starts}")
        return starts_at, ends_at

    def _bill(self, cells: Sequence[object]) -> BillKey:
        starts_at, ends_at = self._period(cells, "BillingPeriodStart", "BillingPeriodEnd")
        provider = self._text(cells, "ServiceProviderName") or self._text(
            cells, "InvoiceIssuerName"
        )
        issuer = self._text(cells, "InvoiceIssuerName") or provider
        account, currency = (
            self._text(cells, "BillingAccountId"),
            self._text(cells, "BillingCurrency"),
        )
        if not issuer:
            raise BadCell("InvoiceIssuerName", "is empty, and so is the provider's name")
        if not account:
            raise BadCell("BillingAccountId", "is empty")
        if len(currency) != 3 or not currency.isascii() or not currency.isalpha():
            raise BadCell("BillingCurrency", f"{currency[:40]!r} is no code such as USD")
        return BillKey(issuer, provider, account, starts_at, ends_at, currency.upper())

    def _more(self, cells: Sequence[object], of_service: str) -> dict[str, str]:
        more = {}
        for at, name in self.layout.others:
            text = text_of(cells[at]) if at < len(cells) else ""
            if text:
                more[name] = text
        if of_service:
            more["ServiceCategory"] = of_service
        return more


def _digest(cells: Sequence[object]) -> bytes:
    """Of everything that the file says, whatever it is read as."""
    said = "\x1f".join(map(text_of, cells))
    return blake2b(said.encode(), digest_size=16).digest()


def _traits(texts: tuple[str, ...], tags: dict[str, str]) -> bytes:
    said = "\x1f".join((*texts, *(f"{key}\x1e{tags[key]}" for key in sorted(tags))))
    return blake2b(said.encode(), digest_size=8).digest()


def as_json(values: dict[str, str]) -> str:
    """The text a JSON column takes; most rows have none."""
    return json.dumps(values, ensure_ascii=False) if values else "{}"
