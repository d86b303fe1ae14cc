"""The audit by the checks of all apps."""

from datetime import datetime

from django.apps import apps

from apps.ledger.queries import audit as ledger
from apps.ledger.queries.audit import Audit
from apps.review.queries import audit_reviews
from apps.unit_economics.queries import audit_runs, audit_services

CHECKS = (*ledger.CHECKS, *audit_services.CHECKS, *audit_runs.CHECKS)
PROBES = audit_reviews.PROBES

APPS_OF_THE_LEDGER = ("ledger", "unit_economics")


def ledger_tables() -> frozenset[str]:
    """Return the tables that hold what was charged, billed, closed and divided."""
    models = (
        model for label in APPS_OF_THE_LEDGER for model in apps.get_app_config(label).get_models()
    )
    return frozenset(model._meta.db_table for model in models)


def audit(starts_at: datetime | None = None, ends_at: datetime | None = None) -> Audit:
    """Audit a span (None: from the first node or charge; to the end of what is charged).

    Call it outside a transaction: it reads everything from one snapshot and writes nothing.
    """
    return ledger.audit(CHECKS, starts_at, ends_at, PROBES)


def audit_here(starts_at: datetime | None = None, ends_at: datetime | None = None) -> Audit:
    """The same inside the caller's transaction, as far as that sees one moment."""
    return ledger.audit_in_transaction(CHECKS, starts_at, ends_at, PROBES)
