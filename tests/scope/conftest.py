"""The planted world, made once for a module."""

import pytest
from django.core.cache import cache

from tests.scope.world import World, make_world


@pytest.fixture(scope="module")
def made(of_module: None) -> World:
    """Two teams, nobody's work, prices and tokens."""
    return make_world()


@pytest.fixture
def world(made: World, db: None) -> World:
    """The world, as it was planted."""
    cache.clear()
    return made
