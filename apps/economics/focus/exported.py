"""The columns of the files that Runrate writes, in FOCUS 1.0, 1.2 and 1.4: type, level, nulls, values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias

Cell: TypeAlias = str | Decimal | datetime | None


class Type(StrEnum):
    """What a column holds."""

    TEXT = "String"
    NUMBER = "Decimal"
    MOMENT = "Date/Time"
    JSON = "JSON"


class Level(StrEnum):
    """How FOCUS asks for a column; custom ones are ours."""

    MANDATORY = "Mandatory"
    CONDITIONAL = "Conditional"
    RECOMMENDED = "Recommended"
    CUSTOM = "Custom"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: `scale` is how many decimals a number may have, `allowed` its only values.

    Its cells are those of `of` where that is another name.
    """

    name: str
    type: Type
    level: Level
    may_be_null: bool = True
    scale: int = 0
    allowed: tuple[str, ...] = ()
    of: str = ""

    def cell_of(self, row: Mapping[str, Cell]) -> Cell:
        """What a row has for it; None where it says nothing."""
        return row.get(self.of or self.name)


def _text(name: str, level: Level = Level.CONDITIONAL, *allowed: str) -> Column:
    return Column(name, Type.TEXT, level, allowed=allowed)


def _said(name: str, level: Level = Level.MANDATORY, *allowed: str) -> Column:
    return Column(name, Type.TEXT, level, may_be_null=False, allowed=allowed)


def _cost(name: str, scale: int, level: Level = Level.MANDATORY) -> Column:
    return Column(name, Type.NUMBER, level, may_be_null=False, scale=scale)


def _number(name: str, scale: int, level: Level = Level.CONDITIONAL) -> Column:
    return Column(name, Type.NUMBER, level, scale=scale)


def _moment(name: str) -> Column:
    return Column(name, Type.MOMENT, Level.MANDATORY, may_be_null=False)


CATEGORIES = ("Usage", "Purchase", "Tax", "Credit", "Adjustment")
PRODUCT_SCALE = 22
"""A price has 16 decimals and a machine's hours 6; their product is never rounded."""
OLD_PROVIDERS = (_said("ProviderName"), _said("PublisherName"))
PROVIDERS: Mapping[str, tuple[Column, ...]] = {
    "1.0": OLD_PROVIDERS,
    "1.2": OLD_PROVIDERS,
    "1.4": (
        _said("ServiceProviderName"),
        _text("HostProviderName", Level.MANDATORY),
        _text("InvoiceDetailId"),
    ),
}
OF_ALL = (
    _cost("BilledCost", 6),
    _cost("EffectiveCost", 6),
    _cost("ContractedCost", PRODUCT_SCALE),
    _cost("ListCost", PRODUCT_SCALE),
    _said("BillingAccountId"),
    _text("BillingAccountName", Level.MANDATORY),
    _said("BillingCurrency"),
    _moment("BillingPeriodStart"),
    _moment("BillingPeriodEnd"),
    _said("ChargeCategory", Level.MANDATORY, *CATEGORIES),
    _text("ChargeClass", Level.MANDATORY, "Correction"),
    _text("ChargeDescription", Level.MANDATORY),
    _said("ChargeFrequency", Level.RECOMMENDED, "One-Time", "Recurring", "Usage-Based"),
    _moment("ChargePeriodStart"),
    _moment("ChargePeriodEnd"),
    _text("CommitmentDiscountCategory", Level.CONDITIONAL, "Spend", "Usage"),
    _text("CommitmentDiscountId"),
    _text("CommitmentDiscountName"),
    _number("CommitmentDiscountQuantity", 12),
    _text("CommitmentDiscountStatus", Level.CONDITIONAL, "Used", "Unused"),
    _text("CommitmentDiscountType"),
    _text("CommitmentDiscountUnit"),
    _number("ConsumedQuantity", 12),
    _text("ConsumedUnit"),
    _number("ContractedUnitPrice", 16),
    _text("InvoiceId"),
    _said("InvoiceIssuerName"),
    _number("ListUnitPrice", 16),
    _text("PricingCategory", Level.CONDITIONAL, "Standard", "Dynamic", "Committed", "Other"),
    _said("PricingCurrency", Level.CONDITIONAL),
    _number("PricingCurrencyContractedUnitPrice", 16),
    _cost("PricingCurrencyEffectiveCost", 6, Level.CONDITIONAL),
    _number("PricingCurrencyListUnitPrice", 16),
    _number("PricingQuantity", 12, Level.MANDATORY),
    _text("PricingUnit", Level.MANDATORY),
    _text("RegionId"),
    _text("RegionName"),
    _text("ResourceId"),
    _text("ResourceName"),
    _text("ResourceType"),
    _said("ServiceCategory", Level.MANDATORY, "Compute", "Storage", "Networking", "Other"),
    _said("ServiceName"),
    _said("ServiceSubcategory", Level.RECOMMENDED),
    _text("SkuId"),
    _text("SkuMeter"),
    Column("SkuPriceDetails", Type.JSON, Level.CONDITIONAL),
    _text("SkuPriceId"),
    Column("Tags", Type.JSON, Level.CONDITIONAL),
)
ALLOCATED = (
    Column("AllocatedMethodDetails", Type.JSON, Level.RECOMMENDED),
    _text("AllocatedMethodId"),
    _text("AllocatedResourceId"),
    _text("AllocatedResourceName"),
    Column("AllocatedTags", Type.JSON, Level.CONDITIONAL),
)
STATES = ("Active", "HeldIdle", "Unobserved", "OutOfService", "Stranded", "Unallocated")
STATUSES = ("Provisional", "Estimated", "Reconciled", "Restated")
CUSTOM = tuple(
    Column(name, Type.TEXT, Level.CUSTOM, allowed=allowed)
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


def _custom(columns: Iterable[Column]) -> tuple[Column, ...]:
    """What a version has no column for yet, as columns of our own with the names that it got."""
    return tuple(
        replace(column, name=f"x_{column.name}", level=Level.CUSTOM, of=column.name)
        for column in columns
    )


LATER = SINCE_1_1 | SINCE_1_2
COLUMNS: Mapping[str, tuple[Column, ...]] = {
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
