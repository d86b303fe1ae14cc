"""One row of a bill as values, in the words of FOCUS 1.4."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from hashlib import blake2b
from operator import itemgetter
from typing import NamedTuple

import msgspec

from apps.economics.currencies import CURRENCIES
from apps.economics.focus.cells import PRICE_STEP, BadCell, amount_of, moment_of, tags_of, texts_of
from apps.economics.focus.columns import READ, Layout
from apps.economics.focus.kinds import kind_of

CATEGORIES = {
    "usage": "Usage",
    "purchase": "Purchase",
    "tax": "Tax",
    "credit": "Credit",
    "refund": "Credit",
    "adjustment": "Adjustment",
}
# Columns that are kept as they are said, in the order in which `RowReader.read` takes them.
PLAIN = (
    *("CommitmentDiscountId", "CommitmentDiscountStatus", "SkuMeter", "ResourceType"),
    *("ChargeDescription", "PricingUnit", "ConsumedUnit", "ServiceCategory", "PricingCategory"),
    *("ServiceName", "ResourceId", "SubAccountId", "ChargeClass", "SkuId", "RegionId"),
    "InvoiceId",
)
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


class RowCosts(NamedTuple):
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
    costs: RowCosts
    tags: dict[str, str]
    more: dict[str, str]


@dataclass(frozen=True, slots=True)
class Rejection:
    """A row that could not be read: the line it begins at (a row's number in Parquet), and why.

    `period` is its billing period, where that could be read.
    """

    line: int
    field: str
    reason: str
    period: tuple[datetime, datetime] | None = None


@dataclass(slots=True)
class RowReader:
    """Reads rows of one layout; cells are texts (CSV) or values (Parquet)."""

    layout: Layout
    _at: dict[str, int] = field(init=False)
    _width: int = field(init=False)
    _tags: int | None = field(init=False)
    _key: bytes = field(init=False)
    _plain: Callable[[Sequence[str]], tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        """Know every column's place once, not once a row."""
        named = sorted([*((at, name) for name, at in self.layout.at.items()), *self.layout.others])
        # A column that the file lacks is the empty text kept after a row's own.
        self._width = named[-1][0] + 1
        self._at = dict.fromkeys(READ, self._width) | dict(self.layout.at)
        self._tags = self.layout.at.get("Tags")
        self._plain = itemgetter(*(self._at[name] for name in PLAIN))
        self._key = blake2b(repr(named).encode(), digest_size=16).digest()

    def read(self, cells: Sequence[object]) -> BilledRow:
        """The row's values. Refuses BadCell, which names the column."""
        texts = texts_of(cells)
        digest = self._row_digest(texts)
        texts += [""] * (self._width + 1 - len(texts))
        starts_at, ends_at = self._period_of(texts, "ChargePeriodStart", "ChargePeriodEnd")
        category = self._charge_category(texts)
        commitment, status, meter, resource_type, description, *plain = self._plain(texts)
        pricing_unit, consumed_unit, of_service, pricing, service, resource, account, *plain = plain
        charge_class, sku, region, invoice = plain
        usage_type = meter or resource_type
        tags = self._tags_of(cells)
        kind = kind_of(
            (category, status, bool(commitment)),
            (of_service, usage_type, description),
            pricing_unit or consumed_unit,
            self._text_cell(texts, "CapacityReservationStatus"),
        )
        return BilledRow(
            bill=self._bill_key(texts),
            digest=digest,
            traits=_traits_key(
                (kind, category, status, service, usage_type, resource, account), tags
            ),
            kind=kind,
            category=category,
            charge_class=charge_class,
            starts_at=starts_at,
            ends_at=ends_at,
            service=service,
            usage_type=usage_type,
            description=description,
            sku=sku,
            resource_id=resource,
            region=region,
            sub_account=account,
            pricing_category=PRICING_CATEGORIES.get(pricing.lower(), pricing),
            commitment_id=commitment,
            commitment_status=status,
            invoice_id=invoice,
            consumed_quantity=self._cost_cell(texts, "ConsumedQuantity"),
            consumed_unit=consumed_unit,
            pricing_quantity=self._cost_cell(texts, "PricingQuantity"),
            pricing_unit=pricing_unit,
            list_unit_price=self._price_cell(texts, "ListUnitPrice"),
            contracted_unit_price=self._price_cell(texts, "ContractedUnitPrice"),
            costs=_without_false_zeros(self._row_costs(texts), category, status),
            tags=tags,
            more=self._other_cells(texts, of_service),
        )

    def period_of(self, cells: Sequence[object]) -> tuple[datetime, datetime] | None:
        """The billing period of a row that may lack anything else; None where it lacks that."""
        texts = texts_of(cells)
        texts += [""] * (self._width + 1 - len(texts))
        try:
            return self._period_of(texts, "BillingPeriodStart", "BillingPeriodEnd")
        except BadCell:
            return None

    def _text_cell(self, texts: Sequence[str], name: str) -> str:
        return texts[self._at[name]]

    def _cost_cell(self, texts: Sequence[str], name: str) -> Decimal | None:
        return amount_of(name, texts[self._at[name]])

    def _price_cell(self, texts: Sequence[str], name: str) -> Decimal | None:
        return amount_of(name, texts[self._at[name]], step=PRICE_STEP)

    def _tags_of(self, cells: Sequence[object]) -> dict[str, str]:
        at = self._tags
        return {} if at is None or at >= len(cells) else tags_of("Tags", cells[at])

    def _row_costs(self, texts: Sequence[str]) -> RowCosts:
        billed = self._cost_cell(texts, "BilledCost")
        if billed is None:
            raise BadCell("BilledCost", "is empty")
        return RowCosts(
            listed=self._cost_cell(texts, "ListCost"),
            contracted=self._cost_cell(texts, "ContractedCost"),
            effective=self._cost_cell(texts, "EffectiveCost"),
            billed=billed,
        )

    def _charge_category(self, texts: Sequence[str]) -> str:
        said = self._text_cell(texts, "ChargeCategory")
        category = CATEGORIES.get(said.lower())
        if category is None:
            raise BadCell("ChargeCategory", f"{said[:40]!r} is no category of a charge")
        return category

    def _period_of(self, texts: Sequence[str], starts: str, ends: str) -> tuple[datetime, datetime]:
        starts_at = moment_of(starts, self._text_cell(texts, starts))
        ends_at = moment_of(ends, self._text_cell(texts, ends))
        if ends_at <= starts_at:
            raise BadCell(ends, f"is not after {starts}")
        return starts_at, ends_at

    def _bill_key(self, texts: Sequence[str]) -> BillKey:
        starts_at, ends_at = self._period_of(texts, "BillingPeriodStart", "BillingPeriodEnd")
        named = self._text_cell(texts, "InvoiceIssuerName")
        provider = self._text_cell(texts, "ServiceProviderName") or named
        issuer = named or provider
        account = self._text_cell(texts, "BillingAccountId")
        currency = self._text_cell(texts, "BillingCurrency")
        if not issuer:
            raise BadCell("InvoiceIssuerName", "is empty, and so is the provider's name")
        if not account:
            raise BadCell("BillingAccountId", "is empty")
        code = currency.upper()
        if code not in CURRENCIES:
            raise BadCell("BillingCurrency", f"{currency[:40]!r} is no currency of ISO 4217")
        return BillKey(issuer, provider, account, starts_at, ends_at, code)

    def _other_cells(self, texts: Sequence[str], of_service: str) -> dict[str, str]:
        more = {name: texts[at] for at, name in self.layout.others if texts[at]}
        if of_service:
            more["ServiceCategory"] = of_service
        if status := self._text_cell(texts, "CapacityReservationStatus"):
            more["CapacityReservationStatus"] = status
        return more

    def _row_digest(self, texts: Sequence[str]) -> bytes:
        """Of everything that the file says, and under which names, whatever it is read as."""
        said = "\x1f".join(texts).encode()
        return blake2b(said, digest_size=16, key=self._key).digest()


def _without_false_zeros(costs: RowCosts, category: str, status: str) -> RowCosts:
    """Use that costs something is listed at something: a 0 there is an amount that nobody filled in."""
    paid = max(costs.billed, costs.effective or 0)
    if category != "Usage" or status.lower() == "unused" or paid <= 0:
        return costs
    return costs._replace(listed=costs.listed or None, contracted=costs.contracted or None)


def _traits_key(texts: tuple[str, ...], tags: dict[str, str]) -> bytes:
    said = "\x1f".join((*texts, *(f"{key}\x1e{tags[key]}" for key in sorted(tags))))
    return blake2b(said.encode(), digest_size=8).digest()


def as_json(values: dict[str, str]) -> str:
    """The text a JSON column takes; most rows have none."""
    return msgspec.json.encode(values).decode() if values else "{}"
