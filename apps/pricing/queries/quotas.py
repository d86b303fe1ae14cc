"""Quotas that clouds let accounts have, as last read."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from apps.accounts.queries.paging import Page, PageRequest, page_of
from apps.pricing.models import CloudQuota

HELD = "reservation/"
"""How the codes of capacity that is held begin; all others are limits."""


@dataclass(frozen=True, slots=True)
class QuotaFact:
    """At most `value`, of which `used` is taken; None where nobody told."""

    id: int
    provider: str
    account: str
    region: str
    code: str
    name: str
    value: Decimal
    unit: str
    used: Decimal | None
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
    return [QuotaFact(*row) for row in rows.values_list(*QuotaFact.__slots__)]


def quota_page(wanted: QuotasWanted, page_request: PageRequest) -> Page[dict[str, Any]]:
    """A page of them in the same order."""
    chosen = {"provider": wanted.provider, "account": wanted.account, "region": wanted.region}
    conditions = {name: value for name, value in chosen.items() if value is not None}
    rows = CloudQuota.objects.filter(**conditions).values(*QuotaFact.__slots__)
    return page_of(rows, page_request, "provider", "account", "region", "code")
