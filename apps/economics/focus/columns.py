"""Columns of a bill by their FOCUS 1.4 names, whatever version or spelling they came in."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# FOCUS 0.5 to 1.3 to 1.4: what was renamed, and what stands in where a newer column is absent.
RENAMED = {
    "AmortizedCost": "EffectiveCost",
    "ChargeType": "ChargeCategory",
    "ContractID": "ContractId",
    "Provider": "ServiceProviderName",
    "ProviderName": "ServiceProviderName",
    "Publisher": "HostProviderName",
    "PublisherName": "HostProviderName",
    "InvoiceIssuer": "InvoiceIssuerName",
    "Region": "RegionId",
    "UsageQuantity": "ConsumedQuantity",
    "UsageUnit": "ConsumedUnit",
    "ListPrice": "ListUnitPrice",
    "CommitmentDiscountCost": "EffectiveCost",
}
STAND_INS = {"SkuMeter": "xusagetype"}
"""Columns that an exporter added before its FOCUS had one: AWS's usage type, until 1.1. It stays among the others."""
REQUIRED = (
    "BilledCost",
    "BillingAccountId",
    "BillingCurrency",
    "BillingPeriodStart",
    "BillingPeriodEnd",
    "ChargeCategory",
    "ChargePeriodStart",
    "ChargePeriodEnd",
)
"""Without these a file is no bill."""

READ = (
    *REQUIRED,
    "CapacityReservationStatus",
    "ChargeClass",
    "ChargeDescription",
    "CommitmentDiscountId",
    "CommitmentDiscountStatus",
    "ConsumedQuantity",
    "ConsumedUnit",
    "ContractedCost",
    "ContractedUnitPrice",
    "EffectiveCost",
    "InvoiceId",
    "InvoiceIssuerName",
    "ListCost",
    "ListUnitPrice",
    "PricingCategory",
    "PricingQuantity",
    "PricingUnit",
    "RegionId",
    "ResourceId",
    "ResourceType",
    "ServiceCategory",
    "ServiceName",
    "ServiceProviderName",
    "SkuId",
    "SkuMeter",
    "SubAccountId",
    "Tags",
)
"""Columns with a field of their own; every other one is kept beside them."""

# Columns that tell a version apart: the newest that a file has names it.
SIGNS = (
    ("1.4", ("InvoiceDetailId", "CommitmentProgramEligibilityDetails")),
    ("1.3", ("ServiceProviderName", "HostProviderName", "AllocatedMethodId", "ContractApplied")),
    ("1.2", ("InvoiceId", "PricingCurrency", "SubAccountType", "BillingAccountType")),
    ("1.1", ("CapacityReservationId", "SkuMeter", "SkuPriceDetails", "ServiceSubcategory")),
    ("1.0", ("ContractedCost", "ConsumedQuantity", "ListCost", "ProviderName")),
)


NATIVE = (
    (
        ("usagestarttime", "costtype", "currencyconversionrate"),
        "this is Google Cloud's own export: switch its FOCUS usage cost export to BigQuery on "
        "(Billing, Billing export) and send that table as CSV or Parquet",
    ),
    *(
        (
            signs,
            "this is Azure's own cost details: create an export of the type 'Cost and usage details "
            "(FOCUS)' in Cost Management and send its files",
        )
        for signs in (
            ("meterid", "metercategory"),
            ("subscriptionid", "meterid"),
            ("subscriptionid", "resourcegroup"),
            ("subscriptionguid",),
            ("costinbillingcurrency",),
        )
    ),
    (
        ("invoicedetailid",),
        "this is FOCUS's Invoice Detail, which says what is owed and not for which use: send its "
        "Cost and Usage, whose rows have the same invoices",
    ),
    (
        ("contractcommitmentid",),
        "this is FOCUS's Contract Commitment: send its Cost and Usage, and put what was bought on "
        "record under Commitments",
    ),
)
"""Columns by which exports that are no FOCUS are known, and how to get FOCUS instead."""


class NotABill(ValueError):
    """A file's columns are not those of a bill."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a file keeps each column: positions by FOCUS name, the rest as (position, name)."""

    version: str
    at: Mapping[str, int]
    others: tuple[tuple[int, str], ...]


def layout_of(names: Sequence[str]) -> Layout:
    """The layout of a header; spelling (case, underscores) does not matter. Refuses NotABill."""
    at: dict[str, int] = {}
    others: list[tuple[int, str]] = []
    for position, name in enumerate(names):
        focus = _focus_name(name)
        if focus is not None and focus not in at:
            at[focus] = position
        else:
            others.append((position, name))
    for name, stand_in in STAND_INS.items():
        positions = [position for position, other in others if plain_name(other) == stand_in]
        if name not in at and positions:
            at[name] = positions[0]
    missing = [name for name in REQUIRED if name not in at]
    if missing:
        message = f"the header has no {', '.join(missing)}"
        present = {plain_name(name) for name in names}
        words = next((how for signs, how in NATIVE if present.issuperset(signs)), "")
        raise NotABill(f"{message}; {words}" if words else message)
    return Layout(_focus_version(names), at, tuple(others))


def count_recognised_columns(names: Sequence[str]) -> int:
    """How many of them a bill may have, in any version's spelling."""
    return sum(_focus_name(name) is not None for name in names)


def _focus_name(name: str) -> str | None:
    if name[:2].lower() == "x_":
        return None
    return SPELLINGS.get(plain_name(name))


def _focus_version(names: Sequence[str]) -> str:
    present = {plain_name(name) for name in names}
    for version, signs in SIGNS:
        if any(plain_name(sign) in present for sign in signs):
            return version
    return "1.0"


def plain_name(name: str) -> str:
    """A column's name without case, spaces, underscores or slashes: how files spell it."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


SPELLINGS = {plain_name(name): name for name in READ} | {
    plain_name(old): new for old, new in RENAMED.items()
}
