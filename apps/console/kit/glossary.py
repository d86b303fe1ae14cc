"""The glossary of the words on pages: docs/concepts/units.md, read once; headings and figures lead to it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from django.conf import settings

LISTED = ("Things", "States of a GPU-second", "Money", "Ratios", "Columns and figures", "Headline figures", "Words of our own")  # fmt: skip
"""The sections of the file that define words, in the order of the page."""
OF_HEADINGS = ("Columns and figures", "Headline figures")
"""Those that say what a heading means where another defines the word for something else."""
_TERM = re.compile(r"\*\*([^*]+)\*\*")
_DEFINED = re.compile(r"^[^:.,;]{0,30}:")
_LINK_ASIDE = re.compile(r" \(\[[^\]]*\]\([^)]*\)\)")


@dataclass(frozen=True, slots=True)
class GlossaryTerm:
    """A word and what it means; `name` is its anchor on the page of the glossary."""

    name: str
    text: str
    meaning: str


@cache
def glossary() -> Mapping[str, tuple[GlossaryTerm, ...]]:
    """The terms of each section, in the order of the file."""
    text = (settings.PROJECT_ROOT / "docs" / "concepts" / "units.md").read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in text.split("\n## ")[1:])
    sections = {title: body for title, _, body in parts}
    return {title: tuple(_terms_of(title, sections[title])) for title in LISTED}


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
    for title in sorted(LISTED, key=lambda title: title not in OF_HEADINGS):
        for term in glossary()[title]:
            for words in term.text.split(", "):
                term_by_key.setdefault(_key(words), term)
    return term_by_key


def _terms_of(title: str, body: str) -> Iterator[GlossaryTerm]:
    names: set[str] = set()
    for text, meaning in (*_of_bullets(body), *_of_tables(body)):
        definition = _plain_words(_LINK_ASIDE.sub("", meaning)).replace("*", "").strip(" ;,.")
        name = re.sub(r"[^a-z0-9]+", "-", f"{title} {text}".lower()).strip("-")
        name += f"-{len(names)}" if name in names else ""
        names.add(name)
        yield GlossaryTerm(name, text, f"{definition[:1].upper()}{definition[1:]}.")


def _of_bullets(body: str) -> Iterator[tuple[str, str]]:
    """Each term in bold with what follows the colon after it; of terms side by side the last one's words."""
    for bullet in re.findall(r"^- (.+(?:\n  .+)*)", body, re.MULTILINE):
        parts = _TERM.split(re.sub(r"\s+", " ", bullet))
        waiting: list[str] = []
        for text, after in zip(parts[1::2], parts[2::2], strict=True):
            waiting.append(text)
            meaning = after.partition(":")[2] if _DEFINED.match(after) else ""
            if meaning.strip():
                yield from ((term, meaning) for term in waiting)
                waiting = []


def _of_tables(body: str) -> Iterator[tuple[str, str]]:
    """A row's first cell, and the others as one sentence."""
    for line in re.findall(r"^\|(.+)\|$", body, re.MULTILINE)[2:]:
        first, *others = (cell.strip() for cell in line.split("|"))
        yield re.sub(r" \(.*\)$", "", first.replace("`", "")), "; ".join(others)


def _key(words: str) -> str:
    """Without regard to case; what stands in brackets aside."""
    return re.sub(r"\s*\([^)]*\)", "", words).casefold().strip()


def _plain_words(markdown: str) -> str:
    """Without links and marks: a page beside leads nowhere here."""
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", markdown).replace("`", "").replace("**", "")
