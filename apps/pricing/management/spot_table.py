"""Spot prices as a CSV file, point by point, into rates or reasons."""

import csv
from collections.abc import Iterable, Mapping

from apps.economics.purchase import PurchaseOption
from apps.pricing.actions import NewRate, RefusedRow
from apps.pricing.management.price_table import ColumnsUnknown, PriceTable
from apps.pricing.management.table_cells import decimal_in, moment_in, whole_number_in
from apps.pricing.queries import RateKind, RateUnit

NEEDED = ("provider", "region", "at", "amount", "currency")
MACHINES = ("instance_type", "gpu_model")
OPTIONAL = ("quantity_seconds", "unit", "source")


def read_spot_table(lines: Iterable[str]) -> PriceTable:
    """Read a CSV file with a header of NEEDED, one or both of MACHINES and any of OPTIONAL.

    `at` is a moment in ISO 8601, UTC where no offset is said. Refuses ColumnsUnknown; a bad row is
    rejected with its line and reason, and the others are kept.
    """
    reader = csv.DictReader(lines)
    _refuse_columns(reader.fieldnames or ())
    rows: list[tuple[int, NewRate]] = []
    rejected: list[RefusedRow] = []
    for row in reader:
        try:
            rows.append((reader.line_num, _rate_of_row(row)))
        except ValueError as reason:
            rejected.append(RefusedRow(reader.line_num, str(reason)))
    return PriceTable(tuple(rows), tuple(rejected))


def _refuse_columns(names: Iterable[str]) -> None:
    header = set(names)
    missing = sorted(set(NEEDED) - header)
    if not header & set(MACHINES):
        missing.append(" or ".join(MACHINES))
    unknown = sorted(header - {*NEEDED, *MACHINES, *OPTIONAL})
    if missing or unknown:
        raise ColumnsUnknown(
            f"missing columns: {', '.join(missing) or 'none'}; "
            f"unknown columns: {', '.join(unknown) or 'none'}"
        )


def _rate_of_row(row: Mapping[str | None, str | None]) -> NewRate:
    if None in row or None in row.values():
        raise ValueError("the row does not have as many fields as the header")
    text = {str(name): str(value).strip() for name, value in row.items()}
    at = moment_in("at", text["at"])
    return NewRate(
        kind=RateKind.LIST,
        amount=decimal_in("amount", text["amount"]),
        currency=text["currency"],
        starts_at=at,
        purchase_option=PurchaseOption.SPOT,
        provider=text["provider"],
        region=text["region"],
        instance_type=text.get("instance_type", ""),
        gpu_model=text.get("gpu_model", ""),
        quantity_seconds=whole_number_in(
            "quantity_seconds", text.get("quantity_seconds") or "3600"
        ),
        unit=text.get("unit") or RateUnit.NODE,
        source=text.get("source", ""),
        source_date=at.date(),
    )
