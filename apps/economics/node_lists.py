"""Slurm's short way of writing node names, `n[01-03,7]`, written out."""

import re
from functools import lru_cache

from apps.economics.jobs import FieldUnreadable

MOST_NODES = 100_000
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"^(\d+)(?:-(\d+))?$")


class _Unreadable(ValueError):
    """What is wrong with a text of node names."""


@lru_cache(maxsize=256)
def expand(text: str, *, field_name: str = "NodeList") -> tuple[str, ...]:
    """The names in `text`, in its order, zero padding kept.

    Refuses brackets that do not pair, ranges that run backwards and more than MOST_NODES names.
    """
    names: list[str] = []
    try:
        for part in _top_level_parts(text):
            names.extend(_expand_part(part))
            if len(names) > MOST_NODES:
                raise _Unreadable(f"names more than {MOST_NODES:,} nodes")
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


def _expand_part(part: str) -> list[str]:
    """The names of one part; several brackets multiply, the last one fastest (`r[1-2]n[1-2]`)."""
    names = [""]
    rest = 0
    for bracket in _BRACKETS.finditer(part):
        numbers = [
            number for piece in bracket[1].split(",") for number in _numbers_of_range(piece, part)
        ]
        literal = part[rest : bracket.start()]
        if len(names) * len(numbers) > MOST_NODES:
            raise _Unreadable(f"{part!r} names more than {MOST_NODES:,} nodes")
        names = [name + literal + number for name in names for number in numbers]
        rest = bracket.end()
    return [name + part[rest:] for name in names]


def _numbers_of_range(piece: str, part: str) -> list[str]:
    match = _RANGE.match(piece.strip())
    if match is None:
        raise _Unreadable(f"{piece!r} in {part!r} is no number and no range")
    first, last = match[1], match[2] or match[1]
    if int(last) < int(first):
        raise _Unreadable(f"the range {piece!r} in {part!r} runs backwards")
    if int(last) - int(first) >= MOST_NODES:
        raise _Unreadable(f"{part!r} names more than {MOST_NODES:,} nodes")
    return [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
