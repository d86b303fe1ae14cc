"""An answer of *Plan*: what it is made from, how, after whom, and where it is weak."""

from collections.abc import Callable
from dataclasses import dataclass

from apps.show.prose import Prose, plain_text


@dataclass(frozen=True, slots=True)
class AnswerMethod:
    """How an answer is computed; `name` is its anchor, `pages` are the beginnings of the addresses of pages that give it.

    `links` say where the documentation goes on: they stand there alone.
    """

    name: str
    title: str
    pages: tuple[str, ...]
    inputs: Prose
    how: Prose
    source: Prose
    weakness: Prose
    links: Prose

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a heading and plain words, as the console shows them."""
        return tuple((field.heading, plain_text(field.value(self))) for field in FIELDS)


@dataclass(frozen=True, slots=True)
class MethodField:
    """A part of every method: its label in the documentation, and its heading on the page."""

    label: str
    heading: str
    value: Callable[[AnswerMethod], Prose]


FIELDS = (
    MethodField("From", "Made from", lambda method: method.inputs),
    MethodField("How", "How", lambda method: method.how),
    MethodField("Source", "After", lambda method: method.source),
    MethodField("Weak", "Where it is weak", lambda method: method.weakness),
)
