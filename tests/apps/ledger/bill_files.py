"""Files of bills as tests deliver them."""

import csv
import gzip
import io
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from apps.ledger.actions.bill_taking import take_bill
from apps.ledger.actions.bills import Taken
from apps.ledger.providers.bill_file import open_bill
from tests import make
from tests.economics.focus_tables import HOUR_OF_A_NODE

Rows = Sequence[Mapping[str, str]]


def hour_row(cost: str = "55.04", **given: str) -> dict[str, str]:
    """An hour of a machine in July 2026, of this effective and billed cost."""
    told = {name: str(cell) for name, cell in HOUR_OF_A_NODE.items()}
    return told | {"EffectiveCost": cost, "BilledCost": cost} | given


def text_of(rows: Rows) -> str:
    """The file as CSV."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def write(path: Path, rows: Rows) -> Path:
    """The file as CSV; compressed where its name says so."""
    data = text_of(rows).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def take_file(path: Path, *, is_addition: bool = False, clock: Callable[[], datetime]) -> Taken:
    """Take this file in at a moment."""
    with open_bill(path) as file:
        return take_bill(file=file, is_addition=is_addition, clock=clock)


def deliver(folder: Path, *rows: Mapping[str, str], is_addition: bool = False) -> Taken:
    """Take in a file of these rows."""
    return take(write(folder / "bill.csv", rows), is_addition=is_addition)


def take(path: Path, *, is_addition: bool = False) -> Taken:
    """Take this file in."""
    return take_file(path, is_addition=is_addition, clock=lambda: make.NOON)
