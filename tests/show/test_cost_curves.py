"""Marks over curves of cost are read though they stand close."""

import pytest

from apps.show.cost_curves import CostLine, MarkedVolume, cost_curves
from apps.show.words import state_words


@pytest.mark.parametrize(
    ("volumes", "sides"),
    [
        ((10, 50, 90), ("center", "center", "center")),
        ((10, 50, 54), ("center", "right", "left")),
        ((50, 54, 58), ("right", "center", "left")),
    ],
)
def test_names_of_marks_that_are_close_stand_on_the_far_sides(
    volumes: tuple[int, ...], sides: tuple[str, ...]
) -> None:
    line = CostLine(state_words("active"), [(0.0, 0.0), (100.0, 10.0)], [])
    marks = [MarkedVolume(volume, f"mark {volume}") for volume in volumes]

    notes = cost_curves([line], marks, "USD", "{:.0f}".format)["layout"]["annotations"]

    named = {each["text"]: each["xanchor"] for each in notes if each["text"].startswith("mark")}
    assert tuple(named.values()) == sides
