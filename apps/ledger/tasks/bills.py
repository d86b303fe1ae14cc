"""Reconciles the bills that changed."""

import logging

from django.db import OperationalError
from django.utils import timezone

from apps.ledger.actions.closed import MonthAlreadyClosed
from apps.ledger.actions.reconcile import bills_due, note_failure, reconcile_bill
from apps.ledger.queries.conversion import RateOfExchangeMissing

log = logging.getLogger(__name__)


def reconcile_waiting() -> None:
    """One bill after the other; one that cannot be reconciled says why and waits."""
    for bill_id in bills_due():
        try:
            reconcile_bill(bill_id=bill_id, at=timezone.now())
        except (RateOfExchangeMissing, MonthAlreadyClosed) as refused:
            note_failure(bill_id=bill_id, failure=str(refused))
        except OperationalError as problem:
            # A deadlock or a lock timeout: the next sweep tries again.
            log.warning("reconcile_deferred bill=%s reason=%s", bill_id, problem)
