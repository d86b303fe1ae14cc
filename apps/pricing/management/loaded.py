"""Report of what became of a table of prices, for the terminal."""

import json
from dataclasses import asdict
from typing import Protocol

from django.core.management.base import BaseCommand

from apps.pricing.actions import RefusedRow, TableLoaded


class RejectingRows(Protocol):
    """The rows read of a file: some of them could not be."""

    @property
    def rejected(self) -> tuple[RefusedRow, ...]:
        """Those rows, each with its reason."""


def report_loaded(
    command: BaseCommand, table: RejectingRows, loaded: TableLoaded, *, as_json: bool
) -> None:
    """Every rejected row by its line, what is to be said of others, then the figures."""
    rejected = sorted((*table.rejected, *loaded.rejected), key=lambda row: row.line)
    for row in rejected:
        command.stderr.write(f"line {row.line}: {row.reason}")
    for remark in loaded.remarks:
        command.stderr.write(f"line {remark.line}: {remark.remark}")
    figures = {
        "rows": loaded.imported + loaded.unchanged + loaded.waiting + len(rejected),
        "imported": loaded.imported,
        "unchanged": loaded.unchanged,
        "waiting": loaded.waiting,
        "rejected": [asdict(row) for row in rejected],
        "remarks": [asdict(row) for row in loaded.remarks],
    }
    if as_json:
        command.stdout.write(json.dumps(figures))
        return
    sentence = (
        f"{loaded.imported} prices loaded, {loaded.unchanged} known already, "
        f"{len(rejected)} rows rejected."
    )
    if loaded.waiting:
        sentence += f" {loaded.waiting} wait until a person of finance decides, on the page Prices."
    command.stdout.write(sentence)
