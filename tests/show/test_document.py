"""A document says the same in a mail, as plain text, in a file and on paper."""

import csv
import io
import re
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfReader

from apps.show.cell_formats import MONEY, PROSE, SIGNED_RATIO
from apps.show.document import (
    ColumnRoom,
    DocumentBar,
    DocumentBars,
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
    csv_of_table,
    document_html,
    document_text,
)
from apps.show.document.pdf import document_pdf
from apps.show.money import GAP, full_amount

AT = datetime(2026, 7, 27, 6, tzinfo=UTC)
COLUMNS = (
    DocumentColumn("Workload", "workload", width=2),
    DocumentColumn("Cost", "cost", MONEY),
    DocumentColumn("Change", "change", SIGNED_RATIO),
    DocumentColumn("Why", "why", PROSE, 4, ColumnRoom.PAPER),
    DocumentColumn("Id", "id", room=ColumnRoom.FILE),
)
TOTAL = 60 * 1_000_000 * 37 + sum(range(60))
ROWS = tuple(
    (f"train-{place}", 37_000_000 + place, None if place == 3 else 0.25, "as it was", str(place))
    for place in range(60)
)


def costs(**said: object) -> DocumentTable:
    table = DocumentTable(
        "workloads", "The dearest first", COLUMNS, ROWS,
        rest=("and 12 more", "€12.00", "", "", ""),
        total=("All", full_amount(TOTAL, "EUR"), "", "", ""),
    )  # fmt: skip
    return replace(table, **said)  # type: ignore[arg-type]


def document(table: DocumentTable | None = None, **said: object) -> OutgoingDocument:
    blocks = (
        DocumentFigures((DocumentFigure("Cost", "€2.22k", "+12 %", "estimated"),)),
        Paragraph("Price moved it by −€300.00."),
        DocumentFacts((("Budget", "€9.00"), ("From", "the run rate"))),
        DocumentBars("By cause", (DocumentBar("Volume", 1.0, "+€4.00"), DocumentBar("Mix", None, "–"))),
        table or costs(),
    )  # fmt: skip
    whole = OutgoingDocument(
        title="The week cost €2,220.00",
        under="20 to 26 July 2026 – effective cost",
        author="Example",
        sections=(DocumentSection("Workloads", blocks),),
        footer="Example, edition 1, digest 9f86d081",
        locale=DocumentLocale("EUR", ZoneInfo("Europe/Berlin")),
        links=(DocumentLink("Open", "https://runrate.example.org/weekly?a=1&b=2"),),
    )
    return replace(whole, **said)  # type: ignore[arg-type]


class Markup(HTMLParser):
    """The tags of a page, their attributes, and its words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.words = set[str](), dict[str, list[str]](), list[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value or "")

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def paper() -> PdfReader:
    return PdfReader(io.BytesIO(document_pdf(document(), made_at=AT, more_fonts="")))


def test_a_mail_asks_for_nothing_and_runs_nothing() -> None:
    html = document_html(document())
    found = Markup(html)
    assert not found.tags & {"script", "img", "link", "iframe", "object", "form", "svg"}
    assert not [
        name for name in found.attributes if name.startswith("on") or name in {"src", "background"}
    ]
    assert found.attributes["href"] == ["https://runrate.example.org/weekly?a=1&b=2"]
    assert "url(" not in html
    assert "@import" not in html


def test_a_name_is_text_wherever_it_stands() -> None:
    name = '<img src="https://evil.example"> #import "x" $x$ [b] *c* & é 研究'
    table = costs(rows=((name, 1, None, name, "1"),), rest=None, total=None)
    named = document(table, title=name, footer=name)
    assert not Markup(document_html(named)).tags & {"img"}
    assert Markup(document_html(named)).words.count(name) == 4, "title twice, a cell, the foot"
    pages = PdfReader(io.BytesIO(document_pdf(named, made_at=AT, more_fonts=""))).pages
    assert '#import "x" $x$ [b] *c* & é' in pages[0].extract_text()
    assert name in csv_of_table(table, named.locale).replace('""', '"')


def test_every_form_says_the_same_amounts(paper: PdfReader) -> None:
    html = " ".join(Markup(document_html(document())).words)
    text = document_text(document())
    printed = " ".join(page.extract_text() for page in paper.pages)
    amounts = re.compile(r"[−+]?€[\d,.]*\d")
    said = [amounts.findall(each.replace(GAP, " ")) for each in (html, text, printed)]
    assert sorted(said[0][1:]) == sorted(said[1]), "the title of a mail is in its head too"
    assert sorted(said[1]) == sorted(said[2])
    assert full_amount(TOTAL, "EUR") in said[1]


def test_a_file_has_every_row_exactly_and_nothing_that_stands_for_others() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_of_table(costs(), document().locale))))
    assert sum(Decimal(row["cost"]) for row in rows) * 1_000_000 == TOTAL
    assert [row["change"] for row in rows[2:5]] == ["0.250000", "", "0.250000"]
    assert rows[7]["id"] == "7"


def test_paper_is_tagged_titled_and_numbered_and_its_table_heads_are_on_each_sheet(
    paper: PdfReader,
) -> None:
    root = paper.trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]
    assert root["/Lang"] == "en"
    assert "/StructTreeRoot" in root
    assert b"<pdfuaid:part>1<" in root["/Metadata"].get_data()
    assert paper.metadata.title == "The week cost €2,220.00"
    assert paper.metadata.author == "Example"
    assert "9f86d081" in str(paper.metadata["/Keywords"])
    assert len(paper.pages) > 1
    for number, page in enumerate(paper.pages, 1):
        said = page.extract_text()
        assert f"{number} of {len(paper.pages)}" in said
        assert "digest 9f86d081" in said
        assert re.search(r"Workload\s+Cost\s+Change\s+Why", said), "the heads of its table"
        fonts = page["/Resources"]["/Font"].values()
        bodies = [each.get_object()["/DescendantFonts"][0].get_object() for each in fonts]
        assert all({"/FontFile2", "/FontFile3"} & set(body["/FontDescriptor"]) for body in bodies)
        assert all("Inter" in body["/BaseFont"] for body in bodies)


def test_the_same_document_is_the_same_file() -> None:
    assert document_pdf(document(), made_at=AT, more_fonts="") == document_pdf(
        document(), made_at=AT, more_fonts=""
    )


def test_a_letter_that_our_fonts_lack_is_set_by_one_that_is_added(tmp_path: Path) -> None:
    """Without it the letter is a box, and the file does not say that it can be read aloud."""
    named = replace(document(), title="費")
    write_font(tmp_path / "one-letter.ttf", letter="費")
    assert not says_accessible(document_pdf(named, made_at=AT, more_fonts=""))
    assert says_accessible(document_pdf(named, made_at=AT, more_fonts=str(tmp_path)))


def says_accessible(made: bytes) -> bool:
    root: Any = PdfReader(io.BytesIO(made)).trailer["/Root"].get_object()
    return b"<pdfuaid:part>1<" in root["/Metadata"].get_data()


def write_font(path: Path, letter: str) -> None:
    """A font with a square for the one letter, and for none that it has not."""
    pen = TTGlyphPen(None)
    pen.moveTo((100, 0))
    for corner in ((100, 700), (800, 700), (800, 0)):
        pen.lineTo(corner)
    pen.closePath()
    square = pen.glyph()
    font = FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder([".notdef", "letter"])
    font.setupCharacterMap({ord(letter): "letter"})
    font.setupGlyf({".notdef": square, "letter": square})
    font.setupHorizontalMetrics({".notdef": (900, 100), "letter": (900, 100)})
    font.setupHorizontalHeader(ascent=800, descent=-200)
    names = {"familyName": "One Letter", "styleName": "Regular", "psName": "OneLetter-Regular"}
    font.setupNameTable(names)
    font.setupOS2()
    font.setupPost()
    font.save(path)


@given(
    st.lists(
        st.tuples(st.text(max_size=90), st.integers(-(10**15), 10**15) | st.none()), max_size=4
    ),
    st.text(max_size=200),
)
def test_no_line_of_plain_text_is_longer_than_78(
    given_rows: list[tuple[str, int | None]], title: str
) -> None:
    rows = tuple((name, cost, None, name, "") for name, cost in given_rows)
    text = document_text(document(costs(rows=rows, title=title), title=title, links=()))
    assert max(map(len, text.split("\n"))) <= 78
