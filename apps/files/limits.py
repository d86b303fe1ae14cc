"""How large what is sent may be: one table, by the kind of address, for who may send there.

A stranger sends no more than a form for signing in, wherever that is; whom an address does not take anything from sends nothing.
"""

from collections.abc import Mapping
from enum import StrEnum

KIBIBYTE, MEBIBYTE, GIBIBYTE = 1 << 10, 1 << 20, 1 << 30
FORM_BYTES = 64 * KIBIBYTE
"""What a form adds to the file in it."""
STRANGERS_BYTES = 64 * KIBIBYTE
"""More than any form for strangers holds: signing in, an invitation, an enrolment."""


class BodyKind(StrEnum):
    """The kinds of address, by what a body is there."""

    NOTHING = "nothing"
    EMPTY = "empty"
    SIGN_IN = "sign_in"
    POLICY = "policy"
    FORM = "form"
    TELEMETRY = "telemetry"
    USAGE = "usage"
    BILL = "bill"
    JOBS = "jobs"
    SERIES = "series"
    VENDOR_COSTS = "vendor_costs"


LARGEST = {
    BodyKind.NOTHING: 0,
    BodyKind.EMPTY: KIBIBYTE,
    BodyKind.SIGN_IN: STRANGERS_BYTES,
    BodyKind.POLICY: 256 * KIBIBYTE,
    BodyKind.FORM: 8 * MEBIBYTE,
    BodyKind.TELEMETRY: 5 * MEBIBYTE,
    BodyKind.USAGE: 32 * MEBIBYTE,
    BodyKind.BILL: 512 * MEBIBYTE,
    BodyKind.JOBS: 512 * MEBIBYTE,
    BodyKind.SERIES: 64 * MEBIBYTE,
    BodyKind.VENDOR_COSTS: 8 * MEBIBYTE,
}
"""The bytes of a body, or of the file in it, where no setting says otherwise."""
UNPACKED = {
    BodyKind.BILL: 32 * GIBIBYTE,
    BodyKind.JOBS: 32 * GIBIBYTE,
    BodyKind.SERIES: GIBIBYTE,
}
"""The bytes that a file may come to once it is unpacked, and its text."""
SMALL_FILE_BYTES = 64 * MEBIBYTE
"""The bytes of a file that is read whole: prices, a mapping, a report."""
OF_FILES = frozenset({BodyKind.BILL, BodyKind.JOBS, BodyKind.SERIES, BodyKind.VENDOR_COSTS})
"""Kinds whose limit is of a file; the form around it comes on top."""
FIXED = frozenset({BodyKind.NOTHING, BodyKind.EMPTY, BodyKind.SIGN_IN, BodyKind.POLICY})
"""Kinds that no setting changes."""
MEANINGS = {
    BodyKind.NOTHING: "what is only read, and addresses that change nothing",
    BodyKind.EMPTY: "changes that say all by their address, such as deleting",
    BodyKind.SIGN_IN: "signing in, invitations, enrolments, one's own account",
    BodyKind.POLICY: "a task of SkyPilot",
    BodyKind.FORM: "every other change: forms and JSON",
    BodyKind.TELEMETRY: "an agent's windows and reports",
    BodyKind.USAGE: "calls to model APIs",
    BodyKind.BILL: "a bill's file",
    BodyKind.JOBS: "a file of jobs",
    BodyKind.SERIES: "a history for forecasts",
    BodyKind.VENDOR_COSTS: "a vendor's own cost report",
}


def body_limits(mebibytes: Mapping[str, int]) -> dict[BodyKind, int]:
    """Return the table with the kinds that a setting names as it says."""
    return LARGEST | {BodyKind(kind): most * MEBIBYTE for kind, most in mebibytes.items()}


def size_words(size_bytes: int) -> str:
    """Return a limit as people say it: 64 KiB, 512 MiB, 32 GiB."""
    if size_bytes and size_bytes % GIBIBYTE == 0:
        return f"{size_bytes // GIBIBYTE} GiB"
    if size_bytes % MEBIBYTE == 0:
        return f"{size_bytes // MEBIBYTE} MiB"
    return f"{size_bytes // KIBIBYTE} KiB"
