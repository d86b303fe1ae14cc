"""Prove what was brought back or upgraded before it is believed."""

from controlplane.copies.refusal import CopyRefused
from controlplane.ledger_audit import audit_here


def prove_ledger() -> None:
    """Audit the ledger in the caller's transaction; refuses CopyRefused where it does not add up."""
    found = audit_here()
    if not found.adds_up:
        place = found.places[0] if found.places else None
        first = f"; the first: {place.check}, node {place.node}, {place.hour}, charge {place.charge}, {place.found} where {place.expected} belongs" if place else ""  # fmt: skip
        raise CopyRefused(f"the ledger does not add up in {found.failures} places{first}")
