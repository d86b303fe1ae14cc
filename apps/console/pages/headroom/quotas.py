"""Quotas of GPUs: their table, and entering, changing and removing one after a look."""

from collections.abc import Sequence

from django.urls import path, reverse
from django.utils.html import format_html

from apps.accounts.queries.facts import fields_of
from apps.console.kit.cells import Locale, linked
from apps.console.kit.change import ChangePreview
from apps.console.kit.entered import EnteredPages, FormOf
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.kit.table import Table
from apps.console.pages.headroom.switch import headroom_tabs
from apps.fleet import queries as fleet
from apps.planning import actions
from apps.planning.queries.gpu_quotas import (
    EnteredGpuQuota,
    GpuQuotaFact,
    GpuQuotaUse,
    gpu_quota_use,
    gpu_quotas,
)
from apps.planning.tables.gpu_quotas import GPU_QUOTAS
from apps.show.amounts import counted
from apps.tables.column import Column


def _ways_to_change(row: GpuQuotaUse, _: Locale) -> str:
    quota_id = row.quota.id
    change = linked("Change", reverse("change-gpu-quota", args=[quota_id]))
    return format_html(
        "{} {}", change, linked("Remove", reverse("remove-gpu-quota", args=[quota_id]))
    )


QUOTAS = Table.of(
    GPU_QUOTAS, Column("change", "Change", csv="", shown=_ways_to_change, sorts=False)
)


@shown(SEES_EVERYTHING, "headroom")
def quota_list(context: Context) -> ConsolePage:
    """Every quota with what is left of it."""
    quotas = gpu_quota_use(gpu_quotas(), context.at)
    return ConsolePage(
        context=context,
        finding=_quotas_finding(quotas),
        tabs=headroom_tabs("gpu-quotas"),
        actions=(Link("Add a quota", reverse("add-gpu-quota")),),
        sections=(QUOTAS.section(quotas, context, csv_name="gpu-quotas"),),
    )


def _quotas_finding(quotas: Sequence[GpuQuotaUse]) -> str:
    if not quotas:
        return "No quota of GPUs yet"
    least = min(quotas, key=lambda row: row.headroom_gpus)
    if least.headroom_gpus <= 0:
        return f"Nothing more can be started on {least.quota.name}"
    return f"{least.quota.name} is the nearest to its quota: {counted(least.headroom_gpus, 'GPU')} left"


class QuotaForm(FormOf[EnteredGpuQuota]):
    """Of what, how many at once, and how long more take."""


def _picks(_: Context) -> dict[str, dict[str, str]]:
    """Return the providers, regions and GPU models of the fleet's pools; an empty region or model is any."""
    pools = [pool for pool in fleet.pools().values() if not pool.counts_cores]

    def words(name: str) -> dict[str, str]:
        return {word: word for word in sorted({getattr(pool, name) for pool in pools} - {""})}

    return {
        "provider": words("provider"),
        "region": {"": "Any region"} | words("region"),
        "gpu_model": {"": "Any model"} | words("gpu_model"),
    }


def _preview(quota: EnteredGpuQuota, context: Context, _: GpuQuotaFact | None) -> ChangePreview:
    fact = GpuQuotaFact(**fields_of(quota), id=0, created_at=context.at)
    (use,) = gpu_quota_use([fact], context.at)
    stated = f"Of {fact.name} at most {counted(fact.most_gpus, 'GPU')} at once."
    used = f"{counted(use.used_gpus, 'GPU')} are alive now, {use.peak_gpus_28_days:,} at most in the last 28 days."
    return ChangePreview((stated, used), same=(stated,))


CHANGES = EnteredPages[EnteredGpuQuota, GpuQuotaFact](
    noun="a quota",
    name=lambda quota: f"the quota of {quota.name}",
    explanation="What a provider lets you have at once. Nothing is stopped by it here; jobs that ask admission are warned of or denied.",
    back=("Back to quotas", "gpu-quotas"),
    key="gpu-quota",
    address="headroom/quotas",
    roles=SEES_EVERYTHING,
    active_entry="headroom",
    shape=EnteredGpuQuota,
    form=QuotaForm,
    find=lambda _, quota_id: next((fact for fact in gpu_quotas() if fact.id == quota_id), None),
    check=actions.check_gpu_quota,
    add=lambda quota, context: actions.add_gpu_quota(quota=quota, at=context.at),
    replace=lambda quota_id, quota, _: actions.replace_gpu_quota(quota_id=quota_id, quota=quota),
    remove=lambda quota_id, _: actions.remove_gpu_quota(quota_id=quota_id),
    effects=_preview,
    effects_of_removal=lambda fact, _: (
        f"GPUs of {fact.name} are not held against {counted(fact.most_gpus, 'GPU')} any more.",
    ),
    picks=_picks,
)

urlpatterns = [
    path("headroom/quotas", quota_list, name="gpu-quotas"),
    *CHANGES.urlpatterns,
]
