"""The planted world, made once for a module; each test's own transaction undoes what it did."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.db import transaction

from apps.telemetry.actions.partitions import forget
from tests.scope.world import World, make_world


@pytest.fixture(scope="module")
def planted(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """Two teams, nobody's work, prices and tokens."""
    # Partitions made by a test that was rolled back are still remembered as made.
    forget()
    with django_db_blocker.unblock(), transaction.atomic():
        yield make_world()
        transaction.set_rollback(True)
    forget()


@pytest.fixture
def world(planted: World, db: None) -> World:
    """The world, as it was planted."""
    cache.clear()
    return planted
