"""The kind of a GPU-second: its state, what qualifies it, and what showed it."""

from enum import IntEnum, IntFlag


class State(IntEnum):
    """Every GPU-second of a node is in exactly one of these, and every core-second where cores carry cost."""

    ACTIVE = 1
    HELD_IDLE = 2
    UNOBSERVED = 3
    OUT_OF_SERVICE = 4
    STRANDED = 5
    UNALLOCATED = 6


HELD_STATES = (State.ACTIVE, State.HELD_IDLE, State.UNOBSERVED)
"""Those of time that somebody held."""


class Flag(IntFlag):
    """The flags that a reader of a line must know beside its state.

    UNCOUNTED: a job held a part of it, and nobody said how many cores or GPUs. CORES: what a node's cores
    carry of its cost beside its GPUs; such a line has money and no GPU time.
    """

    UNSCHEDULED = 1
    UNCLAIMED = 2
    CONTESTED = 4
    UNPINNED = 8
    DIVIDED_EVENLY = 16
    SHARED = 32
    SHARED_IDLE = 64
    PROVISIONAL_RATE = 128
    UNCOUNTED = 256
    CORES = 512


class Evidence(IntFlag):
    """The evidence that a state rests on; bits of all the moments that a line sums.

    PROCESS: the holder's own process was seen. DEVICE: the device's own reading. NONE: nothing
    was observed. POOLED: the mean of the devices that an unpinned claim may have been on.
    """

    PROCESS = 1
    DEVICE = 2
    NONE = 4
    POOLED = 8
