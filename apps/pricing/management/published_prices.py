"""Published prices in a file: a plain CSV, Azure's retail prices, or Google Cloud's price catalogue, as rates by row."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from io import TextIOWrapper
from typing import IO, Any, cast

from apps.economics.focus.names import provider_word
from apps.economics.gpu_catalogue import named_gpu
from apps.economics.gpu_machines import machine_name
from apps.economics.purchase import PurchaseOption
from apps.files.lines import CsvRows, LineTooLong, bounded_lines
from apps.pricing.actions import EnteredRate, RefusedRow
from apps.pricing.actions.table_cells import day_in, decimal_in
from apps.pricing.management.google_card import rates_of_card
from apps.pricing.queries import RateKind, RateUnit

MOST_BYTES = 256 << 20
COLUMNS = (
    *("provider", "region", "machine", "purchase_option", "price", "currency", "unit"),
    *("source", "date"),
)
UNITS = {"node": RateUnit.NODE, "machine": RateUnit.NODE, "gpu": RateUnit.GPU}
OPTIONS = {
    "on_demand": PurchaseOption.ON_DEMAND,
    "ondemand": PurchaseOption.ON_DEMAND,
    "payg": PurchaseOption.ON_DEMAND,
    "spot": PurchaseOption.SPOT,
    "preemptible": PurchaseOption.SPOT,
    "reserved": PurchaseOption.RESERVED,
}
"""How files spell ways of buying; blanks and dashes are underscores, and case does not matter."""
AZURE_GPU_SIZES = ("Standard_NC", "Standard_ND", "Standard_NG", "Standard_NV")


class PublishedPricesUnreadable(ValueError):
    """The file is none of the three kinds, or too large; the message says what it lacks."""


@dataclass(frozen=True, slots=True)
class PublishedPrices:
    """Rates by row, rows that are none with the reason, and how many rows are of other things than machines with GPUs."""

    rows: tuple[tuple[int, EnteredRate], ...]
    rejected: tuple[RefusedRow, ...]
    others: int = 0
    remarks: tuple[str, ...] = ()


def read_published_prices(source: IO[bytes], *, read_on: date, today: date) -> PublishedPrices:
    """Read prices of machines for an hour; `read_on` is the day on which the file was had from its publisher.

    What ended before it is no price any more, and none is read later than `today`.

    A CSV has a header of COLUMNS; JSON is what the API answered, a page or a list of pages. Rows of JSON count from 1,
    over all pages. Refuses PublishedPricesUnreadable.
    """
    start = source.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    source.seek(0)
    if start not in (b"{", b"["):
        return _of_csv(source, today)
    text = source.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise PublishedPricesUnreadable(f"it has more than {MOST_BYTES >> 20} MiB")
    try:
        document = json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as broken:
        raise PublishedPricesUnreadable(f"it is no JSON: {broken}") from broken
    pages = document if isinstance(document, list) else [document]
    for key, read in (("Items", _of_azure), ("skus", _of_google)):
        if pages and all(
            isinstance(page, dict) and isinstance(page.get(key), list) for page in pages
        ):
            return read([row for page in pages for row in page[key]], read_on)
    raise PublishedPricesUnreadable(
        "its pages have neither `Items` (Azure retail prices) nor `skus` (Google Cloud's catalogue)"
    )


def _of_csv(source: IO[bytes], today: date) -> PublishedPrices:
    text = TextIOWrapper(cast(Any, source), "utf-8-sig", newline="")
    try:
        rows = CsvRows(bounded_lines(text, MOST_BYTES), ",")
        header = [name.strip().lower() for name in next(rows, [])]
        missing = [name for name in COLUMNS if name not in header]
        if missing:
            raise PublishedPricesUnreadable(f"its header lacks {', '.join(missing)}")
        return _taken(_csv_rows(rows, header), lambda row: _rate_of_csv_row(row, today))
    except (UnicodeDecodeError, csv.Error, LineTooLong) as broken:
        raise PublishedPricesUnreadable(f"it is no CSV: {broken}") from broken
    finally:
        # The file stays its opener's to close.
        text.detach()


def _csv_rows(rows: CsvRows, header: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    for cells in rows:
        if cells:
            text = [cell.strip() for cell in cells]
            fits = len(text) == len(header)
            yield rows.line_num, dict(zip(header, text, strict=True)) if fits else {}


def _rate_of_csv_row(row: Mapping[str, str], today: date) -> EnteredRate:
    if not row:
        raise ValueError("the row does not have as many fields as the header")
    for name in ("provider", "machine", "currency", "source"):
        if not row[name]:
            raise ValueError(f"{name}: it is empty")
    option = OPTIONS.get(row["purchase_option"].lower().replace("-", "_").replace(" ", "_"))
    if option is None:
        raise ValueError(
            f"purchase_option: {row['purchase_option']!r} is none of {', '.join(OPTIONS)}"
        )
    unit = UNITS.get(row["unit"].lower())
    if unit is None:
        raise ValueError(f"unit: {row['unit']!r} is none of {', '.join(UNITS)}, each for an hour")
    amount = decimal_in("price", row["price"])
    if not amount:
        raise ValueError("price: nobody sells a machine for 0; leave out what has no price")
    day = day_in("date", row["date"])
    # Somewhere it may be tomorrow already.
    if day > today + timedelta(days=1):
        raise ValueError(f"date: {day} is to come; it is the day on which the price was read")
    provider = provider_word(row["provider"])
    model = _gpu_named(row["machine"], unit)
    return EnteredRate(
        kind=RateKind.LIST,
        amount=amount,
        currency=row["currency"].upper(),
        starts_at=_midnight(day),
        purchase_option=option,
        provider=provider,
        region=row["region"],
        unit=unit,
        source=row["source"],
        source_date=day,
        gpu_model=model,
        instance_type="" if model else machine_name(provider, row["machine"]),
    )


def _gpu_named(machine: str, unit: RateUnit) -> str:
    """The model whose price it is; empty: it names a machine type. A name of a GPU that could be read otherwise is none."""
    named = named_gpu(machine)
    if not named.candidates:
        return ""
    if unit != RateUnit.GPU:
        raise ValueError(f"machine: {machine!r} is a GPU: its price is one for a gpu")
    if named.part != 1:
        raise ValueError(f"machine: {machine!r} is a part of a GPU; prices are of whole ones")
    if len(named.candidates) > 1:
        models = ", ".join(sorted(model.name for model in named.candidates))
        raise ValueError(f"machine: {machine!r} may be any of {models}: say which")
    return named.candidates[0].name


def _of_azure(items: Sequence[Any], read_on: date) -> PublishedPrices:
    numbered = list(enumerate(items, 1))
    ours = [(row, item) for row, item in numbered if _is_gpu_machine(item)]
    read = _taken(ours, lambda item: _rate_of_azure(item, read_on))
    return PublishedPrices(read.rows, read.rejected, others=len(numbered) - len(ours))


def _is_gpu_machine(item: Any) -> bool:
    """Whether it is a Linux machine with GPUs for an hour; Windows, DevTest and terms are other products."""
    return (
        isinstance(item, Mapping)
        and item.get("serviceName") == "Virtual Machines"
        and item.get("type") == "Consumption"
        and str(item.get("armSkuName", "")).startswith(AZURE_GPU_SIZES)
        and "Windows" not in str(item.get("productName", ""))
        # A withdrawn way of buying: neither on demand nor spot.
        and "Low Priority" not in str(item.get("skuName", ""))
    )


def _rate_of_azure(item: Mapping[str, Any], read_on: date) -> EnteredRate:
    for name in ("armRegionName", "currencyCode", "retailPrice", "effectiveStartDate", "meterId"):
        if item.get(name) in (None, ""):
            raise ValueError(f"{name}: it is absent")
    if item.get("unitOfMeasure") != "1 Hour":
        raise ValueError(f"unitOfMeasure: {item.get('unitOfMeasure')!r} is not '1 Hour'")
    if item.get("tierMinimumUnits") not in (None, 0):
        raise ValueError("tierMinimumUnits: a price from a quantity on is not read")
    ends_on = item.get("effectiveEndDate")
    if ends_on and day_in("effectiveEndDate", str(ends_on)[:10]) < read_on:
        raise ValueError(f"effectiveEndDate: the price ended on {str(ends_on)[:10]}")
    is_spot = str(item.get("skuName", "")).endswith(" Spot")
    amount = decimal_in("retailPrice", str(item["retailPrice"]))
    if not amount:
        raise ValueError("retailPrice: 0 is what Azure lists of sizes that it does not sell there")
    return EnteredRate(
        kind=RateKind.LIST,
        amount=amount,
        currency=str(item["currencyCode"]),
        starts_at=_midnight(day_in("effectiveStartDate", str(item["effectiveStartDate"])[:10])),
        purchase_option=PurchaseOption.SPOT if is_spot else PurchaseOption.ON_DEMAND,
        provider="azure",
        region=str(item["armRegionName"]),
        instance_type=str(item["armSkuName"]),
        source=f"Azure Retail Prices API, meter {item['meterId']}",
        source_date=read_on,
    )


def _of_google(skus: Sequence[Any], read_on: date) -> PublishedPrices:
    card = rates_of_card(skus, read_on)
    return PublishedPrices(card.rows, card.rejected, card.others, card.remarks)


def _taken(numbered: Iterable[tuple[int, Any]], rate_of: Any) -> PublishedPrices:
    rows: list[tuple[int, EnteredRate]] = []
    rejected: list[RefusedRow] = []
    for number, row in numbered:
        try:
            rows.append((number, rate_of(row)))
        except ValueError as reason:
            rejected.append(RefusedRow(number, str(reason)))
    return PublishedPrices(tuple(rows), tuple(rejected))


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
