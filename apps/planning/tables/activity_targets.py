"""The table of targets of activity, with what came."""

from apps.planning.queries.targets import MEASURE_WORDS, TargetFigures
from apps.show.cell_formats import PROSE, worded
from apps.tables.column import CURRENCY_COLUMN, Column, field
from apps.tables.table import Table

ACTIVITY_TARGETS = Table[TargetFigures](
    "targets",
    "Targets of activity",
    (
        Column("of", "Of", field("target.of"), PROSE, note=lambda row: row.target.scope),
        Column("scope", "", field("target.scope")),
        Column("measure", "Share", field("target.measure"), worded(MEASURE_WORDS)),
        Column("target_ratio", "Target", field("target.target_ratio"), formerly=("target",)),
        Column("actual_ratio", "Actual", formerly=("actual",),
               warns=lambda row: (row.gap or 0) > 0 and "Below its target"),
        Column("held_gpu_hours", "Held", field("held_milliseconds"), formerly=("held",)),
        Column("gap_gpu_hours", "Gap, GPU-hours", field("gap_milliseconds"), formerly=("gap",)),
        Column("gap_cost", "Gap, cost", field("gap_micros"), formerly=("cost",)),
        CURRENCY_COLUMN,
        Column("id", "", field("target.id")),
        Column("key", "", field("target.key")),
    ),
    noun=("target", "targets"),
    about="{said}; of the GPU time that jobs held and somebody observed, in the last four whole weeks",
    empty="A target says which share of the GPU time that a cluster, a pool or a team holds is to be active, or SM "
    "active; the gap is what is lacking to it, in GPU-hours and money.",
    sort="targets",
    row=TargetFigures,
    unique=lambda row: (row.target.scope, row.target.key, row.target.measure),
)  # fmt: skip
