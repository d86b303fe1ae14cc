"""One of everything, made once for a module."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.test import override_settings

from tests.contract.world import World, make_world


@pytest.fixture(scope="module")
def made(of_module: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Everything the examples need; files that are made or sent lie in a folder of their own."""
    with override_settings(HOME=tmp_path_factory.mktemp("home")):
        yield make_world()


@pytest.fixture
def world(made: World, db: None, settings: Any) -> World:
    """The world, as it was made; one token asks as often as a test likes."""
    settings.API_REQUESTS_PER_MINUTE = dict.fromkeys(settings.API_REQUESTS_PER_MINUTE, 10**9)
    cache.clear()
    return made
