"""Days of a drawn figure that something happened on: a line down at each, and its number above."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from apps.show.charts import Json, checked, label_above, line_down

ROOM_ABOVE_PX = 26
"""For the numbers."""


@dataclass(frozen=True, slots=True)
class NumberedDay:
    """A day with something to know of it; the list below the chart says what, under the number."""

    day: date
    number: int


def is_drawn_on(figure: Mapping[str, Any], day: date) -> bool:
    """Whether the day lies within the axis of a figure of amounts by day."""
    first, last = figure["layout"]["xaxis"]["range"]
    return bool(first <= day.isoformat() <= last)


def with_marks(figure: Mapping[str, Any], marks: Sequence[NumberedDay]) -> Json:
    """The figure of amounts by day with these marked; as it is where there are none."""
    if not marks:
        return dict(figure)
    layout = figure["layout"]
    bottom, top = layout["yaxis"]["range"]
    lines = [
        {**line_down(mark.day.isoformat(), top, str(mark.number)), "y": [bottom, top]}
        for mark in marks
    ]
    numbers = [label_above(mark.day.isoformat(), str(mark.number)) for mark in marks]
    return checked(
        [*figure["data"], *lines],
        {
            **layout,
            "margin": {**layout["margin"], "t": ROOM_ABOVE_PX},
            "annotations": [*layout.get("annotations", ()), *numbers],
        },
    )
