"""Writes the pages of the documentation that are made of declared values: `.venv/bin/python -m deploy.write_docs`.

What the console shows of them and what a reader of docs/ sees are thus one text. A test compares.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from textwrap import fill

from apps.console.kit.glossary import (
    DOCUMENTED,
    Bullet,
    Definition,
    GlossarySection,
    Paragraph,
    TermTable,
)
from apps.console.kit.methods import ANSWERS, FIELDS, AnswerMethod
from apps.show.prose import Prose, markdown

DOCS = Path(__file__).resolve().parent.parent / "docs"
NOTE = "<!-- Made of {source} by `python -m deploy.write_docs`: change it there. -->"
PLANNING = "Each answer of *Plan*: its inputs, method, source and weaknesses, as the console shows them. The linked page has formulas and limits. Everything here is an estimate: nothing is posted to the ledger. What is not known is never zero; a fallback is named as one."  # fmt: skip
UNITS = "One word for one thing, in code, pages and files. Where the field has a standard term we use it; [our own words](#words-of-our-own) stand beside the nearest one."  # fmt: skip
WIDTH = 200


def generated_pages() -> Mapping[str, str]:
    """Return the text of each page that is made of declared values, by its name in docs/."""
    return {"planning.md": _planning_page(), "concepts/units.md": _units_page()}


def main() -> None:
    """Write every page anew."""
    for name, text in generated_pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")


def _planning_page() -> str:
    head = (
        "# Planning: which answer is from what",
        NOTE.format(source="apps/console/kit/methods"),
        PLANNING,
    )
    return "\n\n".join((*head, *("\n".join(_method_lines(method)) for method in ANSWERS))) + "\n"


def _method_lines(method: AnswerMethod) -> Iterator[str]:
    yield f"## {method.title}"
    for field in FIELDS:
        yield f"- **{field.label}**: {markdown(field.value(method))}"
    yield f"- {markdown(method.links)}"


def _units_page() -> str:
    head = ("# Words and units", NOTE.format(source="apps/console/kit/glossary"), UNITS)
    return "\n\n".join((*head, *map(_glossary_section, DOCUMENTED))) + "\n"


def _glossary_section(section: GlossarySection) -> str:
    """Bullets follow each other; a paragraph or a table has room around it."""
    text = f"## {section.title}\n{_marked(section.blocks[0])}"
    for before, block in pairwise(section.blocks):
        are_bullets = isinstance(before, Bullet) and isinstance(block, Bullet)
        text += ("\n" if are_bullets else "\n\n") + _marked(block)
    return text


def _marked(block: Bullet | Paragraph | TermTable) -> str:
    match block:
        case Bullet():
            return _filled("- " + "".join(map(_bullet_part, block.parts)), indent="  ")
        case Paragraph():
            return _filled(markdown(block.text))
        case TermTable():
            return "\n".join(_table_lines(block))


def _bullet_part(part: Definition | Prose) -> str:
    if not isinstance(part, Definition):
        return markdown(part)
    words = ", ".join(f"**{words}**" for words in part.words)
    return f"{words}{markdown(part.aside)}: {markdown(part.meaning)}"


def _table_lines(table: TermTable) -> Iterator[str]:
    yield f"| {' | '.join(table.headings)} |"
    yield f"|{'---|' * len(table.headings)}"
    for row in table.rows:
        yield f"| {' | '.join((row.term + markdown(row.aside), *map(markdown, row.cells)))} |"


def _filled(text: str, indent: str = "") -> str:
    return fill(
        text,
        WIDTH,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


if __name__ == "__main__":
    main()
