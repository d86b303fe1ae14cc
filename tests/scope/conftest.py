"""The planted world, made once for a module, and the schema, written once."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from drf_spectacular.generators import SchemaGenerator

from tests.contract.described import document
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


@pytest.fixture(scope="module", autouse=True)
def _schema_is_written_once() -> Iterator[None]:
    """It is the same for everybody who asks for it."""

    def written(self: SchemaGenerator, request: Any = None, public: bool = False) -> Any:
        return document()

    with pytest.MonkeyPatch.context() as patch:
        document()
        patch.setattr(SchemaGenerator, "get_schema", written)
        yield
