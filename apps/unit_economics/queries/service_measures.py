"""The measures of a service's money: bases with and without what is shared out to it, marginal."""

from enum import StrEnum
from typing import LiteralString

from apps.ledger.queries.costs import Basis


class Load(StrEnum):
    """The lines of a service that are meant, or what its work adds to what is owed anyway."""

    LOADED = "loaded"
    DIRECT = "direct"
    MARGINAL = "marginal"


# `shared_idle` is Flag.SHARED_IDLE.
DIRECT: LiteralString = "row.kind <> 'shared' AND row.flags & %(shared_idle)s = 0"
# The amount of a ServiceDay `row`.
AMOUNTS: dict[str, LiteralString] = {
    "list": "row.list_micros",
    "contracted": "row.contracted_micros",
    "effective": "row.effective_micros",
    "billed": "row.billed_micros",
    "list.direct": f"CASE WHEN {DIRECT} THEN row.list_micros END",
    "contracted.direct": f"CASE WHEN {DIRECT} THEN row.contracted_micros END",
    "effective.direct": f"CASE WHEN {DIRECT} THEN row.effective_micros END",
    "billed.direct": f"CASE WHEN {DIRECT} THEN row.billed_micros END",
    "marginal": "row.marginal_micros",
}
# (name, amount) of each.
MEASURED: LiteralString = ", ".join([f"('{name}', {AMOUNTS[name]})" for name in AMOUNTS])


def measure_of(basis: Basis, load: Load) -> str:
    """The name of a ServiceTotal's measure."""
    if load is Load.MARGINAL:
        return "marginal"
    return str(basis) if load is Load.LOADED else f"{basis}.direct"
