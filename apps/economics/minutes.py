"""The minutes of an hour that something took: 60 numbers of quarter-seconds, 0 to 240 each."""

from collections.abc import Iterable, Mapping, Sequence

MINUTES = 60
QUARTERS = 240
"""Quarter-seconds of a minute."""
QUARTER_MS = 250

Minutes = Sequence[int]


def minutes_of(spans: Iterable[tuple[int, int]]) -> list[int]:
    """The minutes of spans in milliseconds into the hour; what is outside of it does not count.

    Spans may be short and many: they are summed in milliseconds and rounded once per minute.
    """
    spent = [0] * MINUTES
    minute_ms = QUARTERS * QUARTER_MS
    for start, end in spans:
        at, until = max(0, start), min(end, MINUTES * minute_ms)
        while at < until:
            place = at // minute_ms
            edge = min(until, (place + 1) * minute_ms)
            spent[place] += edge - at
            at = edge
    return [(minute + QUARTER_MS // 2) // QUARTER_MS for minute in spent]


def packed(by_key: Mapping[int, Minutes]) -> bytes:
    """A few of them as bytes: a key (0 to 255) and its 60 minutes, one after the other by key.

    Those without any time are left out; a minute counts at most 240.
    """
    return b"".join(
        bytes([key, *(min(QUARTERS, minute) for minute in minutes)])
        for key, minutes in sorted(by_key.items())
        if any(minutes)
    )


def unpacked(payload: bytes) -> dict[int, Minutes]:
    """Return the minutes by device that `packed` made bytes of."""
    size = MINUTES + 1
    return {payload[at]: payload[at + 1 : at + size] for at in range(0, len(payload), size)}
