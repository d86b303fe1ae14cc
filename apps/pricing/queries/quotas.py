"""Quotas that clouds let accounts have, as last read."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.accounts.queries.facts import facts_of, field_names
from apps.accounts.queries.paging import Page, PageRequest, page_of
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


def quotas() -> list[QuotaFact]:
    """Every limit and all held capacity, by provider, account, region and code."""
    rows = CloudQuota.objects.order_by("provider", "account", "region", "code")
    return list(facts_of(QuotaFact, rows))


def quota_page(wanted: QuotasWanted, page_request: PageRequest) -> Page[dict[str, Any]]:
    """A page of them in the same order."""
    chosen = {"provider": wanted.provider, "account": wanted.account, "region": wanted.region}
    conditions = {name: value for name, value in chosen.items() if value is not None}
    rows = CloudQuota.objects.filter(**conditions).values(*field_names(QuotaFact))
    return page_of(rows, page_request, "provider", "account", "region", "code")
