"""A document: a title that is the finding, and sections of paragraphs, figures, bars and tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from enum import IntEnum
from typing import Any

from apps.show.cell_formats import TEXT, Format
from apps.show.unknown import UNKNOWN

FULL_BAR = 1.0


@dataclass(frozen=True, slots=True)
class DocumentLocale:
    """The organisation's currency and zone."""

    currency: str
    zone: tzinfo


@dataclass(frozen=True, slots=True)
class DocumentLink:
    """Words and the whole address that they lead to."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A sentence or several; a quiet one is a remark."""

    text: str
    is_quiet: bool = False


@dataclass(frozen=True, slots=True)
class DocumentFigure:
    """A key figure: `number` is ready to show, and UNKNOWN where it is not known; `status` is the number's."""

    label: str
    number: str
    note: str = ""
    status: str = ""


@dataclass(frozen=True, slots=True)
class DocumentFigures:
    """At most four, side by side."""

    figures: tuple[DocumentFigure, ...]


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """Names and what they are, below each other."""

    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class DocumentBar:
    """A bar of a share of the longest, 0 to 1; None where it is not known. `is_marked` stands out."""

    label: str
    ratio: float | None
    text: str
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class DocumentBars:
    """Bars from zero below each other; `title` says what they show and in which unit."""

    title: str
    bars: tuple[DocumentBar, ...]


class ColumnRoom(IntEnum):
    """How much room there has to be for a column to be shown."""

    ALWAYS = 0
    WIDE = 1
    PAPER = 2
    FILE = 3


@dataclass(frozen=True, slots=True)
class DocumentColumn:
    """A column: its heading, its name in CSV, and the kind of its values.

    `width` is its share of a sheet. `room` says where it is shown: in a narrow window and in plain
    text too, in a wide window, on paper, or in its file alone.
    """

    heading: str
    name: str
    format: Format = TEXT
    width: float = 1.0
    room: ColumnRoom = ColumnRoom.ALWAYS


@dataclass(frozen=True, slots=True)
class DocumentTable:
    """Rows of values in the order of the columns, None where one is not known.

    `rest` stands for the rows that were left out, and `total` for all of them: texts as they are
    read, empty where a column has no sum. Neither is in the CSV. `name` is its file's.
    """

    name: str
    title: str
    columns: tuple[DocumentColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    rest: tuple[str, ...] | None = None
    total: tuple[str, ...] | None = None
    remark: str = ""


DocumentBlock = Paragraph | DocumentFacts | DocumentFigures | DocumentBars | DocumentTable


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """A heading, what stands under it, and where to read on."""

    title: str
    blocks: tuple[DocumentBlock, ...]
    links: tuple[DocumentLink, ...] = ()


@dataclass(frozen=True, slots=True)
class OutgoingDocument:
    """A document that goes out: `title` is the finding, `under` the quiet line below it.

    `sections` without a title stand at the top. `footer` says what it is and how to check it; it is
    on every sheet. `author` is the organisation.
    """

    title: str
    under: str
    author: str
    sections: tuple[DocumentSection, ...]
    footer: str
    locale: DocumentLocale
    links: tuple[DocumentLink, ...] = ()

    @property
    def tables(self) -> tuple[DocumentTable, ...]:
        """All of them, in their order."""
        blocks = [block for section in self.sections for block in section.blocks]
        return tuple(block for block in blocks if isinstance(block, DocumentTable))


def cell_text(column: DocumentColumn, value: Any, locale: DocumentLocale) -> str:
    """Return the text of a cell; the mark of the unknown where nothing is known."""
    return UNKNOWN if value is None else str(column.format.shown(value, locale))


def shown_columns(table: DocumentTable, room: ColumnRoom) -> list[tuple[int, DocumentColumn]]:
    """The columns that there is room for, with their places in a row."""
    return [(place, column) for place, column in enumerate(table.columns) if column.room <= room]


def shown_cells(
    table: DocumentTable,
    columns: Sequence[tuple[int, DocumentColumn]],
    locale: DocumentLocale,
) -> list[list[str]]:
    """Its rows as they are read, then what stands for those left out, and the total."""
    rows = [
        [cell_text(column, row[place], locale) for place, column in columns] for row in table.rows
    ]
    sums = [row for row in (table.rest, table.total) if row is not None]
    return rows + [[row[place] for place, _ in columns] for row in sums]
