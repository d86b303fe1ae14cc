"""The values that the templates of findings get."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from apps.console.pages.frame import EmptyState, Filter, Frame, Link
from apps.console.pages.listed import Listed
from apps.console.pages.overview.values import Figure


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A change in words; `impact_micros` None: no price in it, or none known."""

    title: str
    href: str
    team: str
    changed_on: date
    day: str
    kind: str
    effect: float
    effect_words: str
    impact_micros: int | None
    cause: str
    is_worse: bool


@dataclass(frozen=True, slots=True)
class FindingsPage:
    """What changed in the last days."""

    frame: Frame
    finding: str
    under: str
    currency: str
    filters: tuple[Filter, ...]
    problems: tuple[str, ...]
    sort: str
    findings: Listed[FindingRow]
    csv_href: str
    empty: EmptyState | None


@dataclass(frozen=True, slots=True)
class PartRow:
    """A step of the sum from before to after, in words; the first and the last are the levels."""

    name: str
    meaning: str
    amount: str
    is_level: bool = False


@dataclass(frozen=True, slots=True)
class CauseRow:
    """What changed about then; `number` marks it in the picture."""

    number: int
    day: str
    distance: str
    kind: str
    what: str


@dataclass(frozen=True, slots=True)
class FindingPage:
    """One change: its picture, its parts, what changed about then."""

    frame: Frame
    finding: str
    under: str
    figures: tuple[Figure, ...]
    chart_title: str
    chart_unit: str
    figure: Mapping[str, object] | None
    days: tuple[tuple[str, str], ...]
    parts: tuple[PartRow, ...]
    causes: tuple[CauseRow, ...]
    links: tuple[Link, ...]
    csv_href: str
