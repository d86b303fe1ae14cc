"""The columns of the files that Runrate writes, in FOCUS 1.0, 1.2 and 1.4: type, level, nulls, values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias

Cell: TypeAlias = str | Decimal | datetime | None


class FocusType(StrEnum):
    """The type of a column's values."""

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
        """Return the value that a row has for this column; None where it says nothing."""
        return row.get(self.of or self.name)


def _null_text(name: str, level: FocusLevel = FocusLevel.CONDITIONAL, *allowed: str) -> FocusColumn:
    return FocusColumn(name, FocusType.TEXT, level, allowed=allowed)


def _full_text(name: str, level: FocusLevel = FocusLevel.MANDATORY, *allowed: str) -> FocusColumn:
    return FocusColumn(name, FocusType.TEXT, level, may_be_null=False, allowed=allowed)


def _cost_column(name: str, scale: int, level: FocusLevel = FocusLevel.MANDATORY) -> FocusColumn:
    return FocusColumn(name, FocusType.NUMBER, level, may_be_null=False, scale=scale)


def _null_number(name: str, scale: int, level: FocusLevel = FocusLevel.CONDITIONAL) -> FocusColumn:
    return FocusColumn(name, FocusType.NUMBER, level, scale=scale)


def _moment_column(name: str) -> FocusColumn:
    return FocusColumn(name, FocusType.MOMENT, FocusLevel.MANDATORY, may_be_null=False)


CATEGORIES = ("Usage", "Purchase", "Tax", "Credit", "Adjustment")
PRODUCT_SCALE = 22
"""A price has 16 decimals and a machine's hours 6; their product is never rounded."""
OLD_PROVIDERS = (_full_text("ProviderName"), _full_text("PublisherName"))
PROVIDERS: Mapping[str, tuple[FocusColumn, ...]] = {
    "1.0": OLD_PROVIDERS,
    "1.2": OLD_PROVIDERS,
    "1.4": (
        _full_text("ServiceProviderName"),
        _null_text("HostProviderName", FocusLevel.MANDATORY),
        _null_text("InvoiceDetailId"),
    ),
}
OF_ALL = (
    _cost_column("BilledCost", 6),
    _cost_column("EffectiveCost", 6),
    _cost_column("ContractedCost", PRODUCT_SCALE),
    _cost_column("ListCost", PRODUCT_SCALE),
    _full_text("BillingAccountId"),
    _null_text("BillingAccountName", FocusLevel.MANDATORY),
    _full_text("BillingCurrency"),
    _moment_column("BillingPeriodStart"),
    _moment_column("BillingPeriodEnd"),
    _full_text("ChargeCategory", FocusLevel.MANDATORY, *CATEGORIES),
    _null_text("ChargeClass", FocusLevel.MANDATORY, "Correction"),
    _null_text("ChargeDescription", FocusLevel.MANDATORY),
    _full_text("ChargeFrequency", FocusLevel.RECOMMENDED, "One-Time", "Recurring", "Usage-Based"),
    _moment_column("ChargePeriodStart"),
    _moment_column("ChargePeriodEnd"),
    _null_text("CommitmentDiscountCategory", FocusLevel.CONDITIONAL, "Spend", "Usage"),
    _null_text("CommitmentDiscountId"),
    _null_text("CommitmentDiscountName"),
    _null_number("CommitmentDiscountQuantity", 12),
    _null_text("CommitmentDiscountStatus", FocusLevel.CONDITIONAL, "Used", "Unused"),
    _null_text("CommitmentDiscountType"),
    _null_text("CommitmentDiscountUnit"),
    _null_number("ConsumedQuantity", 12),
    _null_text("ConsumedUnit"),
    _null_number("ContractedUnitPrice", 16),
    _null_text("InvoiceId"),
    _full_text("InvoiceIssuerName"),
    _null_number("ListUnitPrice", 16),
    _null_text(
        "PricingCategory", FocusLevel.CONDITIONAL, "Standard", "Dynamic", "Committed", "Other"
    ),
    _full_text("PricingCurrency", FocusLevel.CONDITIONAL),
    _null_number("PricingCurrencyContractedUnitPrice", 16),
    _cost_column("PricingCurrencyEffectiveCost", 6, FocusLevel.CONDITIONAL),
    _null_number("PricingCurrencyListUnitPrice", 16),
    _null_number("PricingQuantity", 12, FocusLevel.MANDATORY),
    _null_text("PricingUnit", FocusLevel.MANDATORY),
    _null_text("RegionId"),
    _null_text("RegionName"),
    _null_text("ResourceId"),
    _null_text("ResourceName"),
    _null_text("ResourceType"),
    _full_text(
        "ServiceCategory", FocusLevel.MANDATORY, "Compute", "Storage", "Networking", "Other"
    ),
    _full_text("ServiceName"),
    _full_text("ServiceSubcategory", FocusLevel.RECOMMENDED),
    _null_text("SkuId"),
    _null_text("SkuMeter"),
    FocusColumn("SkuPriceDetails", FocusType.JSON, FocusLevel.CONDITIONAL),
    _null_text("SkuPriceId"),
    FocusColumn("Tags", FocusType.JSON, FocusLevel.CONDITIONAL),
)
ALLOCATED = (
    FocusColumn("AllocatedMethodDetails", FocusType.JSON, FocusLevel.RECOMMENDED),
    _null_text("AllocatedMethodId"),
    _null_text("AllocatedResourceId"),
    _null_text("AllocatedResourceName"),
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


def _as_custom(columns: Iterable[FocusColumn]) -> tuple[FocusColumn, ...]:
    """Return the columns that a version does not have yet, as columns of our own with the names that it got."""
    return tuple(
        replace(column, name=f"x_{column.name}", level=FocusLevel.CUSTOM, of=column.name)
        for column in columns
    )


LATER = SINCE_1_1 | SINCE_1_2
COLUMNS: Mapping[str, tuple[FocusColumn, ...]] = {
    "1.0": (
        *(column for column in OF_ALL if column.name not in LATER),
        *PROVIDERS["1.0"],
        _null_text("SubAccountId"),
        _null_text("SubAccountName"),
        *_as_custom(ALLOCATED),
        *_as_custom(column for column in OF_ALL if column.name in LATER),
        *CUSTOM,
    ),
    "1.2": (*OF_ALL, *PROVIDERS["1.2"], *_as_custom(ALLOCATED), *CUSTOM),
    "1.4": (*ALLOCATED, *OF_ALL, *PROVIDERS["1.4"], *CUSTOM),
}
"""Columns by version, in the order in which they are written: FOCUS first, then our own."""
