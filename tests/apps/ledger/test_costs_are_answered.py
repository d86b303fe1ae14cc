"""Sums of the ledger by whatever is asked for."""

from datetime import date

import pytest

from apps.ledger import queries
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def window(text: str = "2026-03-02") -> queries.Window:
    return queries.window_of(text, queries.Calendar("UTC", 1, date(2026, 3, 3)))


def test_the_overview_of_an_idle_hour() -> None:
    node_id = scene.make_priced_node()
    scene.make_gpus(node_id)
    scene.make_job("1", node_id, gpus=4)
    scene.settle(ends_at=scene.TEN + scene.HOUR)

    facts = queries.overview_facts(queries.CostFilter(window()), scene.LATER)

    assert facts.totals[queries.Basis.EFFECTIVE] == 98_320_000
    assert facts.totals[queries.Basis.BILLED] is None
    assert facts.held_milliseconds == 4 * 3_600_000
    assert facts.unowned.micros == 49_160_000
    print(facts)
    print(
        queries.cost_groups(queries.CostFilter(window()), ["team", "state", "day", "tag.project"])
    )
