"""Spot prices as a CSV file, point by point, into rates or reasons."""

from collections.abc import Iterable, Mapping

from apps.economics.purchase import PurchaseOption
from apps.pricing.actions import EnteredRate
from apps.pricing.actions.price_table import PriceTable, read_table
from apps.pricing.actions.table_cells import decimal_in, moment_in, parse_integer_cell
from apps.pricing.queries import RateKind, RateUnit

NEEDED = ("provider", "region", "at", "amount", "currency")
MACHINES = ("instance_type", "gpu_model")
OPTIONAL = ("quantity_seconds", "unit", "source")


def read_spot_table(lines: Iterable[str]) -> PriceTable:
    """Read a CSV file with a header of NEEDED, one or both of MACHINES and any of OPTIONAL.

    `at` is a moment in ISO 8601, UTC where no offset is said. Refuses ColumnsUnknown; a bad row is
    rejected with its line and reason, and the others are kept.
    """
    return read_table(lines, _columns_amiss, _rate_of_row)


def _columns_amiss(header: set[str]) -> tuple[list[str], list[str]]:
    missing = sorted(set(NEEDED) - header)
    if not header & set(MACHINES):
        missing.append(" or ".join(MACHINES))
    return missing, sorted(header - {*NEEDED, *MACHINES, *OPTIONAL})


def _rate_of_row(text: Mapping[str, str]) -> EnteredRate:
    at = moment_in("at", text["at"])
    return EnteredRate(
        kind=RateKind.LIST,
        amount=decimal_in("amount", text["amount"]),
        currency=text["currency"],
        starts_at=at,
        purchase_option=PurchaseOption.SPOT,
        provider=text["provider"],
        region=text["region"],
        instance_type=text.get("instance_type", ""),
        gpu_model=text.get("gpu_model", ""),
        quantity_seconds=parse_integer_cell(
            "quantity_seconds", text.get("quantity_seconds") or "3600"
        ),
        unit=text.get("unit") or RateUnit.NODE,
        source=text.get("source", ""),
        source_date=at.date(),
    )
