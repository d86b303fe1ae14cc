"""A document as plain text of at most 78 columns: what a mail says where HTML is not shown."""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from apps.show.cell_formats import PROSE
from apps.show.document.model import (
    ColumnRoom,
    DocumentBars,
    DocumentBlock,
    DocumentColumn,
    DocumentFacts,
    DocumentFigures,
    DocumentLocale,
    DocumentTable,
    OutgoingDocument,
    Paragraph,
    shown_cells,
    shown_columns,
)
from apps.show.money import GAP

WIDEST = 78
GUTTER = "  "
NARROWEST_WORDS, NARROWEST_PROSE = 12, 28
BAR_WIDTH = 30


def document_text(document: OutgoingDocument) -> str:
    """All of it; no line is longer than 78 characters but an address."""
    parts = [[*_wrapped(document.title), "=" * WIDEST, *_wrapped(document.under)]]
    parts.append([f"{link.text}: {link.address}" for link in document.links])
    for section in document.sections:
        if section.title:
            parts.append([*_wrapped(section.title), "-" * WIDEST])
        parts += [list(_block_lines(block, document.locale)) for block in section.blocks]
        parts.append([f"{link.text}: {link.address}" for link in section.links])
    parts.append(["-- ", *_wrapped(document.footer)])
    return _plain_gaps("\n\n".join("\n".join(part) for part in parts if part)) + "\n"


def _plain_gaps(text: str) -> str:
    return text.replace(GAP, " ")


def _wrapped(text: str, width: int = WIDEST) -> list[str]:
    return textwrap.wrap(_plain_gaps(text), width, break_on_hyphens=False)


def _block_lines(block: DocumentBlock, locale: DocumentLocale) -> Iterator[str]:
    match block:
        case Paragraph():
            yield from _wrapped(block.text)
        case DocumentFacts():
            for name, value in block.facts:
                yield from _wrapped(f"{name}: {value}")
        case DocumentFigures():
            for figure in block.figures:
                notes = ", ".join(filter(None, (figure.status, figure.note)))
                line = f"{figure.label}: {figure.number}{f' ({notes})' if notes else ''}"
                yield from _wrapped(line)
        case DocumentBars():
            yield from _bar_lines(block)
        case DocumentTable():
            yield from _table_lines(block, locale)


def _bar_lines(bars: DocumentBars) -> Iterator[str]:
    yield from _wrapped(bars.title)
    widest = max((len(bar.text) for bar in bars.bars), default=0)
    room = max(NARROWEST_WORDS, WIDEST - BAR_WIDTH - widest - 2 * len(GUTTER))
    for bar in bars.bars:
        drawn = "?" if bar.ratio is None else "#" * round(bar.ratio * BAR_WIDTH)
        label = textwrap.shorten(bar.label, room, placeholder="…")
        yield f"{label:<{room}}{GUTTER}{drawn:<{BAR_WIDTH}}{GUTTER}{bar.text:>{widest}}".rstrip()


def _table_lines(table: DocumentTable, locale: DocumentLocale) -> Iterator[str]:
    """Columns side by side; where they are too wide in the least room too, a row is a list."""
    yield from _wrapped(table.title)
    for room in (ColumnRoom.WIDE, ColumnRoom.ALWAYS):
        columns = shown_columns(table, room)
        cells = _cells_of(table, columns, locale)
        widths = _column_widths(columns, cells)
        if sum(widths) + len(GUTTER) * (len(widths) - 1) <= WIDEST:
            yield from _aligned_rows(columns, cells, widths)
            break
    else:
        yield from _listed_rows(cells)
    if table.remark:
        yield from _wrapped(table.remark)


def _cells_of(
    table: DocumentTable, columns: Sequence[tuple[int, DocumentColumn]], locale: DocumentLocale
) -> list[list[str]]:
    """The headings, then each row."""
    rows = [list(map(_plain_gaps, row)) for row in shown_cells(table, columns, locale)]
    return [[column.heading for _, column in columns], *rows]


def _column_widths(
    columns: Sequence[tuple[int, DocumentColumn]], cells: Sequence[Sequence[str]]
) -> list[int]:
    """As wide as they are; words give way to figures, the widest first, until all fit or none can."""
    widths = [max(len(row[place]) for row in cells) for place in range(len(columns))]
    words = [place for place, (_, column) in enumerate(columns) if not column.format.is_number]
    over = sum(widths) + len(GUTTER) * (len(widths) - 1) - WIDEST
    while over > 0:
        spare = {place: widths[place] - _narrowest(columns[place][1]) for place in words}
        widest = max(spare, key=lambda place: spare[place], default=None)
        if widest is None or spare[widest] <= 0:
            break
        widths[widest] -= 1
        over -= 1
    return widths


def _narrowest(column: DocumentColumn) -> int:
    return NARROWEST_PROSE if column.format is PROSE else NARROWEST_WORDS


def _aligned_rows(
    columns: Sequence[tuple[int, DocumentColumn]],
    cells: Sequence[Sequence[str]],
    widths: Sequence[int],
) -> Iterator[str]:
    sides = [">" if column.format.is_number else "<" for _, column in columns]
    for at, row in enumerate(cells):
        folded = [_wrapped(cell, width) for cell, width in zip(row, widths, strict=True)]
        for line in zip_longest(*folded, fillvalue=""):
            parts = zip(line, sides, widths, strict=True)
            yield GUTTER.join(f"{text:{side}{width}}" for text, side, width in parts).rstrip()
        if at == 0:
            yield GUTTER.join("-" * width for width in widths)


def _listed_rows(cells: Sequence[Sequence[str]]) -> Iterator[str]:
    headings, *rows = cells
    for row in rows:
        for heading, cell in zip(headings, row, strict=True):
            yield from textwrap.wrap(f"{heading}: {cell}", WIDEST, subsequent_indent=GUTTER)
        yield ""
