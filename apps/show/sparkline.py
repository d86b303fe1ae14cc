"""A sparkline: a row of amounts as SVG paths, from zero, with a gap where nothing is known."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 120
HEIGHT = 28
_MARGIN = 2

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Sparkline:
    """Path data for one view box; a path is empty where it has nothing to draw."""

    settled: str
    provisional: str
    area: str
    words: str
    view_box: str = f"0 0 {WIDTH} {HEIGHT}"


def sparkline(
    values: Sequence[float | int | None], *, provisional_from: int | None = None, words: str = ""
) -> Sparkline | None:
    """Paths through `values`, oldest first; None where fewer than two of them are known.

    From index `provisional_from` on the line is drawn apart, dashed. `words` is the text
    alternative.
    """
    if sum(value is not None for value in values) < 2:
        return None
    points = _plotted_points(values)
    split = len(points) if provisional_from is None else max(provisional_from, 0)
    # The dashed part starts at the last settled point, so that the line is whole.
    return Sparkline(
        settled=_line_path(points[:split]),
        provisional=_line_path(points[max(split - 1, 0) :]) if split < len(points) else "",
        area=_area_path(points),
        words=words,
    )


def _plotted_points(values: Sequence[float | int | None]) -> list[Point | None]:
    known_values = [value for value in values if value is not None]
    low, high = min(0, *known_values), max(0, *known_values)
    span = (high - low) or 1
    step = (WIDTH - 2 * _MARGIN) / (len(values) - 1)
    drawn = HEIGHT - 2 * _MARGIN
    return [
        None
        if value is None
        else (_MARGIN + index * step, _MARGIN + drawn * (1 - float((value - low) / span)))
        for index, value in enumerate(values)
    ]


def _unbroken_stretches(points: Sequence[Point | None]) -> list[list[Point]]:
    """Stretches of neighbouring known points."""
    runs: list[list[Point]] = [[]]
    for point in points:
        if point is None:
            runs.append([])
        else:
            runs[-1].append(point)
    return [run for run in runs if run]


def _line_path(points: Sequence[Point | None]) -> str:
    return " ".join(f"M{_point_pairs(run)}" for run in _unbroken_stretches(points))


def _area_path(points: Sequence[Point | None]) -> str:
    floor = HEIGHT - _MARGIN
    return " ".join(
        f"M{run[0][0]:.1f} {floor} L{_point_pairs(run)} L{run[-1][0]:.1f} {floor}Z"
        for run in _unbroken_stretches(points)
    )


def _point_pairs(run: Sequence[Point]) -> str:
    return " L".join(f"{x:.1f} {y:.1f}" for x, y in run)
