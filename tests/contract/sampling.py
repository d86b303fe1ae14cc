"""Each fact by each door: a few in turn stay in the suite, so that every door has some; the rest are proofs."""

from collections.abc import Mapping
from typing import Any

import pytest


def by_turns(facts: Mapping[str, Any], ways: Mapping[str, Any], kept: int) -> list[Any]:
    """Each fact with each way, named "fact by way"; of each fact `kept` ways, in turn, are no proof."""
    return [
        pytest.param(
            fact,
            what,
            id=f"{name} by {way}",
            marks=() if (turn - place) % len(ways) < kept else (pytest.mark.proof,),
        )
        for place, (name, fact) in enumerate(facts.items())
        for turn, (way, what) in enumerate(ways.items())
    ]
