"""Parts that surround and recur on pages: the frame, links, filters, status lines, empty states."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import urlencode

from apps.console.kit.filling import Filling


@dataclass(frozen=True, slots=True)
class Frame:
    """Who is signed in, which entry of the navigation is current, what waits in Setup.

    `setup_questions` None: not counted yet. `alerts_unread` are open ones that were told since the person read them. `sees_prices` opens the pages that tell rates.
    `filling`: how far a demo's history is there, while it is being filled in.
    `carries` is what goes with the person from page to page, by the names of the address.
    """

    organisation: str
    person: str
    here: str
    setup_questions: int | None = 0
    alerts_unread: int = 0
    sees_prices: bool = False
    filling: Filling | None = None
    carries: Mapping[str, str] = field(default_factory=dict)

    @property
    def carried(self) -> str:
        """The end of the addresses of the navigation."""
        return f"?{urlencode(self.carries)}" if self.carries else ""


@dataclass(frozen=True, slots=True)
class Link:
    """A text and where it leads."""

    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a filter; `value` is what the address carries."""

    value: str
    text: str
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """A named choice in the filter bar; `name` is the parameter in the address."""

    name: str
    label: str
    choices: tuple[Choice, ...]

    @property
    def chosen(self) -> Choice:
        """The option in force, the first where none is marked."""
        return next((choice for choice in self.choices if choice.is_chosen), self.choices[0])

    @property
    def is_narrowed(self) -> bool:
        """Whether another option than the first is in force."""
        return self.chosen != self.choices[0]


@dataclass(frozen=True, slots=True)
class PeriodFilter(Filter):
    """A period; `first` and `last` are its days, where somebody named these, and `words` what the entries of these say."""

    first: str = ""
    last: str = ""
    first_name: str = "from"
    last_name: str = "to"
    words: tuple[str, str] = ("From", "to")


@dataclass(frozen=True, slots=True)
class Step:
    """Something to do: a sentence, and a command to copy or a link to follow."""

    sentence: str
    command: str = ""
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class EmptyState:
    """An empty state: what would be here, and the steps that fill it; in place of a page's sections, or one of them."""

    template: ClassVar[str] = "kit/empty.html"
    title: str
    sentence: str
    steps: tuple[Step, ...] = ()
