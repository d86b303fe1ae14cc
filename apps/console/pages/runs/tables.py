"""The tables of one run as rows of CSV: exact, unknown cells empty."""

from collections.abc import Iterator

from apps.console.kit.cells import hours_cell, moment_cell, money_cell, text_cell
from apps.ledger.queries.runs.values import RunAnatomy


def bucket_cells(told: RunAnatomy) -> Iterator[list[str]]:
    """Where its time and money went, on every basis."""
    currency = told.currency
    for each in told.buckets:
        amounts = each.amounts
        yield [
            each.bucket.name.lower(),
            hours_cell(amounts.unit_milliseconds),
            hours_cell(amounts.unpriced_milliseconds),
            "" if amounts.energy_joules is None else f"{amounts.energy_joules:.0f}",
            money_cell(amounts.list_micros, currency),
            money_cell(amounts.contracted_micros, currency),
            money_cell(amounts.effective_micros, currency),
            money_cell(amounts.billed_micros, currency),
            currency,
        ]


def job_cells(told: RunAnatomy) -> Iterator[list[str]]:
    """The jobs that carried it; one that the viewer may not know has no name."""
    for each in told.jobs:
        yield [
            text_cell(each.raw_id or ""),
            each.state,
            str(each.restart_count),
            moment_cell(each.started_at),
            moment_cell(each.ended_at),
            hours_cell(each.amounts.unit_milliseconds),
            money_cell(each.amounts.effective_micros, told.currency),
            told.currency,
        ]
