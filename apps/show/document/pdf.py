"""A document as a PDF: tagged, so that it can be read aloud, with its fonts within, the same every time.

For workers and commands: the typesetter is not light.
"""

import json
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

import typst

from apps.show.document.model import (
    FULL_BAR,
    ColumnRoom,
    DocumentBar,
    DocumentBars,
    DocumentBlock,
    DocumentFacts,
    DocumentFigure,
    DocumentFigures,
    DocumentLink,
    DocumentLocale,
    DocumentTable,
    OutgoingDocument,
    Paragraph,
    shown_cells,
    shown_columns,
)


def document_pdf(document: OutgoingDocument, made_at: datetime, *, more_fonts: str) -> bytes:
    """The document on A4, landscape. `made_at` is the file's date: the same document is the same bytes.

    `more_fonts` is a folder of fonts for letters that ours lack, or empty. It says that it is PDF/UA-1, unless a
    name has letters that no font here has: those show as boxes.
    """
    inputs = {"document": json.dumps(_as_inputs(document), ensure_ascii=False)}
    fonts = _fonts(more_fonts)
    try:
        return _typeset(inputs, fonts, made_at, is_accessible=True)
    except typst.TypstError:
        return _typeset(inputs, fonts, made_at, is_accessible=False)


def _typeset(
    inputs: dict[str, str], fonts: typst.Fonts, made_at: datetime, *, is_accessible: bool
) -> bytes:
    pdf_bytes: bytes = typst.compile(
        _sheet(),
        font_paths=fonts,
        sys_inputs=inputs,
        # The typesetter refuses a moment with a part of a second.
        timestamp=made_at.replace(microsecond=0),
        # PDF/UA-1 is ISO 14289: the typesetter refuses what breaks it.
        pdf_standards=["ua-1"] if is_accessible else [],
    )
    return pdf_bytes


@cache
def _sheet() -> bytes:
    return files("apps.show.document").joinpath("sheet.typ").read_bytes()


@cache
def _fonts(more: str) -> typst.Fonts:
    """Ours, those that the typesetter brings, and those that were asked for: no machine's own."""
    folders = [str(files("apps.show.document").joinpath("fonts")), *filter(None, [more])]
    return typst.Fonts(include_system_fonts=False, include_embedded_fonts=True, font_paths=folders)


def _as_inputs(document: OutgoingDocument) -> dict[str, Any]:
    """Texts alone: what is a number in it is a share or a width."""
    return {
        "title": document.title,
        "under": document.under,
        "author": document.author,
        "keywords": document.footer,
        "footer": document.footer,
        "links": _links(document.links),
        "sections": [
            {
                "title": section.title,
                "blocks": [_block(block, document.locale) for block in section.blocks],
                "links": _links(section.links),
            }
            for section in document.sections
        ],
    }


def _links(links: tuple[DocumentLink, ...]) -> list[dict[str, str]]:
    return [{"text": link.text, "address": link.address} for link in links]


def _block(block: DocumentBlock, locale: DocumentLocale) -> dict[str, Any]:
    match block:
        case Paragraph():
            return {"kind": "paragraph", "text": block.text, "quiet": block.is_quiet}
        case DocumentFacts():
            return {"kind": "facts", "facts": block.facts}
        case DocumentFigures():
            return {"kind": "figures", "figures": [_figure(figure) for figure in block.figures]}
        case DocumentBars():
            return {
                "kind": "bars",
                "title": block.title,
                "bars": [_bar(bar) for bar in block.bars],
            }
        case DocumentTable():
            return _table(block, locale)


def _figure(figure: DocumentFigure) -> dict[str, Any]:
    note = " · ".join(filter(None, (figure.status, figure.note)))
    return {"label": figure.label, "number": figure.number, "note": note}


def _bar(bar: DocumentBar) -> dict[str, Any]:
    ratio = None if bar.ratio is None else min(bar.ratio, FULL_BAR)
    return {"label": bar.label, "ratio": ratio, "text": bar.text, "marked": bar.is_marked}


def _table(table: DocumentTable, locale: DocumentLocale) -> dict[str, Any]:
    columns = shown_columns(table, ColumnRoom.PAPER)
    rows = shown_cells(table, columns, locale)
    is_summed = table.total is not None
    return {
        "kind": "table",
        "title": table.title,
        "remark": table.remark,
        "columns": [
            {
                "heading": column.heading,
                "width": column.width,
                "number": column.format.is_number,
            }
            for _, column in columns
        ],
        "rows": rows[:-1] if is_summed else rows,
        "total": rows[-1] if is_summed else [],
    }
