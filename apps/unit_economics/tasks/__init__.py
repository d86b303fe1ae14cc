"""The sweep that divides days over runs and services."""

import time

from celery import shared_task
from django.utils import timezone

from apps.ledger.actions import try_pass
from apps.ledger.queries.due import hours_due
from apps.unit_economics.actions.divide import PASSES
from apps.unit_economics.actions.runs import figure_due_runs

BUDGET_SECONDS = 25


@shared_task
def divide_marked_days() -> None:
    """Divide the days that wait over runs and services, and figure the runs folded since.

    For at most half a minute; the next sweep goes on.
    """
    until = time.monotonic() + BUDGET_SECONDS
    at = timezone.now()
    for pass_ in PASSES:
        for day in hours_due(pass_, at):
            if time.monotonic() > until:
                break
            try_pass(passes=PASSES, pass_=pass_, hours=[day], at=at)
    figure_due_runs(at=at)
