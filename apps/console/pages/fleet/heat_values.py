"""The values that the heat map of nodes gets."""

from dataclasses import dataclass

from apps.console.pages.listed import Listed


@dataclass(frozen=True, slots=True)
class MapCell:
    """One hour of a node: `level` is none, unobserved, or 0 to 4 by how much of it was active.

    `height` is how much of it was observed; above it stays what was not.
    """

    left: str
    level: str
    words: str
    height: str = ""


@dataclass(frozen=True, slots=True)
class MapRow:
    """A node of the map; its words and cells are made for the rows that are shown."""

    name: str
    pool: str
    idle_seconds: float
    observed_seconds: float
    observed_ratio: float | None
    unobserved_hours: int
    place: int
    href: str = ""
    pool_href: str = ""
    idle: str = ""
    words: str = ""
    cells: tuple[MapCell, ...] = ()


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The map, under what it shows; `begins` is its first hour."""

    finding: str
    rows: Listed[MapRow]
    begins: str
    csv_href: str
