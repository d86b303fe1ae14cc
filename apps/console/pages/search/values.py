"""What the search page and its suggestions show."""

from dataclasses import dataclass

from apps.console.kit.frame import EmptyState, Frame, Link


@dataclass(frozen=True, slots=True)
class Result:
    """One thing found; without an `href` there is no page that shows it."""

    name: str
    about: str
    href: str


@dataclass(frozen=True, slots=True)
class Group:
    """Things of one kind, the way to more of them, and the list in which all of them are."""

    id: str
    title: str
    results: tuple[Result, ...]
    more: Link | None
    whole: Link | None


@dataclass(frozen=True, slots=True)
class Found:
    """What was typed and what it found; `hint` says why there is nothing."""

    text: str
    groups: tuple[Group, ...]
    hint: str


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The page under the field."""

    frame: Frame
    finding: str
    under: str
    found: Found
    back: Link | None
    empty: EmptyState | None
