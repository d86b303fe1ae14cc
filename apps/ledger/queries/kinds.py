"""What charges are of and how sure they are, for apps above that keep it with their own rows."""

from apps.ledger.models.charges import ChargeKind as ChargeKind
from apps.ledger.models.charges import Status as Status
