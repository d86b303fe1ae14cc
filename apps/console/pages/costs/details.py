"""Terms and what is known of them, as a section of a page."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Detail:
    """A term and what is known of it; `note` is the quiet part after it."""

    term: str
    text: str
    note: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class DetailList:
    """Details side by side, under a title; `name` is the section's anchor."""

    template: ClassVar[str] = "costs/_details.html"
    name: str
    title: str
    details: tuple[Detail, ...]
