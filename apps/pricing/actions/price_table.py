"""A price table as a CSV file, row by row, into rates or reasons."""

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from apps.economics.tiers import NotTiers, Tier, parsed
from apps.pricing.actions.quoted import EnteredRate
from apps.pricing.actions.rates import RefusedRow
from apps.pricing.actions.table_cells import day_in, decimal_in, parse_integer_cell

REVIEWED = Path(__file__).with_name("price_table.csv")
SAID = (
    *("provider", "region", "instance_type", "gpu_model", "purchase_option", "kind"),
    *("currency", "unit", "source"),
)
COLUMNS = (*SAID, "pool", "amount", "quantity_seconds", "valid_from", "valid_to", "source_date")
OPTIONAL = frozenset({"tiers"})


class ColumnsUnknown(ValueError):
    """The header is not that of a price table; the message names the columns."""


@dataclass(frozen=True, slots=True)
class PriceTable:
    """The prices that could be read of a file: rates by line number, and the lines that are none."""

    rows: tuple[tuple[int, EnteredRate], ...]
    rejected: tuple[RefusedRow, ...]


def read_price_table(lines: Iterable[str], *, pool_ids: Mapping[str, int]) -> PriceTable:
    """Read a CSV file with a header of COLUMNS in any order; `pool` is a pool's name or empty.

    A column `tiers` may tell what more costs in a month, as in `1000=8; 5000=7`.

    Every price says its source and the source's date. Refuses ColumnsUnknown; a bad row is
    rejected with its line and reason, and the others are kept.
    """
    needed, column_names = set(COLUMNS), {*COLUMNS, *OPTIONAL}
    return read_table(
        lines,
        lambda header: (sorted(needed - header), sorted(header - column_names)),
        lambda text: _rate_of_row(text, pool_ids),
    )


def read_table(
    lines: Iterable[str],
    columns: Callable[[set[str]], tuple[list[str], list[str]]],
    rate_of: Callable[[Mapping[str, str]], EnteredRate],
) -> PriceTable:
    """The rows of a CSV file as rates; those of which `rate_of` refuses (ValueError) are rejected.

    `columns` says what a header lacks and what of it is unknown. Refuses ColumnsUnknown.
    """
    reader = csv.DictReader(lines)
    missing, unknown = columns(set(reader.fieldnames or ()))
    if missing or unknown:
        raise ColumnsUnknown(
            f"missing columns: {', '.join(missing) or 'none'}; "
            f"unknown columns: {', '.join(unknown) or 'none'}"
        )
    rows: list[tuple[int, EnteredRate]] = []
    rejected: list[RefusedRow] = []
    for row in reader:
        try:
            if None in row or None in row.values():
                raise ValueError("the row does not have as many fields as the header")
            text = {name: value.strip() for name, value in row.items()}
            rows.append((reader.line_num, rate_of(text)))
        except ValueError as reason:
            rejected.append(RefusedRow(reader.line_num, str(reason)))
    return PriceTable(tuple(rows), tuple(rejected))


def _rate_of_row(text: Mapping[str, str], pool_ids: Mapping[str, int]) -> EnteredRate:
    if not text["source"]:
        raise ValueError("source: a price says where it comes from")
    if text["pool"] and text["pool"] not in pool_ids:
        raise ValueError(f"pool: there is no pool named {text['pool']!r}")
    fields: dict[str, Any] = {name: text[name] for name in SAID}
    return EnteredRate(
        **fields,
        amount=decimal_in("amount", text["amount"]),
        starts_at=_midnight_of_day("valid_from", text["valid_from"]),
        ends_at=_midnight_of_day("valid_to", text["valid_to"]),
        pool_id=pool_ids[text["pool"]] if text["pool"] else None,
        quantity_seconds=parse_integer_cell("quantity_seconds", text["quantity_seconds"]),
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
