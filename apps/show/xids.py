"""Meanings of the driver's XID numbers for a GPU, in plain words.

Restated from NVIDIA's public "XID Errors" documentation and its catalog
(https://docs.nvidia.com/deploy/xid-errors/), read in November 2026.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class XidWords:
    """One number: what happened, and what to do.

    `is_fatal`: the GPU does no work until it is reset, or its node restarted; else only the process
    that met it failed, or nothing did.
    """

    code: int
    label: str
    advice: str
    is_fatal: bool = False


RESTART = "The process has ended; mend the program, or start it again."
RESET = "Drain the node and reset the GPU; where it comes back, have the GPU replaced."
WATCH = "Nothing needs doing now; have the GPU looked at where it comes often."
LINK = "Drain the node, reset its GPUs together, then check cables, bridges and switches."

XIDS: dict[int, XidWords] = {
    xid.code: xid
    for xid in (
        XidWords(8, "The GPU stopped working on a process's commands", RESTART),
        XidWords(11, "A process sent commands that were not valid", RESTART),
        XidWords(
            13, "A process made the GPU's engine stop: often an access out of bounds", RESTART
        ),
        XidWords(31, "A process touched memory that is not its own", RESTART),
        XidWords(32, "Commands reached the GPU damaged, or a process sent wrong ones", RESTART),
        XidWords(38, "The driver's own program on the GPU failed", RESTART),
        XidWords(43, "A process's work was stopped after a fault of its own", RESTART),
        XidWords(
            45, "Work was cleared away because its process ended or another fault came", WATCH
        ),
        XidWords(46, "The GPU stopped answering", RESET, is_fatal=True),
        XidWords(48, "Memory has an error that could not be corrected", RESET, is_fatal=True),
        XidWords(61, "The GPU's own controller met a breakpoint or a warning", WATCH),
        XidWords(62, "The GPU's own controller stopped", RESET, is_fatal=True),
        XidWords(63, "A faulty row of memory is marked to be replaced at the next reset", WATCH),
        XidWords(64, "A faulty row of memory could not be replaced", RESET, is_fatal=True),
        XidWords(68, "The video decoder met an error", RESTART),
        XidWords(69, "A process used a class of the graphics engine wrongly", RESTART),
        XidWords(74, "An NVLink connection to another GPU or a switch failed", LINK, is_fatal=True),
        XidWords(
            79,
            "The GPU has fallen off the bus: the host no longer reaches it",
            "Drain and restart the node; where it comes back, check power, heat and seating.",
            is_fatal=True,
        ),
        XidWords(92, "Memory corrects many errors", WATCH),
        XidWords(
            94,
            "Memory had an error that hit one process alone",
            "Start that process again; reset the GPU when the node is next free.",
        ),
        XidWords(
            95,
            "Memory had an error that may have hit every process",
            RESET,
            is_fatal=True,
        ),
        XidWords(109, "Changing between processes took too long", RESTART),
        XidWords(119, "The GPU's system processor did not answer in time", RESET, is_fatal=True),
        XidWords(120, "The GPU's system processor failed", RESET, is_fatal=True),
        XidWords(121, "The link between GPU and CPU corrected an error", WATCH),
        XidWords(140, "Memory has an error that was not recovered from", RESET, is_fatal=True),
        XidWords(143, "The GPU could not be started", RESET, is_fatal=True),
        XidWords(144, "NVLink met an error in its logic of the GPU's side", WATCH),
        XidWords(145, "NVLink met an error in its link layer", WATCH),
        XidWords(149, "NVLink met an error in its network layer", WATCH),
        XidWords(
            154,
            "What the GPU needs to recover has changed; the driver's log says what",
            "Do what the log names: nothing, drain, reset the GPU, or restart the node.",
        ),
    )
}
FATAL_XIDS = frozenset(code for code, xid in XIDS.items() if xid.is_fatal)


def xid_words(code: int | None) -> XidWords | None:
    """Return what an XID number means; None where it is not known here."""
    return None if code is None else XIDS.get(code)
