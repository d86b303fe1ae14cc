"""AWS Cost and Usage Reports, legacy and 2.0, as rows of FOCUS.

What each line type means follows AWS's own description of its line items. A savings plan's
negation takes back what its covered use showed, so both are billed 0 here and the sum is the
invoice's. A report of an account with discounts has a net column beside each gross one: what is
billed and effective is then net, line by line, and lines that tell the discounts are 0.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from apps.economics.focus.cells import COST_STEP, BadCell, cost_of, tags_of, text_of
from apps.economics.focus.columns import Layout, NotABill, plain_name
from apps.economics.focus.reading import RowReader
from apps.economics.focus.rows import BilledRow, RowCosts

SIGNS = ("lineitemlineitemtype", "lineitemunblendedcost", "lineitemusagestartdate")
NEEDED = (
    *(*SIGNS, "lineitemcurrencycode", "billpayeraccountid"),
    *("billbillingperiodstartdate", "billbillingperiodenddate"),
)
AWS = "Amazon Web Services"
NONE = Decimal(0)

# The columns that a row is made into, in this order; `RowReader` takes them from there.
MADE = (
    *("InvoiceIssuerName", "ServiceProviderName", "BillingAccountId", "BillingCurrency"),
    *("BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart", "ChargePeriodEnd"),
    *("ChargeCategory", "ChargeClass", "ChargeDescription", "ServiceName", "ServiceCategory"),
    *("SkuMeter", "SkuId", "ResourceId", "RegionId", "SubAccountId", "PricingCategory"),
    *("CommitmentDiscountId", "CommitmentDiscountStatus", "InvoiceId"),
    *("ConsumedQuantity", "ConsumedUnit", "PricingQuantity", "PricingUnit", "ListUnitPrice"),
    *("BilledCost", "EffectiveCost", "ContractedCost", "ListCost", "Tags"),
)
CATEGORIES = {
    "Tax": "Tax",
    "Credit": "Credit",
    "Refund": "Credit",
    "RIFee": "Purchase",
    "SavingsPlanRecurringFee": "Purchase",
    "SavingsPlanUpfrontFee": "Purchase",
}
FEES_OF_TERMS = ("RIFee", "SavingsPlanRecurringFee")
FEES_OF_COMMITMENTS = (*FEES_OF_TERMS, "SavingsPlanUpfrontFee")
DISCOUNTS = re.compile(r"Discount|Negation")
COMMITTED = (
    "recurringcommitmentforbillingperiod",
    "amortizedupfrontcommitmentforbillingperiod",
)
"""What a savings plan's fee is made of, beside each its net amount."""
COMPUTING = frozenset({"AmazonEC2", "AmazonSageMaker", "AmazonECS", "AmazonEKS"})


def is_cur(names: Sequence[str]) -> bool:
    """Whether a header is a Cost and Usage Report's."""
    present = {plain_name(name) for name in names}
    return all(sign in present for sign in SIGNS)


@dataclass(slots=True)
class CurReader:
    """Reads rows under a header of either kind. Refuses NotABill."""

    names: Sequence[str]
    _at: dict[str, int] = field(init=False)
    _tags: tuple[tuple[int, str], ...] = field(init=False)
    _rows: RowReader = field(init=False)

    def __post_init__(self) -> None:
        """Know where every column is."""
        self._at = {plain_name(name): at for at, name in enumerate(self.names)}
        missing = [name for name in NEEDED if name not in self._at]
        if missing:
            raise NotABill(f"the header has no {', '.join(missing)}")
        self._tags = tuple(
            (at, _tag_name(name))
            for at, name in enumerate(self.names)
            if plain_name(name).startswith("resourcetags") and plain_name(name) != "resourcetags"
        )
        others = tuple((at + len(MADE), name) for at, name in enumerate(self.names))
        layout = Layout("cur", {name: at for at, name in enumerate(MADE)}, others)
        self._rows = RowReader(layout, self._is_fee_of_commitment)

    def read(self, cells: Sequence[object]) -> BilledRow:
        """The row's values. Refuses BadCell, which names the report's column, or FOCUS's."""
        kind = self._text_at(cells, "lineitemlineitemtype")
        other = _discount_amounts if _is_discount(kind) else _usage_amounts
        amounts = AMOUNTS.get(kind, other)(_Cells(self, cells))
        focus_cells = (
            *(AWS, AWS, self._text_at(cells, "billpayeraccountid")),
            self._currency(cells),
            *(self._text_at(cells, f"billbillingperiod{end}date") for end in ("start", "end")),
            *(self._text_at(cells, f"lineitemusage{end}date") for end in ("start", "end")),
            self._charge_category(kind),
            "",
            self._text_at(cells, "lineitemlineitemdescription"),
            self._text_at(cells, "productproductname", "lineitemproductcode"),
            self._service_category(cells),
            self._text_at(cells, "lineitemusagetype"),
            self._text_at(cells, "productsku"),
            self._text_at(cells, "lineitemresourceid"),
            self._text_at(cells, "productregion", "productregioncode"),
            self._text_at(cells, "lineitemusageaccountid"),
            self._pricing_category(cells, kind),
            self._commitment_id(cells),
            _commitment_status(kind, amounts),
            self._text_at(cells, "billinvoiceid"),
            *self._usage_quantities(cells),
            *(amounts.billed, amounts.effective, amounts.contracted, amounts.listed),
            self._tags_of(cells),
        )
        return self._rows.read((*focus_cells, *cells))

    def period_of(self, cells: Sequence[object]) -> tuple[datetime, datetime] | None:
        """The billing period of a row that may lack anything else; None where it lacks that."""
        focus_cells = dict.fromkeys(MADE, "")
        for end in ("Start", "End"):
            focus_cells[f"BillingPeriod{end}"] = self._text_at(
                cells, f"billbillingperiod{end.lower()}date"
            )
        return self._rows.period_of(tuple(focus_cells.values()))

    @property
    def has_net_costs(self) -> bool:
        """Whether the report tells what is paid after discounts, line by line."""
        return "lineitemnetunblendedcost" in self._at

    def cost(self, cells: Sequence[object], name: str) -> Decimal | None:
        """The amount under a plain name; None where there is none."""
        at = self._at.get(name)
        return None if at is None or at >= len(cells) else cost_of(self.names[at], cells[at])

    def name_of(self, plain: str) -> str:
        """How the report's header spells a column that it has."""
        return self.names[self._at[plain]]

    def _text_at(self, cells: Sequence[object], *names: str) -> str:
        for name in names:
            at = self._at.get(name)
            if at is not None and at < len(cells) and (text := text_of(cells[at])):
                return text
        return ""

    def _currency(self, cells: Sequence[object]) -> str:
        """Accounts in China are billed in yuan: a report that does not say it may be in anything."""
        code = self._text_at(cells, "lineitemcurrencycode")
        if not code:
            raise BadCell(self.name_of("lineitemcurrencycode"), "is empty")
        return code

    def _charge_category(self, kind: str) -> str:
        if kind == "Fee":
            return "Purchase"
        if _is_discount(kind):
            return "Adjustment"
        return CATEGORIES.get(kind, "Usage")

    def _pricing_category(self, cells: Sequence[object], kind: str) -> str:
        if kind in ("DiscountedUsage", "SavingsPlanCoveredUsage"):
            return "Committed"
        return (
            "Dynamic" if "spot" in self._text_at(cells, "lineitemusagetype").lower() else "Standard"
        )

    def _service_category(self, cells: Sequence[object]) -> str:
        family = self._text_at(cells, "productproductfamily").lower()
        if "storage" in family or "snapshot" in family:
            return "Storage"
        if "transfer" in family:
            return "Networking"
        code = self._text_at(cells, "lineitemproductcode")
        return "Compute" if code in COMPUTING else "Other"

    def _commitment_id(self, cells: Sequence[object]) -> str:
        # Every line has a subscription id, those under no commitment as well.
        return self._text_at(cells, "savingsplansavingsplanarn", "reservationreservationarn")

    def _is_fee_of_commitment(self, texts: Sequence[str]) -> bool:
        """Whether a made row is a commitment's fee by its type: a query may leave out the ARNs.

        A machine's `Fee` is what was paid upfront for a reservation of it.
        """
        cells = texts[len(MADE) :]
        kind = self._text_at(cells, "lineitemlineitemtype")
        if kind == "Fee":
            return self._text_at(cells, "lineitemproductcode") in COMPUTING
        return kind in FEES_OF_COMMITMENTS

    def _usage_quantities(self, cells: Sequence[object]) -> tuple[object, ...]:
        used = self._text_at(cells, "lineitemusageamount")
        unit = self._text_at(cells, "pricingunit")
        return used, unit, used, unit, self._text_at(cells, "pricingpublicondemandrate")

    def _tags_of(self, cells: Sequence[object]) -> dict[str, str]:
        at = self._at.get("resourcetags")
        map_ = tags_of("resource_tags", cells[at]) if at is not None and at < len(cells) else {}
        tags = {_tag_name(name): text for name, text in map_.items()}
        for place, name in self._tags:
            if place < len(cells) and (text := text_of(cells[place])):
                tags[name] = text
        return tags


@dataclass(frozen=True, slots=True)
class _Cells:
    reader: CurReader
    cells: Sequence[object]

    def known(self, name: str) -> Decimal | None:
        return self.reader.cost(self.cells, name)

    def part(self, name: str) -> Decimal:
        """An amount of which a row that has none says nothing: a part of a whole that is there."""
        return self.known(name) or NONE

    def net(self, group: str, name: str) -> Decimal | None:
        """Return the amount paid after discounts; the gross amount where the report has no net one."""
        net = self.known(f"{group}net{name}")
        return self.known(f"{group}{name}") if net is None else net

    @property
    def unblended(self) -> Decimal:
        return self._needed(self.known("lineitemunblendedcost"))

    @property
    def paid(self) -> Decimal:
        return self._needed(self.net("lineitem", "unblendedcost"))

    def _needed(self, amount: Decimal | None) -> Decimal:
        """Return an amount that a row of any kind has; refuse a row without it, as its cost is not known, not nothing."""
        if amount is None:
            raise BadCell(self.reader.name_of("lineitemunblendedcost"), "is empty")
        return amount


def _usage_amounts(of: _Cells) -> RowCosts:
    unblended = of.unblended
    listed = of.known("pricingpublicondemandcost")
    return RowCosts(unblended if listed is None else listed, unblended, of.paid, of.paid)


def _discount_amounts(of: _Cells) -> RowCosts:
    """A discount told on a line of its own: net columns have it on the lines that it is of."""
    if not of.reader.has_net_costs:
        return _usage_amounts(of)
    net = of.part("lineitemnetunblendedcost")
    return RowCosts(net, net, net, net)


def _reserved_amounts(of: _Cells) -> RowCosts:
    """Use that a reservation covers: billed with its fee, effective with its amortised part."""
    listed = of.known("pricingpublicondemandcost")
    return RowCosts(listed, listed, of.net("reservation", "effectivecost"), of.paid)


def _savings_plan_amounts(of: _Cells) -> RowCosts:
    """Use that a savings plan covers; its unblended cost is taken back by the negation."""
    listed = of.known("pricingpublicondemandcost")
    effective = of.net("savingsplan", "savingsplaneffectivecost")
    return RowCosts(listed, of.unblended, effective, NONE)


def _negation_amounts(of: _Cells) -> RowCosts:
    return RowCosts(NONE, NONE, NONE, NONE)


def _plan_fee(of: _Cells) -> RowCosts:
    """The hour's commitment: what of it was not used is the effective cost here."""
    total = of.known("savingsplantotalcommitmenttodate")
    if total is None:
        return RowCosts(NONE, NONE, None, of.paid)
    unused = total - of.part("savingsplanusedcommitment")
    return RowCosts(NONE, NONE, _after_discount(of, max(NONE, unused)), of.paid)


def _after_discount(of: _Cells, commitment: Decimal) -> Decimal:
    """A part of a plan's commitment, which is told gross only, less the discount on its fee."""
    gross = [of.part(f"savingsplan{part}") for part in COMMITTED]
    net = [of.net("savingsplan", part) or NONE for part in COMMITTED]
    if not sum(gross):
        gross, net = [of.unblended], [of.paid]
    if not sum(gross) or gross == net:
        return commitment
    return (commitment * sum(net) / sum(gross)).quantize(COST_STEP)


def _reservation_fee(of: _Cells) -> RowCosts:
    unused = [
        of.net("reservation", "unusedamortizedupfrontfeeforbillingperiod"),
        of.net("reservation", "unusedrecurringfee"),
    ]
    # Without either nobody says what was not used of it; of one alone the other is nothing.
    amounts = [amount for amount in unused if amount is not None]
    return RowCosts(NONE, NONE, sum(amounts, NONE) if amounts else None, of.paid)


def _upfront_amounts(of: _Cells) -> RowCosts:
    return RowCosts(NONE, NONE, NONE, of.paid)


def _fee_amounts(of: _Cells) -> RowCosts:
    """A fee of a reservation is spread over its term; any other is what it is."""
    reader = of.reader
    return _upfront_amounts(of) if reader._commitment_id(of.cells) else _usage_amounts(of)


AMOUNTS: Mapping[str, Callable[[_Cells], RowCosts]] = {
    "DiscountedUsage": _reserved_amounts,
    "SavingsPlanCoveredUsage": _savings_plan_amounts,
    "SavingsPlanNegation": _negation_amounts,
    "SavingsPlanRecurringFee": _plan_fee,
    "SavingsPlanUpfrontFee": _upfront_amounts,
    "RIFee": _reservation_fee,
    "Fee": _fee_amounts,
}


def _is_discount(kind: str) -> bool:
    return kind != "DiscountedUsage" and bool(DISCOUNTS.search(kind))


def _commitment_status(kind: str, amounts: RowCosts) -> str:
    """A fee's effective cost is what nobody used of it: then the row tells both."""
    if kind in ("DiscountedUsage", "SavingsPlanCoveredUsage"):
        return "Used"
    return "Unused" if kind in FEES_OF_TERMS and amounts.effective else ""


def _tag_name(name: str) -> str:
    """`resourceTags/user:team` and `resource_tags_user_team` are the tag `team`."""
    bare = re.sub(r"^resource_?tags[/_]?", "", name, flags=re.IGNORECASE)
    return re.sub(r"^user[:_]", "", bare)
