"""Parts of a section of the glossary: paragraphs, bullets with definitions, and tables of terms."""

from collections.abc import Iterator
from dataclasses import dataclass

from apps.show.prose import Prose, plain_text


@dataclass(frozen=True, slots=True)
class Definition:
    """Words and what they mean: all of them the same. `aside` stands between the words and their meaning."""

    words: tuple[str, ...]
    meaning: Prose
    aside: Prose = ()


@dataclass(frozen=True, slots=True)
class Bullet:
    """A line of definitions, or of remarks that define nothing."""

    parts: tuple[Definition | Prose, ...]

    def definitions(self) -> Iterator[tuple[str, str]]:
        """Yield each word with its meaning in plain words."""
        for part in self.parts:
            if isinstance(part, Definition):
                for words in part.words:
                    yield words, plain_text(part.meaning)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A remark."""

    text: Prose

    def definitions(self) -> Iterator[tuple[str, str]]:
        """Yield nothing: a remark defines no word."""
        yield from ()


@dataclass(frozen=True, slots=True)
class TermRow:
    """A row of a table: the term, and cells that together are its meaning. `aside` stands behind the term."""

    term: str
    cells: tuple[Prose, ...]
    aside: Prose = ()


@dataclass(frozen=True, slots=True)
class TermTable:
    """A table whose first column has the terms."""

    headings: tuple[str, ...]
    rows: tuple[TermRow, ...]

    def definitions(self) -> Iterator[tuple[str, str]]:
        """Yield each term with its cells as one sentence."""
        for row in self.rows:
            yield row.term, "; ".join(map(plain_text, row.cells))


@dataclass(frozen=True, slots=True)
class GlossarySection:
    """A section of docs/concepts/units.md."""

    title: str
    blocks: tuple[Bullet | Paragraph | TermTable, ...]

    def definitions(self) -> Iterator[tuple[str, str]]:
        """Yield each word with its meaning in plain words, in order."""
        for block in self.blocks:
            yield from block.definitions()
