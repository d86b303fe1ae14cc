"""What the bench of savings says of a world is missed where it is, and only there."""

from typing import Any

import pytest

from bench.savings import misses_of


def world(**given: Any) -> dict[str, Any]:
    """One that is as it should be."""
    values: dict[str, Any] = {
        "seed": 1,
        "precision": 0.95,
        "recall": 1.0,
        "kinds": 13,
        "largest_error": 0.02,
        "off": [],
        "waste": {"explained": 0.99},
        "without_counter_evidence": 0,
    }
    return values | given


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"precision": 0.89}, "precision 0.89"),
        ({"precision": None}, "precision None"),
        ({"recall": 0.5}, "recall 0.5"),
        ({"kinds": 11}, "kinds 11"),
        ({"largest_error": 0.2, "off": ["idle_holder:7:2: +20%"]}, "idle_holder:7:2: +20%"),
        ({"waste": {"explained": 0.7}}, "0.7"),
        ({"waste": None}, "None"),
        ({"without_counter_evidence": 1}, "against"),
    ],
)
def test_what_is_missed_is_said(given: dict[str, Any], said: str) -> None:
    (miss,) = misses_of([world(), world(seed=2, **given)])
    assert miss.startswith("world 2")
    assert said in miss


def test_a_world_as_it_should_be_has_no_miss() -> None:
    assert misses_of([world()]) == []
