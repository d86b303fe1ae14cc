"""Bills as tests write them: one row of FOCUS 1.4, and the same in the words of older versions."""

from collections.abc import Mapping, Sequence

from apps.economics.focus.columns import layout_of
from apps.economics.focus.reading import RowReader
from apps.economics.focus.rows import BilledRow

HOUR_OF_A_NODE: Mapping[str, object] = {
    "InvoiceIssuerName": "A Cloud",
    "ServiceProviderName": "A Cloud",
    "BillingAccountId": "1234",
    "BillingCurrency": "USD",
    "BillingPeriodStart": "2026-07-01T00:00:00Z",
    "BillingPeriodEnd": "2026-08-01T00:00:00Z",
    "ChargePeriodStart": "2026-07-03T10:00:00Z",
    "ChargePeriodEnd": "2026-07-03T11:00:00Z",
    "ChargeCategory": "Usage",
    "ServiceCategory": "Compute",
    "ServiceName": "Machines",
    "ResourceId": "i-01",
    "RegionId": "eu-1",
    "PricingCategory": "Standard",
    "PricingQuantity": "1",
    "PricingUnit": "Hours",
    "ConsumedQuantity": "1",
    "ConsumedUnit": "Hours",
    "ListUnitPrice": "98.32",
    "ListCost": "98.32",
    "ContractedCost": "90.5",
    "EffectiveCost": "55.04",
    "BilledCost": "55.04",
    "Tags": '{"team": "research"}',
}


def read_row(**given: object) -> BilledRow:
    """That hour, with other cells where they are given."""
    return read(HOUR_OF_A_NODE | given)


def read(cells: Mapping[str, object]) -> BilledRow:
    """One row under its own names."""
    return read_cells(list(cells), list(cells.values()))


def read_cells(names: Sequence[str], cells: Sequence[object]) -> BilledRow:
    """One row under these names."""
    return RowReader(layout_of(names)).read(cells)
