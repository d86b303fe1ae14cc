"""Worlds that are made once for a module; each test's own transaction undoes what it did to one."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.cache import cache
from django.db import transaction
from pytest_django import DjangoDbBlocker


def forget_rows() -> None:
    """Drop what telemetry keeps in memory, as a new process would: its rows may be gone."""
    for name in ("api", "actions.interning", "actions.partitions"):
        module = sys.modules.get(f"apps.telemetry.{name}")
        if module is not None:
            module.forget()


@contextmanager
def planted(blocker: DjangoDbBlocker) -> Iterator[None]:
    """Keep what is made within for all tests of the module, and nothing of it after them.

    `django_db_setup` has to be there. A test of it that commits (`transaction=True`) cannot be.
    """
    forget_rows()
    with blocker.unblock(), transaction.atomic():
        cache.clear()
        yield
        transaction.set_rollback(True)
    forget_rows()


@contextmanager
def undone() -> Iterator[None]:
    """What is done within is taken back at its end."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
