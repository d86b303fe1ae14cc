"""The kinds of what a bill's row pays for."""

from apps.ledger.models import BilledKind

BILLED_KINDS: tuple[str, ...] = tuple(BilledKind.values)
