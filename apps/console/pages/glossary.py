"""The glossary: what the words on pages mean."""

from django.urls import path

from apps.console.kit.cells import PROSE
from apps.console.kit.glossary import GlossaryTerm, glossary
from apps.console.kit.page import ConsolePage, Include, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.kit.table import Table
from apps.tables.column import Column

TERMS = Table[GlossaryTerm](
    "terms",
    "Terms",
    (
        Column("term", "Term", lambda term: term.text, PROSE),
        Column("meaning", "Meaning", lambda term: term.meaning, PROSE),
    ),
)


@shown(EVERYONE, "glossary", carries=False)
def glossary_page(context: Context) -> ConsolePage:
    """Every term, by what it is of; headings of tables and titles of figures lead here."""
    sections = glossary()
    file = TERMS.file(
        "glossary", context, lambda: [term for terms in sections.values() for term in terms]
    )
    return ConsolePage(
        context=context,
        finding=f"What {sum(map(len, sections.values()))} words mean here",
        under=("one word for one thing, on pages, in files and over REST",),
        sections=(Include("glossary/_terms.html", {"sections": sections, "csv": file}),),
        csv_files=(file,),
    )  # fmt: skip


urlpatterns = [
    path("glossary", glossary_page, name="glossary"),
]
