"""The planted world, made once for a module."""

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from pytest_django import DjangoDbBlocker

from tests.planted import planted
from tests.scope.world import World, make_world


@pytest.fixture(scope="module")
def of_module(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """Two teams, nobody's work, prices and tokens."""
    with planted(django_db_blocker):
        yield make_world()


@pytest.fixture
def world(of_module: World, db: None) -> World:
    """The world, as it was planted."""
    cache.clear()
    return of_module
