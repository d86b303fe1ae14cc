"""Quotas that clouds let accounts have, as last read."""

from dataclasses import dataclass
from datetime import datetime

from apps.accounts.queries.facts import facts_of, fields_of
from apps.pricing.models import CloudQuota
from apps.providers.reading import AccountLimit

HELD = "reservation/"
"""How the codes of capacity that is held begin; all others are limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaFact(AccountLimit):
    """A limit of an account in a region, as it was last read."""

    id: int
    provider: str
    account: str
    region: str
    read_at: datetime

    @property
    def is_held(self) -> bool:
        """Capacity that is held for the account, and paid for whether it runs or not."""
        return self.code.startswith(HELD)


@dataclass(frozen=True, slots=True)
class QuotasWanted:
    """Of which cloud; None: any."""

    provider: str | None = None
    account: str | None = None
    region: str | None = None


EVERY_QUOTA = QuotasWanted()


def quotas(wanted: QuotasWanted = EVERY_QUOTA) -> list[QuotaFact]:
    """Limits and held capacity that are wanted, by provider, account, region and code."""
    conditions = {name: value for name, value in fields_of(wanted).items() if value is not None}
    rows = CloudQuota.objects.filter(**conditions)
    return list(facts_of(QuotaFact, rows.order_by("provider", "account", "region", "code")))
