"""The table of quotas of GPUs at once, with their use."""

from apps.planning.queries.gpu_quotas import GpuQuotaUse
from apps.planning.queries.hard_limit import OVER_IT
from apps.show.amounts import counted
from apps.show.cell_formats import PROSE
from apps.show.time import day
from apps.tables.column import Column, field
from apps.tables.table import Table


def _describe_requested_quota(row: GpuQuotaUse) -> str | None:
    """`200 GPUs on 3 March, expected 17 March`; None where nothing is asked for."""
    quota = row.quota
    if quota.asked_gpus is None or quota.asked_on is None or quota.expected_on is None:
        return None
    return f"{counted(quota.asked_gpus, 'GPU')} on {day(quota.asked_on)}, expected {day(quota.expected_on)}"


GPU_QUOTAS = Table[GpuQuotaUse](
    "quotas",
    "Quotas of GPUs at once",
    (
        Column("quota", "Quota", field("quota.name"), PROSE, csv=""),
        Column("provider", "", field("quota.provider")),
        Column("region", "", field("quota.region"), definition="empty: any"),
        Column("gpu_model", "", field("quota.gpu_model"), definition="empty: any"),
        Column("most_gpus", "At most", field("quota.most_gpus"), formerly=("most",)),
        Column("used_gpus", "Used now", definition="alive now", formerly=("used",)),
        Column("peak_gpus_28_days", "Peak, 28 days", formerly=("peak",)),
        Column("headroom_gpus", "GPU headroom", definition="most less used", formerly=("headroom",),
               warns=lambda row: row.headroom_gpus <= 0 and "Nothing more can be started"),
        Column("lead_days", "Lead time", field("quota.lead_days"), formerly=("lead",),
               shown=lambda row, _: counted(row.quota.lead_days, "day")),
        Column("raised_by", "Raised by", field("quota.raised_by"),
               shown=lambda row, _: row.quota.raised_by or "–"),
        Column("asked", "Asked for", _describe_requested_quota, PROSE, csv="", missing="–", sorts=False),
        Column("asked_gpus", "", field("quota.asked_gpus")),
        Column("asked_on", "", field("quota.asked_on")),
        Column("expected_on", "", field("quota.expected_on"), definition="asked_on and the lead time"),
        Column("limit", "Enforcement", lambda row: OVER_IT[row.quota.is_hard]),
        Column("note", "", field("quota.note")),
        Column("id", "", field("quota.id")),
        Column("is_hard", "", field("quota.is_hard")),
    ),
    noun=("quota", "quotas"),
    about="{said}; GPUs alive in pools of that provider, whoever holds them",
    empty="What a provider lets you have at once is entered here, with how long more take: add the first above.",
    sort="quotas",
    row=GpuQuotaUse,
    unique=lambda row: (row.quota.provider, row.quota.region, row.quota.gpu_model),
)  # fmt: skip
