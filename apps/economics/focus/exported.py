"""The columns of the files that Runrate writes, in FOCUS 1.0, 1.2 and 1.4: type, level, nulls, values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias

Cell: TypeAlias = str | Decimal | datetime | None


class FocusType(StrEnum):
    """What a column holds."""

    TEXT = "String"
    NUMBER = "Decimal"
    MOMENT = "Date/Time"
    JSON = "JSON"


class FocusLevel(StrEnum):
    """How FOCUS asks for a column; custom ones are ours."""

    MANDATORY = "Mandatory"
    CONDITIONAL = "Conditional"
    RECOMMENDED = "Recommended"
    CUSTOM = "Custom"


@dataclass(frozen=True, slots=True)
class FocusColumn:
    """A column: `scale` is how many decimals a number may have, `allowed` its only values.

    Its cells are those of `of` where that is another name.
    """

    name: str
    type: FocusType
    level: FocusLevel
    may_be_null: bool = True
    scale: int = 0
    allowed: tuple[str, ...] = ()
    of: str = ""

    def cell_of(self, row: Mapping[str, Cell]) -> Cell:
        """What a row has for it; None where it says nothing."""
        return row.get(self.of or self.name)


def _text(name: str, level: FocusLevel = FocusLevel.CONDITIONAL, *allowed: str) -> FocusColumn:
    return FocusColumn(name, FocusType.TEXT, level, allowed=allowed)


def _said(name: str, level: FocusLevel = FocusLevel.MANDATORY, *allowed: str) -> FocusColumn:
    return FocusColumn(name, FocusType.TEXT, level, may_be_null=False, allowed=allowed)


def _cost(name: str, scale: int, level: FocusLevel = FocusLevel.MANDATORY) -> FocusColumn:
    return FocusColumn(name, FocusType.NUMBER, level, may_be_null=False, scale=scale)


def _number(name: str, scale: int, level: FocusLevel = FocusLevel.CONDITIONAL) -> FocusColumn:
    return FocusColumn(name, FocusType.NUMBER, level, scale=scale)


def _moment(name: str) -> FocusColumn:
    return FocusColumn(name, FocusType.MOMENT, FocusLevel.MANDATORY, may_be_null=False)


CATEGORIES = ("Usage", "Purchase", "Tax", "Credit", "Adjustment")
PRODUCT_SCALE = 22
"""A price has 16 decimals and a machine's hours 6; their product is never rounded."""
OLD_PROVIDERS = (_said("ProviderName"), _said("PublisherName"))
PROVIDERS: Mapping[str, tuple[FocusColumn, ...]] = {
    "1.0": OLD_PROVIDERS,
    "1.2": OLD_PROVIDERS,
    "1.4": (
        _said("ServiceProviderName"),
        _text("HostProviderName", FocusLevel.MANDATORY),
        _text("InvoiceDetailId"),
    ),
}
OF_ALL = (
    _cost("BilledCost", 6),
    _cost("EffectiveCost", 6),
    _cost("ContractedCost", PRODUCT_SCALE),
    _cost("ListCost", PRODUCT_SCALE),
    _said("BillingAccountId"),
    _text("BillingAccountName", FocusLevel.MANDATORY),
    _said("BillingCurrency"),
    _moment("BillingPeriodStart"),
    _moment("BillingPeriodEnd"),
    _said("ChargeCategory", FocusLevel.MANDATORY, *CATEGORIES),
    _text("ChargeClass", FocusLevel.MANDATORY, "Correction"),
    _text("ChargeDescription", FocusLevel.MANDATORY),
    _said("ChargeFrequency", FocusLevel.RECOMMENDED, "One-Time", "Recurring", "Usage-Based"),
    _moment("ChargePeriodStart"),
    _moment("ChargePeriodEnd"),
    _text("CommitmentDiscountCategory", FocusLevel.CONDITIONAL, "Spend", "Usage"),
    _text("CommitmentDiscountId"),
    _text("CommitmentDiscountName"),
    _number("CommitmentDiscountQuantity", 12),
    _text("CommitmentDiscountStatus", FocusLevel.CONDITIONAL, "Used", "Unused"),
    _text("CommitmentDiscountType"),
    _text("CommitmentDiscountUnit"),
    _number("ConsumedQuantity", 12),
    _text("ConsumedUnit"),
    _number("ContractedUnitPrice", 16),
    _text("InvoiceId"),
    _said("InvoiceIssuerName"),
    _number("ListUnitPrice", 16),
    _text("PricingCategory", FocusLevel.CONDITIONAL, "Standard", "Dynamic", "Committed", "Other"),
    _said("PricingCurrency", FocusLevel.CONDITIONAL),
    _number("PricingCurrencyContractedUnitPrice", 16),
    _cost("PricingCurrencyEffectiveCost", 6, FocusLevel.CONDITIONAL),
    _number("PricingCurrencyListUnitPrice", 16),
    _number("PricingQuantity", 12, FocusLevel.MANDATORY),
    _text("PricingUnit", FocusLevel.MANDATORY),
    _text("RegionId"),
    _text("RegionName"),
    _text("ResourceId"),
    _text("ResourceName"),
    _text("ResourceType"),
    _said("ServiceCategory", FocusLevel.MANDATORY, "Compute", "Storage", "Networking", "Other"),
    _said("ServiceName"),
    _said("ServiceSubcategory", FocusLevel.RECOMMENDED),
    _text("SkuId"),
    _text("SkuMeter"),
    FocusColumn("SkuPriceDetails", FocusType.JSON, FocusLevel.CONDITIONAL),
    _text("SkuPriceId"),
    FocusColumn("Tags", FocusType.JSON, FocusLevel.CONDITIONAL),
)
ALLOCATED = (
    FocusColumn("AllocatedMethodDetails", FocusType.JSON, FocusLevel.RECOMMENDED),
    _text("AllocatedMethodId"),
    _text("AllocatedResourceId"),
    _text("AllocatedResourceName"),
    FocusColumn("AllocatedTags", FocusType.JSON, FocusLevel.CONDITIONAL),
)
STATES = ("Active", "HeldIdle", "Unobserved", "OutOfService", "Stranded", "Unallocated")
STATUSES = ("Provisional", "Estimated", "Reconciled", "Restated")
CUSTOM = tuple(
    FocusColumn(name, FocusType.TEXT, FocusLevel.CUSTOM, allowed=allowed)
    for name, allowed in (
        ("x_ChargeId", ()),
        ("x_ChargeKind", ()),
        ("x_CorrectsMonth", ()),
        ("x_CostCentre", ()),
        ("x_GpuModel", ()),
        ("x_GpuState", STATES),
        ("x_JobId", ()),
        ("x_PolicyVersion", ()),
        ("x_ReconciliationStatus", STATUSES),
        ("x_TeamId", ()),
        ("x_TeamName", ()),
        ("x_UnknownCosts", ()),
        ("x_WorkloadName", ()),
        ("x_WorkloadType", ()),
    )
)
SINCE_1_1 = frozenset(
    {
        *("CommitmentDiscountQuantity", "CommitmentDiscountUnit", "ServiceSubcategory"),
        *("SkuMeter", "SkuPriceDetails"),
    }
)
SINCE_1_2 = frozenset(
    {
        *("InvoiceId", "PricingCurrency", "PricingCurrencyContractedUnitPrice"),
        *("PricingCurrencyEffectiveCost", "PricingCurrencyListUnitPrice"),
    }
)


def _custom(columns: Iterable[FocusColumn]) -> tuple[FocusColumn, ...]:
    """What a version has no column for yet, as columns of our own with the names that it got."""
    return tuple(
        replace(column, name=f"x_{column.name}", level=FocusLevel.CUSTOM, of=column.name)
        for column in columns
    )


LATER = SINCE_1_1 | SINCE_1_2
COLUMNS: Mapping[str, tuple[FocusColumn, ...]] = {
    "1.0": (
        *(column for column in OF_ALL if column.name not in LATER),
        *PROVIDERS["1.0"],
        _text("SubAccountId"),
        _text("SubAccountName"),
        *_custom(ALLOCATED),
        *_custom(column for column in OF_ALL if column.name in LATER),
        *CUSTOM,
    ),
    "1.2": (*OF_ALL, *PROVIDERS["1.2"], *_custom(ALLOCATED), *CUSTOM),
    "1.4": (*ALLOCATED, *OF_ALL, *PROVIDERS["1.4"], *CUSTOM),
}
"""Columns by version, in the order in which they are written: FOCUS first, then our own."""
