"""Rows that people remove, with what hangs on them."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet


@transaction.atomic
def delete_locked(rows: QuerySet[Any]) -> int:
    """Delete the rows with what hangs on them, under their locks; how many of these rows there were.

    What another transaction has added to one and not committed yet is waited for and goes too, and
    nothing is added to one that is going: without the lock the database would find it only at the
    end, and refuse the whole.
    """
    keys = list(rows.select_for_update().order_by("pk").values_list("pk", flat=True))
    deleted: dict[str, int]
    _, deleted = rows.model._base_manager.filter(pk__in=keys).delete()
    return deleted.get(rows.model._meta.label, 0)
