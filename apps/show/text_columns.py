"""Tables of text in a terminal."""

from collections.abc import Iterator, Sequence


def aligned_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Cells in columns: names to the left, figures to the right."""
    count = max(len(row) for row in rows)
    filled = [(*row, *[""] * (count - len(row))) for row in rows]
    widths = [max(len(row[place]) for row in filled) for place in range(count)]
    for first, *others in filled:
        cells = (f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join((f"  {first:<{widths[0]}}", *cells)).rstrip()
