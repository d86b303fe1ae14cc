"""A node-hour becomes lines: who held it, in which state, at what price."""

import pytest

from apps.economics.states import State
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def test_an_hour_nobody_held_belongs_to_the_pools_owner() -> None:
    owner = make.make_team("Infra")
    pool_id = make.make_pool("h100", owner_team_id=owner)
    node_id = scene.make_priced_node(pool_id=pool_id)

    scene.settle()

    (line,) = scene.lines()
    assert scene.charge(node_id).effective_micros == 98_320_000
    assert (line.team_id, line.state, line.job_id) == (owner, State.UNALLOCATED, None)
    assert line.effective_micros == 98_320_000
    assert line.unit_milliseconds == 8 * 3_600_000
