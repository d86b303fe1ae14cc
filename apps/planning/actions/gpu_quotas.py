"""Quotas of GPUs are entered, replaced and removed; what they were stays in the audit trail."""

from datetime import datetime

from django.db import transaction

from apps.accounts.actions.entered import keep, replace
from apps.accounts.queries.facts import fields_of
from apps.economics.refusal import Refusal
from apps.fleet import queries as fleet
from apps.logs.changes import logged_change
from apps.planning.models import GpuQuota
from apps.planning.queries.gpu_quotas import EnteredGpuQuota

MOST_GPUS, LONGEST_LEAD_DAYS = 10**6, 730


class GpuQuotaNotUnderstood(Refusal):
    """A refusal that says what is wrong with a field of a quota."""


class GpuQuotaExists(Refusal):
    """There is a quota of this provider, region and model already."""


@logged_change()
@transaction.atomic
def add_gpu_quota(*, quota: EnteredGpuQuota, at: datetime) -> int:
    """Enter a quota; answers its id. Refuses as check_gpu_quota does."""
    check_gpu_quota(quota)
    return keep(GpuQuota, fields_of(quota), at, {"gpu_quota_once": _exists(quota)})


@logged_change()
@transaction.atomic
def replace_gpu_quota(*, quota_id: int, quota: EnteredGpuQuota) -> None:
    """Enter it anew as a whole. Refuses as check_gpu_quota does, and GpuQuota.DoesNotExist."""
    row = GpuQuota.objects.select_for_update().get(pk=quota_id)
    check_gpu_quota(quota, replaced=row.pk)
    replace(row, fields_of(quota), {"gpu_quota_once": _exists(quota)})


@logged_change()
@transaction.atomic
def remove_gpu_quota(*, quota_id: int) -> None:
    """Hold nothing against it any more. Refuses GpuQuota.DoesNotExist."""
    GpuQuota.objects.select_for_update().get(pk=quota_id).delete()


def check_gpu_quota(quota: EnteredGpuQuota, replaced: int | None = None) -> None:
    """Refuse GpuQuotaNotUnderstood and GpuQuotaExists; `replaced` is the id of the one it takes the place of."""
    pools = fleet.pools().values()
    if quota.provider not in {pool.provider for pool in pools} - {""}:
        raise GpuQuotaNotUnderstood("provider", f"no pool is of the provider {quota.provider!r}")
    if not 1 <= quota.most_gpus <= MOST_GPUS:
        raise GpuQuotaNotUnderstood("most_gpus", f"it is from 1 to {MOST_GPUS:,} GPUs")
    if not 0 <= quota.lead_days <= LONGEST_LEAD_DAYS:
        raise GpuQuotaNotUnderstood("lead_days", f"it is up to {LONGEST_LEAD_DAYS} days")
    if (quota.asked_gpus is None) != (quota.asked_on is None):
        raise GpuQuotaNotUnderstood("asked_gpus", "a request has a number of GPUs and a day")
    if quota.asked_gpus is not None and not quota.most_gpus < quota.asked_gpus <= MOST_GPUS:
        raise GpuQuotaNotUnderstood("asked_gpus", "a request is for more than the quota")
    quota_ids = GpuQuota.objects.filter(
        provider=quota.provider, region=quota.region, gpu_model=quota.gpu_model
    ).values_list("pk", flat=True)
    if set(quota_ids) - {replaced}:
        raise _exists(quota)


def _exists(quota: EnteredGpuQuota) -> GpuQuotaExists:
    return GpuQuotaExists("provider", f"there is a quota of {quota.name} already")
