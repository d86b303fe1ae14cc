"""Sweeps: what is due, or wanted, of clouds."""

import logging

from celery import shared_task
from django.utils import timezone

from apps.fleet.queries.clouds import syncs_due
from apps.pricing.tasks.cloud_syncs import REFUSALS, sync_cloud
from apps.providers.cloud import KINDS

log = logging.getLogger(__name__)

NOT_BILLS = frozenset(KINDS) - {"bills"}


@shared_task
def sync_clouds() -> None:
    """Read what is due, one after the other; what breaks off says so on its page and comes again."""
    for account, what in syncs_due(timezone.now(), NOT_BILLS):
        # Another sweep may have read it while this one read what came before.
        if (account, what) not in syncs_due(timezone.now(), NOT_BILLS):
            continue
        try:
            sync_cloud(account, what, timezone.now)
        except REFUSALS as refused:
            log.warning(
                "sync_broken_off account_id=%s what=%s reason=%s", account.id, what, refused
            )
