"""Sums of the ledger by whatever is asked for."""

from datetime import date, timedelta
from typing import Any

import pytest

from apps.accounts import queries as accounts
from apps.economics.money import sum_of_known
from apps.economics.states import State
from apps.fleet import queries as fleet
from apps.fleet.actions import end_node
from apps.ledger import queries
from apps.ledger.queries.cube import CubeQuestion
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def window(text: str = "2026-03-02") -> queries.Window:
    return queries.window_of(text, queries.Calendar("UTC", 1, date(2026, 3, 3)))


def facts_of(text: str = "2026-03-02", **given: Any) -> queries.OverviewFacts:
    question = CubeQuestion(window(text), is_bounded=False, **given)
    teams = {team.id: team for team in accounts.teams()}
    return queries.overview_facts(question, scene.LATER, fleet.pools(), teams)


def total(facts: queries.OverviewFacts) -> int | None:
    return sum_of_known(each.micros for each in facts.daily.states)


def test_the_overview_of_an_idle_hour() -> None:
    node_id = scene.make_priced_node()
    scene.make_gpus(node_id)
    scene.make_job("1", node_id, gpus=4)
    scene.settle(ends_at=scene.TEN + scene.HOUR)

    facts = facts_of()

    assert total(facts) == 98_320_000
    assert total(facts_of(basis=queries.Basis.BILLED)) is None
    assert facts.known.held_milliseconds == 4 * 3_600_000
    assert facts.unowned.micros == 49_160_000
    assert (facts.known.as_of, facts.known.pending_hours) == (scene.TEN + scene.HOUR, 13)


def test_the_overview_says_by_day_and_team_what_the_total_is_made_of() -> None:
    node_id = scene.make_priced_node()
    scene.make_gpus(node_id)
    scene.make_job("1", node_id, gpus=4)
    scene.settle()

    facts = facts_of()

    (states,) = facts.daily.days.values()
    assert {each.state: each.micros for each in states} == {
        State.UNOBSERVED: 49_160_000,
        State.UNALLOCATED: 49_160_000,
    }
    assert {team_id: states[0].micros for team_id, states in facts.teams.items()} == {
        scene.platform(): 49_160_000,
        scene.unowned(): 49_160_000,
    }
    assert facts.unobserved == queries.Share(49_160_000, 4 * 3_600_000)
    assert facts.contested == queries.Share(None, 0)
    assert facts.known.statuses == {"estimated"}


def test_the_overview_compares_whole_days_with_whole_days() -> None:
    began_at = scene.TEN - timedelta(hours=12)
    node_id = scene.make_priced_node(started_at=began_at)
    end_node(node_id=node_id, ended_at=began_at + timedelta(hours=5), reason="", at=scene.LATER)
    scene.settle(ends_at=scene.LATER)

    facts = facts_of("2026-03-02/2026-03-04")

    # Today has only come to 10:00: the day before yesterday is no measure for it, and the node
    # lived through only a part of it.
    assert total(facts) == 3 * 98_320_000
    assert (facts.daily.against, facts.compared) == (None, {})


def test_what_has_no_price_is_listed_by_pool_and_is_no_zero() -> None:
    make.make_node("old-01", at=scene.LATER, started_at=scene.TEN)
    scene.settle()

    facts = facts_of()

    assert total(facts) is None
    (unpriced,) = facts.unpriced
    assert (unpriced.name, unpriced.gpu_milliseconds) == ("pool of old-01", 8 * 3_600_000)


def test_shared_out_idle_shows_in_loaded_cost_only() -> None:
    pool_id = make.make_pool("h100", idle_sharing="by_held_time")
    node_id = scene.make_priced_node(pool_id=pool_id)
    uuids = scene.make_gpus(node_id)
    scene.make_job("1", node_id, gpus=4, uuids=uuids[:4])
    scene.settle()

    groups = queries.cost_groups(CubeQuestion(window()).by("team"))

    assert {group.values[0]: (group.sums.micros, group.sums.loaded_micros) for group in groups} == {
        scene.platform(): (49_160_000, 0),
        scene.unowned(): (49_160_000, 98_320_000),
    }
