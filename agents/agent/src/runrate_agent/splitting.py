"""A body that is too large for the server, or for a proxy before it, in two halves."""

from __future__ import annotations

import json

PART = 32
"""Sequences of an agent stay below 2 to this power; above it stands which part of a batch it is."""


LISTS = ("events", "rows")
"""What bodies without a number of their own are lists of: job events, counts of requests."""


def list_halves(body: bytes) -> list[bytes]:
    """Both halves of a body that is one list; empty where it is none, or has no two entries."""
    try:
        told = json.loads(body)
    except ValueError:
        return []
    name = next((name for name in LISTS if isinstance(told.get(name), list)), None)
    if name is None or len(told[name]) < 2:
        return []
    middle = len(told[name]) // 2
    parts = (told[name][:middle], told[name][middle:])
    return [json.dumps({**told, name: part}, separators=(",", ":")).encode() for part in parts]


def halves(body: bytes) -> list[tuple[bytes, int]]:
    """Both halves with their windows; empty where there are no two windows to part.

    Each has a sequence of its own, always the same one: parted again after a crash, they are known.
    """
    try:
        batch = json.loads(body)
        columns, sequence = batch["windows"], int(batch["sequence"])
        rows = len(columns["device"])
    except (ValueError, KeyError, TypeError):
        return []
    if rows < 2:
        return []
    part = sequence >> PART or 1
    first = sequence & (1 << PART) - 1
    parted = []
    for side, (since, until) in enumerate(((0, rows // 2), (rows // 2, rows))):
        own = {name: values[since:until] for name, values in columns.items()}
        numbered = batch | {"sequence": (2 * part + side << PART) + first, "windows": own}
        parted.append((json.dumps(numbered, separators=(",", ":")).encode(), until - since))
    return parted
