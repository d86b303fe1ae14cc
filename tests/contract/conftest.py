"""One of everything, made once for a module."""

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.test import override_settings
from pytest_django import DjangoDbBlocker

from tests.contract.world import World, make_world
from tests.planted import planted


@pytest.fixture(scope="module")
def of_module(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[World]:
    """Everything the examples need; files that are made or sent lie in a folder of their own."""
    home = override_settings(HOME=tmp_path_factory.mktemp("home"))
    with home, planted(django_db_blocker):
        yield make_world()


@pytest.fixture
def world(of_module: World, db: None) -> World:
    """The world, as it was made."""
    cache.clear()
    return of_module
