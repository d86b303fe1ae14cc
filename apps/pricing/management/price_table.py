"""A price table as a CSV file, row by row, into rates or reasons."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from apps.economics.tiers import NotTiers, Tier, parsed
from apps.pricing.actions import NewRate, RefusedRow
from apps.pricing.management.table_cells import day_in, decimal_in, whole_number_in

REVIEWED = Path(__file__).with_name("price_table.csv")
COLUMNS = (
    "provider",
    "region",
    "instance_type",
    "gpu_model",
    "pool",
    "purchase_option",
    "kind",
    "amount",
    "currency",
    "quantity_seconds",
    "unit",
    "valid_from",
    "valid_to",
    "source",
    "source_date",
)
OPTIONAL = frozenset({"tiers"})


class ColumnsUnknown(ValueError):
    """The header is not that of a price table; the message names the columns."""


@dataclass(frozen=True, slots=True)
class PriceTable:
    """What could be read of a file: rates by line number, and the lines that are none."""

    rows: tuple[tuple[int, NewRate], ...]
    rejected: tuple[RefusedRow, ...]


def read_price_table(lines: Iterable[str], *, pool_ids: Mapping[str, int]) -> PriceTable:
    """Read a CSV file with a header of COLUMNS in any order; `pool` is a pool's name or empty.

    A column `tiers` may tell what more costs in a month, as in `1000=8; 5000=7`.

    Every price says its source and the source's date. Refuses ColumnsUnknown; a bad row is
    rejected with its line and reason, and the others are kept.
    """
    reader = csv.DictReader(lines)
    _refuse_columns(reader.fieldnames or ())
    rows: list[tuple[int, NewRate]] = []
    rejected: list[RefusedRow] = []
    for row in reader:
        try:
            rows.append((reader.line_num, _rate_of_row(row, pool_ids)))
        except ValueError as reason:
            rejected.append(RefusedRow(reader.line_num, str(reason)))
    return PriceTable(tuple(rows), tuple(rejected))


def _refuse_columns(names: Iterable[str]) -> None:
    header = set(names)
    missing, unknown = set(COLUMNS) - header, header - set(COLUMNS) - OPTIONAL
    if missing or unknown:
        raise ColumnsUnknown(
            f"missing columns: {', '.join(sorted(missing)) or 'none'}; "
            f"unknown columns: {', '.join(sorted(unknown)) or 'none'}"
        )


def _rate_of_row(row: Mapping[str | None, str | None], pool_ids: Mapping[str, int]) -> NewRate:
    if None in row or None in row.values():
        raise ValueError(f"the row does not have {len(COLUMNS)} fields")
    text = {str(name): str(value).strip() for name, value in row.items()}
    if not text["source"]:
        raise ValueError("source: a price says where it comes from")
    if text["pool"] and text["pool"] not in pool_ids:
        raise ValueError(f"pool: there is no pool named {text['pool']!r}")
    return NewRate(
        kind=text["kind"],
        amount=decimal_in("amount", text["amount"]),
        currency=text["currency"],
        starts_at=_midnight_of_day("valid_from", text["valid_from"]),
        ends_at=_midnight_of_day("valid_to", text["valid_to"]),
        purchase_option=text["purchase_option"],
        provider=text["provider"],
        region=text["region"],
        instance_type=text["instance_type"],
        gpu_model=text["gpu_model"],
        pool_id=pool_ids[text["pool"]] if text["pool"] else None,
        quantity_seconds=whole_number_in("quantity_seconds", text["quantity_seconds"]),
        unit=text["unit"],
        source=text["source"],
        source_date=day_in("source_date", text["source_date"]),
        tiers=_tiers_of_text(text.get("tiers", "")),
    )


def _tiers_of_text(text: str) -> tuple[Tier, ...]:
    try:
        return parsed(text)
    except NotTiers as refusal:
        raise ValueError(f"tiers: {refusal}") from None


def _midnight_of_day(field: str, text: str) -> datetime | None:
    if not text:
        return None
    day = day_in(field, text)
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
