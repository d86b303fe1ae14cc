"""Whether a page of the console has content: judged by its HTML alone, as it comes over the wire."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset(("br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"))
SHOWS = frozenset(("dl", "ol", "ul", "svg", "form", "strong"))
NAVIGATION = re.compile(r"(?s)<nav[^>]*aria-label=\"Main\".*?</nav>")
LINK = re.compile(r"<a[^>]*href=\"(/[^\"]*)\"")


@dataclass(slots=True)
class Card:
    """One section of a page: whether it is an empty state, and whether it shows anything."""

    is_empty_state: bool = False
    shows: bool = False


@dataclass(slots=True)
class PageContent:
    """The finding of a page and its sections, in their order."""

    finding: str = ""
    cards: list[Card] = field(default_factory=list)

    @property
    def has_content(self) -> bool:
        """Whether nothing is an empty state, and the first section shows rows, a chart or figures."""
        return (
            bool(self.cards)
            and self.cards[0].shows
            and not any(card.is_empty_state for card in self.cards)
        )


def content_of(html: str) -> PageContent:
    """Return what a page of the console shows."""
    reader = _Reader()
    reader.feed(html)
    return reader.content


def addresses_of_navigation(html: str) -> list[str]:
    """Return every address of the navigation that a page carries, in its order."""
    navigation = NAVIGATION.search(html)
    return list(dict.fromkeys(LINK.findall(navigation[0]))) if navigation else []


class _Reader(HTMLParser):
    """Follows the sections of the main part, however deep they lie."""

    def __init__(self) -> None:
        super().__init__()
        self.content = PageContent()
        self.depth = 0
        self.cards: list[tuple[int, Card]] = []
        self.main_at = self.heading_at = self.body_at = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element: a section, or something that one shows."""
        classes = (dict(attrs).get("class") or "").split()
        self._see(tag, classes)
        if tag in VOID:
            return
        self.depth += 1
        if tag == "main":
            self.main_at = self.depth
        elif tag == "h1":
            self.heading_at = self.depth
        elif tag == "tbody":
            self.body_at = self.depth
        elif self.main_at and tag == "section" and {"card", "figures"} & set(classes):
            card = Card("empty" in classes, "figures" in classes)
            self.content.cards.append(card)
            self.cards.append((self.depth, card))

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and with it the section that it was."""
        if tag in VOID:
            return
        if self.cards and self.cards[-1][0] == self.depth:
            self.cards.pop()
        for name in ("main_at", "heading_at", "body_at"):
            if getattr(self, name) == self.depth:
                setattr(self, name, 0)
        self.depth -= 1

    def handle_data(self, data: str) -> None:
        """Keep the words of the finding."""
        if self.heading_at:
            self.content.finding += data

    def _see(self, tag: str, classes: list[str]) -> None:
        shows = tag in SHOWS or "chart" in classes or (tag == "td" and self.body_at)
        if shows and self.cards and not self.cards[-1][1].is_empty_state:
            self.cards[-1][1].shows = True
