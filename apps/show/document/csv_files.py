"""A document's table as a CSV file: every column, exact values, nothing where a value is not known."""

from apps.show.csv_cells import csv_text_of
from apps.show.document.model import DocumentLocale, DocumentTable


def csv_of_table(table: DocumentTable, locale: DocumentLocale) -> str:
    """Its rows, without those that stand for others."""
    return csv_text_of(
        [column.name for column in table.columns],
        (
            [
                column.format.csv_cell(value, locale)
                for column, value in zip(table.columns, row, strict=True)
            ]
            for row in table.rows
        ),
    )
