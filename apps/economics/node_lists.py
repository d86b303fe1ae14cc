"""Slurm's short way of writing node names, `n[01-03,7]`, written out."""

import re
from functools import lru_cache
from itertools import chain, product
from math import prod

from apps.economics.jobs import FieldUnreadable

MOST_NODES = 100_000
LONGEST_NAME = 255
"""Characters of a name; no host has a longer one."""
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"^([0-9]{1,18})(?:-([0-9]{1,18}))?$")


class _Unreadable(ValueError):
    """A text of node names that cannot be read, and what is wrong with it."""


@lru_cache(maxsize=256)
def expand(text: str, *, field_name: str = "NodeList") -> tuple[str, ...]:
    """The names in `text`, in its order, zero padding kept.

    Refuses brackets that do not pair, ranges that run backwards, names longer than LONGEST_NAME and
    more than MOST_NODES names, which are counted before any is written out.
    """
    names: list[str] = []
    try:
        for part in _top_level_parts(text):
            names.extend(_expand_part(part, MOST_NODES - len(names)))
    except _Unreadable as unreadable:
        raise FieldUnreadable(field_name, str(unreadable)) from None
    return tuple(names)


def _top_level_parts(text: str) -> list[str]:
    """`text` cut at the commas outside brackets."""
    parts: list[str] = []
    depth = start = 0
    for position, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if depth not in (0, 1):
            raise _Unreadable(f"brackets do not pair in {text!r}")
        if character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    if depth:
        raise _Unreadable(f"brackets do not pair in {text!r}")
    parts.append(text[start:])
    if not all(part.strip() for part in parts):
        raise _Unreadable(f"an empty node name in {text!r}")
    return [part.strip() for part in parts]


def _expand_part(part: str, most: int) -> list[str]:
    """The names of one part, at most `most`; several brackets multiply, the last one fastest (`r[1-2]n[1-2]`)."""
    literals = _BRACKETS.split(part)[::2]
    brackets = [
        [_range_of(piece, part) for piece in numbers.split(",")]
        for numbers in _BRACKETS.findall(part)
    ]
    if prod(sum(len(numbers) for _, numbers in ranges) for ranges in brackets) > most:
        raise _Unreadable(f"{part!r:.60} names more than {MOST_NODES:,} nodes")
    if len("".join(literals)) > LONGEST_NAME:
        raise _Unreadable(f"{part!r:.60} names nodes of more than {LONGEST_NAME} characters")
    written = (
        [str(number).zfill(width) for width, numbers in ranges for number in numbers]
        for ranges in brackets
    )
    return [
        "".join(chain.from_iterable(zip(literals, (*chosen, ""), strict=True)))
        for chosen in product(*written)
    ]


def _range_of(piece: str, part: str) -> tuple[int, range]:
    """How many digits its numbers have at least, and the numbers."""
    match = _RANGE.match(piece.strip())
    if match is None:
        raise _Unreadable(f"{piece!r:.60} in {part!r:.60} is no number and no range")
    first, last = match[1], match[2] or match[1]
    if int(last) < int(first):
        raise _Unreadable(f"the range {piece!r} in {part!r:.60} runs backwards")
    return len(first), range(int(first), int(last) + 1)
