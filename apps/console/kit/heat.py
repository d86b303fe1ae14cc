"""Hours side by side in a table's cell, darker where there is more, hatched where nothing is known."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from apps.console.kit.cells import TEXT, Format, drawn

HEAT = Format(TEXT.shown, TEXT.written, "heat-cell")


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One hour: `level` is none, unobserved, or 0 to 4.

    `left` is where it begins, in per cent as SVG writes it; with `height` that much of it was
    observed, and above it stays what was not.
    """

    left: str
    level: str
    words: str
    height: str = ""


@dataclass(frozen=True, slots=True)
class Heat:
    """Hours side by side, and the same in words; not `is_measured` where nothing was."""

    cells: Sequence[HeatCell]
    words: str
    is_measured: bool = True

    @property
    def width(self) -> str:
        """Of an hour, a hair more than its part, so that no gap shows between two."""
        return f"{100 / len(self.cells) + 0.0001:.4f}%"

    def drawn(self) -> SafeString:
        """As the cell of a table."""
        return drawn("kit/_heat.html", heat=self)
