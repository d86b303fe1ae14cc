"""Knowledge of a web process before its first batch."""

from django.db import DatabaseError, connection
from django.utils import timezone

from apps.telemetry.actions import interning
from apps.telemetry.api import senders


def remember() -> None:
    """Read senders, devices and holders once; without a database they are asked as they come."""
    was_open = connection.connection is not None
    try:
        at = timezone.now()
        interning.remember(at)
        senders.remember(at)
    except DatabaseError:
        pass  # not migrated yet, or away: the first batches find out
    finally:
        # The server may fork or begin threads after this: what was opened here ends here.
        if not was_open:
            connection.close()
