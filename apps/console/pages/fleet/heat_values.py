"""The values that the heat map of nodes gets."""

from dataclasses import dataclass

from apps.console.pages.listed import Listed


@dataclass(frozen=True, slots=True)
class MapCell:
    """One hour of a node: `level` is none, unobserved, or 0 to 4 by how much of it worked.

    `height` is how much of it was observed; above it stays what was not.
    """

    left: str
    level: str
    words: str
    height: str = ""


@dataclass(frozen=True, slots=True)
class MapRow:
    """A node of the map; its cells are made for the rows that are shown."""

    name: str
    href: str
    pool: str
    pool_href: str
    idle_seconds: float
    idle: str
    worked_ratio: float | None
    observed_ratio: float | None
    unobserved_hours: int
    words: str
    place: int
    cells: tuple[MapCell, ...] = ()


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The map, under what it shows; `begins` is its first hour."""

    finding: str
    rows: Listed[MapRow]
    begins: str
    csv_href: str
