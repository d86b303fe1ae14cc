"""Days by team give what the days that they sum give, to every question that both can answer."""

from datetime import date, timedelta

import pytest
from django.db import transaction

from apps.accounts import queries as accounts
from apps.accounts.queries import Viewer
from apps.fleet import queries as fleet
from apps.ledger import queries
from apps.ledger.models import LedgerDay, LedgerTeamDay
from apps.ledger.queries.cube import CubeQuestion
from apps.ledger.queries.cube.days import costs_by_day
from apps.ledger.queries.cube.states import state_sums
from apps.ledger.queries.loading import Loading
from apps.ledger.queries.tables import run
from apps.marks.actions import Mark, mark
from apps.marks.queries import Pass
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db

SPAN = timedelta(hours=30)
GROUPINGS: tuple[list[str], ...] = ([], ["team"], ["day", "state"], ["status", "kind"])
EVERYONE = Viewer(
    person_id=None,
    name="",
    role="finance",
    sees_everything=True,
    team_ids=frozenset(),
    sees_prices=True,
    may_manage=False,
    may_close=False,
)


@pytest.fixture(scope="module", autouse=True)
def pools(of_module: None) -> frozenset[int]:
    """Three pools over two days: priced and not, held and idle, shared out, owned and not."""
    make.make_organisation()
    priced = make.make_pool("h100", idle_sharing="by_held_time")
    node_id = scene.make_priced_node(pool_id=priced)
    uuids = scene.make_gpus(node_id)
    scene.make_rule("research", make.make_team("Research"))
    scene.make_job("1", node_id, gpus=2, uuids=uuids[:2], account="research")
    scene.make_job("2", node_id, gpus=4, uuids=uuids[2:6], account="lab")
    scene.make_usage(scene.device_ids(uuids[:1])[0], [120] * 60)
    scene.make_priced_node("gpu-02")
    make.make_node("old-01", at=scene.LATER, started_at=scene.TEN)
    scene.settle(at=scene.TEN + SPAN, ends_at=scene.TEN + SPAN)
    return frozenset(fleet.pools())


def window(text: str = "2026-03-02/2026-03-04") -> queries.Window:
    return queries.window_of(text, queries.Calendar("UTC", 1, date(2026, 3, 4)))


def test_there_is_something_of_everything_to_add_up() -> None:
    found = LedgerTeamDay.objects
    assert {each.day.day for each in found.all()} == {2, 3}
    assert found.filter(effective_micros=None).exists()
    assert found.exclude(effective_micros=None).exists()
    assert found.values("team_id").distinct().count() == 3
    assert found.filter(flags__gte=64).exists()
    assert found.count() < LedgerDay.objects.count()


@pytest.mark.parametrize("basis", queries.Basis)
def test_the_overview_is_the_same_from_either(pools: frozenset[int], basis: queries.Basis) -> None:
    by_team = CubeQuestion(window(), basis=basis, is_bounded=False)
    by_pool = by_team.of(pool=pools)
    teams = {team.id: team for team in accounts.teams()}

    of_teams, of_pools = (
        queries.overview_facts(each, scene.TEN + SPAN, fleet.pools(), teams)
        for each in (by_team, by_pool)
    )

    assert of_teams == of_pools


@pytest.mark.parametrize("basis", queries.Basis)
def test_sums_are_the_same_from_either(pools: frozenset[int], basis: queries.Basis) -> None:
    by_team = CubeQuestion(window(), basis=basis)
    by_pool = by_team.of(pool=pools)

    of_teams = [queries.cost_groups(by_team.by(*groups)) for groups in GROUPINGS]

    assert of_teams == [queries.cost_groups(by_pool.by(*groups)) for groups in GROUPINGS]


@pytest.mark.parametrize("loading", Loading)
def test_the_way_down_is_the_same_from_either(pools: frozenset[int], loading: Loading) -> None:
    by_team = CubeQuestion(window(), loading=loading, is_bounded=False)
    by_pool = by_team.of(pool=pools)

    assert state_sums(by_team.by("team")) == state_sums(by_pool.by("team"))
    at = scene.TEN + SPAN
    assert costs_by_day(by_team, at) == costs_by_day(by_pool, at)


def test_rolling_one_pool_up_again_keeps_the_others(pools: frozenset[int]) -> None:
    before = list(LedgerTeamDay.objects.order_by("id").values_list("day", "unit_milliseconds"))
    run("DELETE FROM ledger_ledgerteamday WHERE day = '2026-03-02'", {})
    midnight = scene.TEN.replace(hour=0)
    with transaction.atomic():
        mark([Mark(Pass.ROLLUP, min(pools), midnight)])

    scene.settle(at=scene.TEN + SPAN, ends_at=scene.TEN + SPAN)

    after = LedgerTeamDay.objects.values_list("day", "unit_milliseconds")
    assert sorted(after) == sorted(before)
