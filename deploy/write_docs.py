"""Writes the pages of the documentation that are made of declared values: `.venv/bin/python -m deploy.write_docs`.

What the console shows of them and what a reader of docs/ sees are thus one text. A test compares.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from textwrap import fill

import django

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
from deploy.write_event_page import event_page
from deploy.write_gpu_page import gpu_page
from deploy.write_reference import agent_settings_page, commands_page, settings_page

DOCS = Path(__file__).resolve().parent.parent / "docs"
NOTE = "<!-- Made of {source} by `make docs`: change it there. -->"
PLANNING = "Each answer of *Plan*: its inputs, method, source and weaknesses, as the console shows them. The linked page has formulas and limits. Everything here is an estimate: nothing is posted to the ledger. What is not known is never zero; a fallback is named as one."  # fmt: skip
UNITS = "One word for one thing, in code, pages and files. Where the field has a standard term we use it; [our own words](#words-of-our-own) stand beside the nearest one."  # fmt: skip
WIDTH = 200


def main() -> None:
    """Write every page anew."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    for name in GENERATED_PAGES:
        (DOCS / name).write_text(generated_page(name), encoding="utf-8")


def generated_page(name: str) -> str:
    """Return the text of a page that is made of declared values, by its name in docs/."""
    page, source = GENERATED_PAGES[name]
    return page(NOTE.format(source=source))


def _planning_page(note: str) -> str:
    head = ("# Planning: which answer is from what", note, PLANNING)
    return "\n\n".join((*head, *("\n".join(_method_lines(method)) for method in ANSWERS))) + "\n"


def _method_lines(method: AnswerMethod) -> Iterator[str]:
    yield f"## {method.title}"
    for field in FIELDS:
        yield f"- **{field.label}**: {markdown(field.value(method))}"
    yield f"- {markdown(method.links)}"


def _units_page(note: str) -> str:
    head = ("# Words and units", note, UNITS)
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


GENERATED_PAGES: Mapping[str, tuple[Callable[[str], str], str]] = {
    "planning.md": (_planning_page, "apps/console/kit/methods"),
    "concepts/units.md": (_units_page, "apps/console/kit/glossary"),
    "reference/gpus.md": (gpu_page, "apps/economics/gpu_catalogue.py"),
    "reference/settings.md": (settings_page, "controlplane/env.py"),
    "reference/agent-settings.md": (
        agent_settings_page,
        "agents/agent/src/runrate_agent/settings.py",
    ),
    "reference/log-events.md": (event_page, "the actions"),
    "reference/commands.md": (commands_page, "the help of the commands"),
}
"""What makes a page from the note of what it is made of, and what that is."""


if __name__ == "__main__":
    main()
