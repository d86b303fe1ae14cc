"""Sweeps: prices of clouds that are due."""

import logging

from celery import shared_task
from django.utils import timezone

from apps.fleet.queries.clouds import syncs_due

log = logging.getLogger(__name__)

PRICES = frozenset({"spot_prices", "on_demand_prices"})


@shared_task
def sync_cloud_prices() -> None:
    """Read what is due, one after the other; what breaks off says so on its page and comes again."""
    due = syncs_due(timezone.now(), PRICES)
    if not due:
        return
    # The clouds' libraries take seconds and a hundred MiB; workers that never ask do without.
    from apps.pricing.tasks.cloud_prices import REFUSALS, sync_prices

    for account, what in due:
        try:
            sync_prices(account, what, timezone.now)
        except REFUSALS as refused:
            log.warning("sync_broken_off account=%s what=%s %s", account.name, what, refused)
