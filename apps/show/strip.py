"""A strip: shares of a whole side by side, in widths that fill it exactly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from apps.economics.split import largest_remainder
from apps.show.amounts import per_cent
from apps.show.words import STATES, StateWords, joined

# A tenth of a per cent of a 150 px strip is less than a pixel.
_STEPS = 1000


@dataclass(frozen=True, slots=True)
class StripPart:
    """One part of a strip; `offset` and `width` are per cent of its length, as text for SVG."""

    state: StateWords
    offset: str
    width: str
    text: str


@dataclass(frozen=True, slots=True)
class Strip:
    """The parts in stacking order, and the same in words for those who do not see it."""

    parts: tuple[StripPart, ...]
    words: str


def strip_of_states(amounts: Mapping[str, int]) -> Strip | None:
    """A strip of amounts by state key; None where there is nothing to divide."""
    return strip_of([(state, amounts.get(state.key, 0)) for state in STATES])


def strip_of(amounts: Sequence[tuple[StateWords, int]]) -> Strip | None:
    """A strip of these amounts in their order; None where there is nothing to divide.

    Negative amounts (credits) have no width and are left out. The widths add up to exactly 100.
    """
    sizes = [(state, amount) for state, amount in amounts if amount > 0]
    total = sum(size for _, size in sizes)
    if not total:
        return None
    steps = largest_remainder(_STEPS, [size for _, size in sizes])
    parts, offset = [], 0
    for (state, size), width in zip(sizes, steps, strict=True):
        text = f"{state.label} {per_cent(Fraction(size, total))}"
        parts.append(StripPart(state, _tenths_text(offset), _tenths_text(width), text))
        offset += width
    return Strip(parts=tuple(parts), words=joined([part.text for part in parts]))


def _tenths_text(steps: int) -> str:
    return f"{steps // 10}.{steps % 10}%"
