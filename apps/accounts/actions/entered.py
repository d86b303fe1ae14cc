"""Rows of what people enter: kept, and put in the place of what they said before."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db.models import Model

from apps.accounts.actions.constraints import refusing


def keep(
    model: type[Model], columns: Mapping[str, Any], at: datetime, taken: Mapping[str, Exception]
) -> int:
    """Keep a row of these columns; return its id. Raises `taken[constraint]` where another row stands against it."""
    with refusing(taken):
        row = model._default_manager.create(**columns, created_at=at)
    return int(row.pk)


def replace(row: Model, columns: Mapping[str, Any], taken: Mapping[str, Exception]) -> None:
    """Have a locked row say this instead. Raises as `keep`."""
    for name, value in columns.items():
        setattr(row, name, value)
    with refusing(taken):
        row.save()
