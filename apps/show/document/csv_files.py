"""A document's table as a CSV file: every column, exact values, nothing where a value is not known."""

import csv
import io

from apps.show.document.model import DocumentLocale, DocumentTable


def csv_of_table(table: DocumentTable, locale: DocumentLocale) -> str:
    """Its rows, without those that stand for others."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([column.name for column in table.columns])
    writer.writerows(
        [
            "" if value is None else column.format.written(value, locale)
            for column, value in zip(table.columns, row, strict=True)
        ]
        for row in table.rows
    )
    return out.getvalue()
