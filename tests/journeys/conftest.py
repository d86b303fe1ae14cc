"""One first start of an installation for all that need one that has started before."""

from pathlib import Path

import pytest

from tests.journeys.installations import FirstStart, first_start_in


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of each file, what ends the installation comes last: the others share it while it runs."""
    first_of = {item.path: place for place, item in reversed([*enumerate(items)])}
    items.sort(key=lambda item: (first_of[item.path], "installation_to_end" in fixtures_of(item)))


def fixtures_of(item: pytest.Item) -> list[str]:
    """By name."""
    return getattr(item, "fixturenames", [])


@pytest.fixture(scope="session")
def first_start(run_folder: Path) -> FirstStart:
    """An empty home after its first command; whoever changes something copies it."""
    return first_start_in(run_folder / "first-start")
