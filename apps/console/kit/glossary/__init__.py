"""The words on pages and their meanings: declared once, for the page of the glossary and for docs/concepts/units.md."""

from apps.console.kit.glossary.blocks import (
    Bullet,
    Definition,
    GlossarySection,
    Paragraph,
    TermRow,
    TermTable,
)
from apps.console.kit.glossary.terms import (
    DOCUMENTED,
    GlossaryTerm,
    glossary,
    meaning_of,
    term_of,
)
