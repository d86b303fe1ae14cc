"""Quotas that clouds let an account have: limits, and capacity that is held for it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from apps.logs.changes import items_of, logged_change
from apps.pricing.models import CloudQuota
from apps.pricing.queries.quotas import HELD
from apps.providers.reading import AccountLimit

TOLD = ["name", "value", "unit", "used", "read_at"]


@dataclass(frozen=True, slots=True)
class QuotaPlace:
    """An account of a provider and one of its regions."""

    provider: str
    account: str
    region: str


@logged_change(count=items_of("quotas"))
@transaction.atomic
def record_quotas(*, place: QuotaPlace, quotas: Sequence[AccountLimit], at: datetime) -> None:
    """All limits of the place as just read; one that is no longer told of goes."""
    _replace_quotas(place, CloudQuota.objects.exclude(code__startswith=HELD), quotas, at)


@logged_change(count=items_of("held"))
@transaction.atomic
def record_reserved_capacity(
    *, place: QuotaPlace, held: Sequence[AccountLimit], at: datetime
) -> None:
    """All capacity that is held for the account there: `value` machines, `used` of them taken.

    One that is no longer told of goes. Their `code` begins with `reservation/`.
    """
    _replace_quotas(place, CloudQuota.objects.filter(code__startswith=HELD), held, at)


def _replace_quotas(
    place: QuotaPlace,
    existing_quotas: QuerySet[CloudQuota],
    quotas: Sequence[AccountLimit],
    at: datetime,
) -> None:
    rows = [CloudQuota(**asdict(place), **asdict(quota), read_at=at) for quota in quotas]
    existing_quotas.filter(**asdict(place)).exclude(code__in=[row.code for row in rows]).delete()
    CloudQuota.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["provider", "account", "region", "code"],
        update_fields=TOLD,
    )
