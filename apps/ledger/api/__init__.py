"""The API by which other programs ask the ledger."""

from apps.ledger.api.costs import Costs
