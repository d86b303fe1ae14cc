"""Reads rows of a bill: what many of them say alike is read once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from hashlib import blake2b
from operator import itemgetter
from typing import Any, cast

from apps.economics.currencies import CURRENCIES
from apps.economics.focus.cells import (
    COST_STEP,
    LARGEST,
    LARGEST_COST,
    PRICE_STEP,
    BadCell,
    account_of,
    amount_of,
    moment_of,
    read_amount,
    tags_of,
    text_of,
    texts_of,
)
from apps.economics.focus.columns import READ, Layout
from apps.economics.focus.kinds import OTHER, ServiceDescription, kind_of, may_be_time
from apps.economics.focus.rows import BilledRow, BillKey, RowCosts, RowFrame, as_json
from apps.economics.machine_ids import is_machine_id

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
# Columns in which rows differ that are alike in all else: their time, prices and amounts.
PRICES = ("ListUnitPrice", "ContractedUnitPrice")
COSTS = ("ListCost", "ContractedCost", "EffectiveCost", "BilledCost")
CHANGING = (
    *("ChargePeriodStart", "ChargePeriodEnd"),
    *PRICES,
    *("ConsumedQuantity", "PricingQuantity"),
    *COSTS,
)
# In this order a row's amounts are looked at: it is refused by the first that is none.
AMOUNTS = (
    *("ConsumedQuantity", "PricingQuantity", *PRICES),
    *("BilledCost", "ListCost", "ContractedCost", "EffectiveCost"),
)
SEPARATOR = "\x1f"
MOST_FRAMES, MOST_LETTERS = 8_192, 8 << 20
MOST_REMEMBERED, LONGEST_AMOUNT = 1_024, 64
"""What is remembered of rows: so many frames, of so many letters together; so many amounts and spans."""
PRICING_CATEGORIES = {
    "on-demand": "Standard",
    "commitment-based": "Committed",
    "spot": "Dynamic",
}


class _Texts(dict[object, str]):
    """Cells as text by what they say: each text is read once, values each time."""

    def __missing__(self, cell: object) -> str:
        text = text_of(cell)
        if isinstance(cell, str) and len(cell) <= LONGEST_AMOUNT:
            _clear_if_full(self)
            self[cell] = text
        return text


class _Amounts(dict[str, Decimal | None]):
    """Amounts by their text: each is read once. Refuses ValueError."""

    def __init__(self, step: Decimal, largest: Decimal = LARGEST) -> None:
        super().__init__()
        self._step, self._largest = step, largest

    def __missing__(self, text: str) -> Decimal | None:
        amount = read_amount(text, self._step, self._largest) if text else None
        if len(text) <= LONGEST_AMOUNT:
            _clear_if_full(self)
            self[text] = amount
        return amount


class _Spans(dict[tuple[str, ...], tuple[datetime, datetime]]):
    """Periods of charges by their two texts: each is read once. Refuses BadCell."""

    def __missing__(self, texts: tuple[str, ...]) -> tuple[datetime, datetime]:
        span = _span_of(CHANGING[:2], texts)
        _clear_if_full(self)
        self[texts] = span
        return span


def _names_its_commitment(_texts: Sequence[str]) -> bool:
    """A fee of a commitment is known by the commitment's id alone."""
    return False


@dataclass(slots=True)
class RowReader:
    """Reads rows of one layout; cells are texts (CSV) or values (Parquet).

    What rows say alike is read once: a reader remembers some thousand frames. `is_fee_of_term` tells
    by a row's texts whether it is the fee of a commitment that it may not name.
    """

    layout: Layout
    is_fee_of_term: Callable[[Sequence[str]], bool] = field(default=_names_its_commitment)
    _at: dict[str, int] = field(init=False)
    _width: int = field(init=False)
    _tags: int | None = field(init=False)
    _key: bytes = field(init=False)
    _plain: Callable[[Sequence[str]], tuple[str, ...]] = field(init=False)
    _changing: Callable[[Sequence[object]], tuple[object, ...]] = field(init=False)
    _alike: Callable[[Sequence[str]], tuple[str, ...]] = field(init=False)
    _separators: int = field(init=False)
    _holes: tuple[int, ...] = field(init=False)
    _span: Callable[[Sequence[str]], tuple[str, ...]] = field(init=False)
    _quantities: Callable[[Sequence[str]], tuple[str, ...]] = field(init=False)
    _costs: Callable[[Sequence[str]], tuple[str, ...]] = field(init=False)
    _prices: Callable[[Sequence[str]], tuple[str, ...]] = field(init=False)
    _frames: dict[str, tuple[RowFrame, str]] = field(init=False, default_factory=dict)
    _letters: int = field(init=False, default=0)
    _texts: _Texts = field(init=False, default_factory=_Texts)
    _spans: _Spans = field(init=False, default_factory=_Spans)
    _known_costs: _Amounts = field(init=False)
    _known_quantities: _Amounts = field(init=False)
    _known_prices: _Amounts = field(init=False)

    def __post_init__(self) -> None:
        """Know every column's place once, not once a row."""
        named = sorted([*((at, name) for name, at in self.layout.at.items()), *self.layout.others])
        # A column that the file lacks is the empty text kept after a row's own.
        self._width = named[-1][0] + 1
        self._at = dict.fromkeys(READ, self._width) | dict(self.layout.at)
        self._tags = self.layout.at.get("Tags")
        self._plain = itemgetter(*(self._at[name] for name in PLAIN))
        self._key = blake2b(repr(named).encode(), digest_size=16).digest()
        self._know_what_changes()

    def _know_what_changes(self) -> None:
        holes = sorted({self.layout.at[name] for name in CHANGING if name in self.layout.at})
        alike = [at for at in range(self._width) if at not in holes]
        self._holes = tuple(holes)
        self._changing, self._alike = itemgetter(*holes), itemgetter(*alike)
        self._separators = len(alike) - 1
        # Among what changes, an empty text kept after it stands for what the file lacks.
        place = {at: number for number, at in enumerate(holes)} | {self._width: len(holes)}
        named = [place[self._at[name]] for name in CHANGING]
        self._span, self._prices = itemgetter(*named[:2]), itemgetter(*named[2:4])
        self._quantities, self._costs = itemgetter(*named[4:6]), itemgetter(*named[6:])
        self._known_costs = _Amounts(COST_STEP, LARGEST_COST)
        self._known_quantities, self._known_prices = _Amounts(COST_STEP), _Amounts(PRICE_STEP)

    def read(self, cells: Sequence[object]) -> BilledRow:
        """The row's values. Refuses BadCell, which names the column."""
        try:
            alike = SEPARATOR.join(self._alike(cast(Sequence[str], cells)))
        except (TypeError, IndexError):
            return self._read_apart(cells)
        if alike.count(SEPARATOR) != self._separators or len(cells) != self._width:
            return self._read_apart(cells)
        texts = self._texts
        changing = [texts[cell] for cell in self._changing(cells)]
        span = self._spans[self._span(changing)]
        entry = self._frames.get(alike)
        if entry is None:
            entry = self._remember_frame(alike, cells)
        frame, template = entry
        digest = blake2b((template % (*changing,)).encode(), digest_size=16, key=self._key).digest()
        return self._row(frame, digest, span, changing)

    def _read_apart(self, cells: Sequence[object]) -> BilledRow:
        """A row of values, of fewer cells, or with a separator in a cell: it is alike to no other."""
        texts = texts_of(cells)
        content = SEPARATOR.join(texts).encode()
        texts += [""] * (self._width + 1 - len(texts))
        changing = [*cast(tuple[str, ...], self._changing(texts))]
        span = self._spans[self._span(changing)]
        frame = self._frame_of(texts, cells)
        digest = blake2b(content, digest_size=16, key=self._key).digest()
        return self._row(frame, digest, span, changing)

    def _remember_frame(self, alike: str, cells: Sequence[object]) -> tuple[RowFrame, str]:
        """A frame, and all that its rows say, with a hole for each thing that changes."""
        texts = texts_of(cells)
        frame = self._frame_of([*texts, ""], cells)
        template_cells = [text.replace("%", "%%") for text in texts]
        for hole in self._holes:
            template_cells[hole] = "%s"
        self._letters += len(alike)
        if len(self._frames) >= MOST_FRAMES or self._letters > MOST_LETTERS:
            self._frames.clear()
            self._letters = len(alike)
        self._frames[alike] = entry = (frame, SEPARATOR.join(template_cells))
        return entry

    def _row(
        self,
        frame: RowFrame,
        digest: bytes,
        span: tuple[datetime, datetime],
        changing: list[str],
    ) -> BilledRow:
        changing.append("")
        prices, quantities, costs = self._known_prices, self._known_quantities, self._known_costs
        try:
            listed_at, contracted_at = [prices[text] for text in self._prices(changing)]
            consumed, priced = [quantities[text] for text in self._quantities(changing)]
            listed, contracted, effective, billed = [costs[text] for text in self._costs(changing)]
        except ValueError:
            billed = None
        if billed is None:
            raise self._bad_amount(changing)
        ours = RowCosts(listed, contracted, effective, billed)
        if not listed or not contracted:
            ours = _without_false_zeros(ours, frame.category, frame.commitment_status)
        return BilledRow(frame, digest, *span, consumed, priced, listed_at, contracted_at, ours)

    def _bad_amount(self, changing: Sequence[str]) -> BadCell:
        """The first cell that is no amount."""
        texts = (*self._prices(changing), *self._quantities(changing), *self._costs(changing))
        texts_by_name = dict(zip(CHANGING[2:], texts, strict=True))
        for name in AMOUNTS:
            step = PRICE_STEP if name in PRICES else COST_STEP
            largest = LARGEST_COST if name in COSTS else LARGEST
            try:
                amount = amount_of(name, texts_by_name[name], step=step, largest=largest)
            except BadCell as bad:
                return bad
            if amount is None and name == "BilledCost":
                break
        return BadCell("BilledCost", "is empty")

    def _frame_of(self, texts: Sequence[str], cells: Sequence[object]) -> RowFrame:
        """`texts` have one more, which is empty."""
        category = self._charge_category(texts)
        commitment, status, meter, resource_type, description, *plain = self._plain(texts)
        pricing_unit, consumed_unit, of_service, pricing, service, resource, account, *plain = plain
        charge_class, sku, region, invoice = plain
        usage_type = meter or resource_type
        tags = self._tags_of(cells)
        service_facts = ServiceDescription(of_service, usage_type, description, service)
        unit = pricing_unit or consumed_unit
        kind = kind_of(
            (category, status, bool(commitment) or self.is_fee_of_term(texts)),
            service_facts,
            unit,
            self._text_cell(texts, "CapacityReservationStatus"),
            is_of_machine=is_machine_id(resource),
        )
        # Rows of other kinds are alike whatever their unit.
        is_time = "time" if kind == OTHER and may_be_time(category, service_facts, unit) else ""
        return RowFrame(
            bill=self._bill_key(texts),
            traits=_traits_key(
                (kind + is_time, category, status, service, usage_type, resource, account), tags
            ),
            kind=kind,
            category=category,
            charge_class=charge_class,
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
            consumed_unit=consumed_unit,
            pricing_unit=pricing_unit,
            tags=as_json(tags),
            more=as_json(self._other_cells(texts, of_service)),
        )

    def period_of(self, cells: Sequence[object]) -> tuple[datetime, datetime] | None:
        """The billing period of a row that may lack anything else; None where it lacks that."""
        texts = texts_of(cells)
        texts += [""] * (self._width + 1 - len(texts))
        try:
            return self._period_of(texts)
        except BadCell:
            return None

    def _text_cell(self, texts: Sequence[str], name: str) -> str:
        return texts[self._at[name]]

    def _tags_of(self, cells: Sequence[object]) -> dict[str, str]:
        at = self._tags
        return {} if at is None or at >= len(cells) else tags_of("Tags", cells[at])

    def _charge_category(self, texts: Sequence[str]) -> str:
        text = self._text_cell(texts, "ChargeCategory")
        category = CATEGORIES.get(text.lower())
        if category is None:
            raise BadCell("ChargeCategory", f"{text[:40]!r} is no category of a charge")
        return category

    def _period_of(self, texts: Sequence[str]) -> tuple[datetime, datetime]:
        names = ("BillingPeriodStart", "BillingPeriodEnd")
        return _span_of(names, [self._text_cell(texts, name) for name in names])

    def _bill_key(self, texts: Sequence[str]) -> BillKey:
        starts_at, ends_at = self._period_of(texts)
        named = self._text_cell(texts, "InvoiceIssuerName")
        provider = self._text_cell(texts, "ServiceProviderName") or named
        issuer = named or provider
        account = account_of("BillingAccountId", self._text_cell(texts, "BillingAccountId"))
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


def _clear_if_full(remembered: dict[Any, Any]) -> None:
    if len(remembered) >= MOST_REMEMBERED:
        remembered.clear()


def _span_of(names: Sequence[str], texts: Sequence[str]) -> tuple[datetime, datetime]:
    starts_at, ends_at = (moment_of(name, text) for name, text in zip(names, texts, strict=True))
    if ends_at <= starts_at:
        raise BadCell(names[1], f"is not after {names[0]}")
    return starts_at, ends_at


def _without_false_zeros(costs: RowCosts, category: str, status: str) -> RowCosts:
    """Use that costs something is listed at something: a 0 there is an amount that nobody filled in."""
    paid = max(costs.billed, costs.effective or 0)
    if category != "Usage" or status.lower() == "unused" or paid <= 0:
        return costs
    return costs._replace(listed=costs.listed or None, contracted=costs.contracted or None)


def _traits_key(texts: tuple[str, ...], tags: dict[str, str]) -> bytes:
    content = "\x1f".join((*texts, *(f"{key}\x1e{tags[key]}" for key in sorted(tags))))
    return blake2b(content.encode(), digest_size=8).digest()
