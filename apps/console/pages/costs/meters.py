"""How hard the GPUs behind a page's sums worked, by the rows of its table."""

from collections.abc import Callable, Collection
from typing import Any

from apps.console.pages.costs.question import CostQuestion
from apps.console.pages.meters import Metered, MeterTable, meter_table
from apps.economics.gpu_meters import meters_together
from apps.ledger.queries.drill import Drill, scoped
from apps.ledger.queries.gpu_meters import meters_by

Named = Callable[[Any], tuple[str, str]]


def meters_of_rows(
    asked: CostQuestion, drill: Drill, by: str, first: str, named: Named
) -> MeterTable | None:
    """A row for each team or workload that held GPUs; `named` gives a key's name and address."""
    return _table(asked, drill, by, first, named)


def meters_of_jobs(
    asked: CostQuestion, drill: Drill, named: Named, job_ids: Collection[int]
) -> MeterTable | None:
    """A row for each of these jobs, over all of them."""
    return _table(asked, drill, "job", "Job", named, job_ids)


def _table(
    asked: CostQuestion,
    drill: Drill,
    by: str,
    first: str,
    named: Named,
    job_ids: Collection[int] | None = None,
) -> MeterTable | None:
    found = meters_by(scoped(drill.chosen, asked.viewer), [by], job_ids)
    rows = [
        Metered(name, meters, href)
        for (key,), meters in found.items()
        for name, href in [named(key)]
    ]
    return meter_table(rows, meters_together(found.values()), first)
