"""The table of capacity requests: what each costs, and how long each step took."""

from apps.planning.queries.request_words import gpus_text, request_cost, returned_gpus
from apps.planning.queries.requests import STATES, WAITING, CapacityRequestFact
from apps.show.cell_formats import DURATION, MOMENT, MONEY, PROSE, Format, ValueKind
from apps.tables.column import CURRENCY_COLUMN, Column
from apps.tables.table import Table

GPUS = Format(
    lambda gpus, _: gpus_text(gpus), lambda gpus, _: f"{gpus:.6f}", "number-cell", ValueKind.RATIO
)
"""GPUs as a mean."""
STATE = Format(lambda state, _: STATES[state], lambda state, _: str(state))
NOT_YET = "not yet"

CAPACITY_REQUESTS = Table[CapacityRequestFact](
    "requests",
    "Requests",
    (
        Column("request", "Request", lambda fact: fact.title, PROSE),
        Column("id", ""),
        Column("state", "State", format=STATE, order=lambda fact: STATES[fact.state],
               warns=lambda fact: fact.state == WAITING),
        Column("team", ""),
        Column("workload", "", order=lambda fact: fact.workload or None),
        Column("pool", "", order=lambda fact: fact.pool or None),
        Column("gpu_model", "", definition="empty where a pool is named"),
        Column("gpus", "GPUs"),
        Column("fixes_return_gpus", "Reclaimable GPUs", lambda fact: returned_gpus(fact.profile), GPUS,
               formerly=("returned",)),
        Column("starts_at", ""),
        Column("ends_at", ""),
        Column("cost", "Cost", request_cost, MONEY, note=lambda fact: "" if fact.ends_at else " in 30 days"),
        CURRENCY_COLUMN,
        Column("raised_at", "", format=MOMENT),
        Column("seconds_to_decision", "To decision", lambda fact: fact.time_to_decision, DURATION,
               missing=NOT_YET, formerly=("decided",)),
        Column("seconds_to_delivery", "To delivered", lambda fact: fact.time_to_delivery, DURATION,
               missing=NOT_YET, formerly=("delivered",)),
        Column("seconds_to_productive_work", "To productive work", lambda fact: fact.time_to_work, DURATION,
               missing=NOT_YET, formerly=("worked",)),
        Column("reason", ""),
        Column("raised_by", ""),
        Column("team_id", ""),
        Column("workload_id", ""),
        Column("pool_id", ""),
        Column("cost_hours", ""),
        Column("cost_basis", "", definition="contracted, list or effective; empty: no price"),
    ),
    noun=("request", "requests"),
    about="{said}; reclaimable: GPUs that the team’s own use says are there already",
    sort="sort",
    row=CapacityRequestFact,
    unique=lambda fact: (-fact.raised_at.timestamp(), -fact.id),
)  # fmt: skip
