"""The terms of the glossary by their sections; headings of tables and titles of figures lead to them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from apps.console.kit.glossary.blocks import GlossarySection
from apps.console.kit.glossary.of_figures import COLUMNS, HEADLINES
from apps.console.kit.glossary.of_money import MONEY, OWN_WORDS
from apps.console.kit.glossary.of_ratios import RATIOS
from apps.console.kit.glossary.of_things import STATES, THINGS
from apps.console.kit.glossary.of_units import NAMES, TIME

LISTED = (THINGS, STATES, MONEY, RATIOS, COLUMNS, HEADLINES, OWN_WORDS)
"""The sections that define words, in the order of the page."""
DOCUMENTED = (THINGS, STATES, MONEY, OWN_WORDS, RATIOS, COLUMNS, HEADLINES, TIME, NAMES)
"""All sections, in the order of the documentation."""
OF_HEADINGS = (COLUMNS, HEADLINES)
"""Those that say what a heading means where another defines the word for something else."""


@dataclass(frozen=True, slots=True)
class GlossaryTerm:
    """A word and what it means; `name` is its anchor on the page of the glossary."""

    name: str
    text: str
    meaning: str


@cache
def glossary() -> Mapping[str, tuple[GlossaryTerm, ...]]:
    """Return the terms of each section by its title, in the order of the page."""
    return {section.title: tuple(_terms_of(section)) for section in LISTED}


def term_of(words: str) -> GlossaryTerm | None:
    """The term that a heading or the title of a figure is; None where it is none."""
    return _by_key().get(_key(words))


def meaning_of(words: str) -> str:
    """Return the meaning of the words; empty where they are no term."""
    term = term_of(words)
    return "" if term is None else term.meaning


@cache
def _by_key() -> Mapping[str, GlossaryTerm]:
    term_by_key: dict[str, GlossaryTerm] = {}
    for section in sorted(LISTED, key=lambda section: section not in OF_HEADINGS):
        for term in glossary()[section.title]:
            for words in term.text.split(", "):
                term_by_key.setdefault(_key(words), term)
    return term_by_key


def _terms_of(section: GlossarySection) -> Iterator[GlossaryTerm]:
    names: set[str] = set()
    for text, meaning in section.definitions():
        definition = meaning.strip(" ;,.")
        name = re.sub(r"[^a-z0-9]+", "-", f"{section.title} {text}".lower()).strip("-")
        name += f"-{len(names)}" if name in names else ""
        names.add(name)
        yield GlossaryTerm(name, text, f"{definition[:1].upper()}{definition[1:]}.")


def _key(words: str) -> str:
    """Without regard to case; what stands in brackets aside."""
    return re.sub(r"\s*\([^)]*\)", "", words).casefold().strip()
