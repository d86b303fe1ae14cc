"""Kinds and statuses of charges, for apps above that keep them with their own rows."""

from apps.ledger.models.charges import ChargeKind as ChargeKind
from apps.ledger.models.charges import Status as Status
