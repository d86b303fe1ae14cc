"""Prove what was brought back or upgraded before it is believed."""

from apps.ledger.queries.audit import Audit
from controlplane.copies.refusal import CopyRefused
from controlplane.ledger_audit import audit_here


def prove_ledger() -> None:
    """Audit the ledger in the caller's transaction; refuses CopyRefused where it does not add up."""
    if reason := why_not_proved(audit_here()):
        raise CopyRefused(reason)


def why_not_proved(proof: Audit) -> str | None:
    """Return in how many places the ledger does not add up and where it first does not; None where it does."""
    if proof.adds_up:
        return None
    place = proof.places[0] if proof.places else None
    first = f"; the first: {place.check}, node {place.node}, {place.hour}, charge {place.charge}, {place.found} where {place.expected} belongs" if place else ""  # fmt: skip
    return f"the ledger does not add up in {proof.failures} places{first}"
