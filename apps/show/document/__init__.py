"""Documents that go out on paper or by mail, said once: as HTML, plain text, CSV and PDF.

`pdf` is not imported here: it loads a typesetter, which web processes do without.
"""

from apps.show.document.csv_files import csv_of_table
from apps.show.document.html import document_html
from apps.show.document.model import (
    ColumnRoom,
    DocumentBar,
    DocumentBars,
    DocumentBlock,
    DocumentColumn,
    DocumentFacts,
    DocumentFigure,
    DocumentFigures,
    DocumentLink,
    DocumentLocale,
    DocumentSection,
    DocumentTable,
    OutgoingDocument,
    Paragraph,
    cell_text,
)
from apps.show.document.plain import document_text
