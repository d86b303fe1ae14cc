"""A document as the HTML of a mail: tables and inline CSS, nothing from elsewhere, no script.

Readable where the one style element is dropped: that has only what a dark theme and a narrow window
change. Colours are pairs of ink and ground, so that a client that inverts them inverts both.
"""

from html import escape

from apps.show.document.model import (
    FULL_BAR,
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
    shown_cells,
    shown_columns,
)

FONT = "font-family:Inter,'Segoe UI',Helvetica,Arial,sans-serif"
INK, QUIET, GROUND, LINE, BAR, MARKED, ACCENT = (
    "#1c1d1f",
    "#55575c",
    "#ffffff",
    "#dcdbd6",
    "#0072b2",
    "#b3541e",
    "#0b5fae",
)
STYLE = (
    ":root{color-scheme:light dark;supported-color-schemes:light dark}"
    "@media(prefers-color-scheme:dark){"
    ".p,.p td,.p th,.p h1,.p h2,.p p{background:#1b1d21!important;color:#eceded!important;"
    "border-color:#3f444c!important}"
    ".p .q,.p th{color:#b3b6bc!important}.p a{color:#6fb3ee!important}"
    ".p .b{background:#3b9ad8!important}.p .m{background:#f08a3c!important}}"
    "@media(max-width:520px){.p .w{display:none!important}"
    ".p .f{display:block!important;width:auto!important}.p .g{padding:12px!important}}"
)
NUMBERS = "text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums"
CELL = f"padding:5px 6px;border-bottom:1px solid {LINE};vertical-align:top"
APART = "margin:0 0 10px"
TABLE = 'role="presentation" cellpadding="0" cellspacing="0" border="0" width="100%"'


def document_html(document: OutgoingDocument) -> str:
    """All of it, as one file that asks for nothing."""
    sections = "".join(_section(section, document.locale) for section in document.sections)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(document.title)}</title><style>{STYLE}</style></head>"
        f'<body class="p" style="margin:0;background:{GROUND};color:{INK};{FONT};font-size:14px">'
        f'<div role="main"><table {TABLE} class="p" style="background:{GROUND};color:{INK}"><tr>'
        '<td class="g" align="center" style="padding:24px">'
        f'<table {TABLE} style="max-width:680px;text-align:left;{FONT};font-size:14px;'
        'line-height:1.45"><tr><td>'
        f'<h1 style="margin:0 0 6px;font-size:20px;line-height:1.3;font-weight:600">'
        f"{escape(document.title)}</h1>"
        f"{_paragraph(document.under, is_quiet=True)}{_links(document.links)}{sections}"
        f'<p class="q" style="margin:28px 0 0;padding-top:10px;border-top:1px solid {LINE};'
        f'color:{QUIET};font-size:12px;overflow-wrap:anywhere">{escape(document.footer)}</p>'
        "</td></tr></table></td></tr></table></div></body></html>"
    )


def _section(section: DocumentSection, locale: DocumentLocale) -> str:
    title = (
        f'<h2 style="margin:26px 0 8px;font-size:16px;font-weight:600">{escape(section.title)}</h2>'
        if section.title
        else ""
    )
    blocks = "".join(_block(block, locale) for block in section.blocks)
    # Lines of some length: mail is not repacked for lines without end.
    return f"\n{title}\n{blocks}\n{_links(section.links)}"


def _block(block: DocumentBlock, locale: DocumentLocale) -> str:
    match block:
        case Paragraph():
            return _paragraph(block.text, is_quiet=block.is_quiet)
        case DocumentFacts():
            return _facts(block)
        case DocumentFigures():
            return _figures(block)
        case DocumentBars():
            return _bars(block)
        case DocumentTable():
            return _table(block, locale)


def _paragraph(text: str, *, is_quiet: bool) -> str:
    dress = f' class="q" style="{APART};color:{QUIET}"' if is_quiet else f' style="{APART}"'
    return f"<p{dress}>{escape(text)}</p>"


def _links(links: tuple[DocumentLink, ...]) -> str:
    if not links:
        return ""
    anchors = " &nbsp; ".join(
        f'<a href="{escape(link.address)}" style="color:{ACCENT}">{escape(link.text)}</a>'
        for link in links
    )
    return f'<p style="margin:8px 0 12px">{anchors}</p>'


def _facts(block: DocumentFacts) -> str:
    rows = "".join(
        f'\n<tr><td class="q" style="padding:2px 16px 2px 0;color:{QUIET};vertical-align:top">'
        f'{escape(name)}</td><td style="padding:2px 0">{escape(value)}</td></tr>'
        for name, value in block.facts
    )
    return f'<table cellpadding="0" cellspacing="0" border="0">{rows}</table>'


def _figures(block: DocumentFigures) -> str:
    width = 100 // max(1, len(block.figures))
    cells = "".join(_figure(figure, width) for figure in block.figures)
    return f'<table {TABLE} style="margin:14px 0"><tr>{cells}</tr></table>'


def _figure(figure: DocumentFigure, width: int) -> str:
    note = " · ".join(filter(None, (figure.status, figure.note)))
    return (
        f'<td class="f" width="{width}%" style="padding:0 12px 10px 0;vertical-align:top">'
        f'<span class="q" style="color:{QUIET};font-size:12px">{escape(figure.label)}</span><br>'
        f'<strong style="font-size:20px;font-weight:600">{escape(figure.number)}</strong><br>'
        f'<span class="q" style="color:{QUIET};font-size:12px">{escape(note)}</span></td>'
    )


def _bars(bars: DocumentBars) -> str:
    rows = "".join(_bar(bar) for bar in bars.bars)
    return f'{_caption(bars.title)}<table {TABLE} style="margin:0 0 14px">{rows}</table>'


def _bar(bar: DocumentBar) -> str:
    drawn = "not known"
    if bar.ratio is not None:
        css, colour = ("m", MARKED) if bar.is_marked else ("b", BAR)
        # Of a cell's width: Outlook draws no width of anything else.
        width = max(1, round(100 * min(bar.ratio, FULL_BAR)))
        drawn = (
            f'<table cellpadding="0" cellspacing="0" border="0" role="presentation" width="{width}%">'
            f'<tr><td class="{css}" bgcolor="{colour}" style="background:{colour};height:12px;'
            'font-size:1px;line-height:1px">&nbsp;</td></tr></table>'
        )
    return (
        f'\n<tr><td width="30%" style="padding:3px 6px 3px 0">{escape(bar.label)}</td>'
        f'<td class="q" width="46%" style="padding:3px 6px;color:{QUIET}">{drawn}</td>'
        f'<td style="padding:3px 0 3px 6px;{NUMBERS}">{escape(bar.text)}</td></tr>'
    )


def _caption(title: str) -> str:
    if not title:
        return ""
    return f'<p style="margin:14px 0 4px;font-weight:600">{escape(title)}</p>'


def _table(table: DocumentTable, locale: DocumentLocale) -> str:
    columns = shown_columns(table, ColumnRoom.WIDE)
    heads = "".join(
        f'<th scope="col"{_narrow(column)} style="{CELL};color:{QUIET};'
        f'font-size:12px;font-weight:600;text-align:{"right" if column.format.is_number else "left"}">'
        f"{escape(column.heading)}</th>"
        for _, column in columns
    )
    rows = shown_cells(table, columns, locale)
    body = []
    for at, row in enumerate(rows):
        weight = ";font-weight:600" if table.total is not None and at == len(rows) - 1 else ""
        cells = "".join(
            f"<td{_narrow(column)} "
            f'style="{CELL}{f";{NUMBERS}" if column.format.is_number else ""}{weight}">'
            f"{escape(cell)}</td>"
            for (_, column), cell in zip(columns, row, strict=True)
        )
        body.append(f"\n<tr>{cells}</tr>")
    return (
        f'{_caption(table.title)}<table cellpadding="0" cellspacing="0" border="0" width="100%" '
        'style="border-collapse:collapse;font-size:13px;margin:0 0 8px">'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table>"
        f"{_paragraph(table.remark, is_quiet=True) if table.remark else ''}"
    )


def _narrow(column: DocumentColumn) -> str:
    """Return the class of a column that a narrow window leaves out."""
    return "" if column.room is ColumnRoom.ALWAYS else ' class="w"'
