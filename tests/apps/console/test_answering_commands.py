"""The commands that Setup shows do what it says they do."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.accounts import queries as accounts
from apps.fleet import queries as fleet
from apps.pricing.queries.listing import rates_in_force
from apps.workloads import queries as workloads
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def run(*arguments: str) -> dict:
    out = StringIO()
    call_command(*arguments, "--json", stdout=out)
    return json.loads(out.getvalue().splitlines()[-1])


def test_a_pool_gets_a_price_of_its_own() -> None:
    make.make_pool("lab")
    made = run("add_rate", "lab", "12.50", "--from", "2026-03-01")
    (rate,) = rates_in_force(make.NOON)
    assert (rate["id"], str(rate["amount"]), rate["unit"]) == (made["id"], "12.500000000", "node")


def test_two_prices_at_one_time_are_refused() -> None:
    make.make_pool("lab")
    run("add_rate", "lab", "12.50", "--from", "2026-03-01")
    with pytest.raises(CommandError, match="has a price at that time already"):
        run("add_rate", "lab", "13", "--from", "2026-03-02")


def test_a_price_of_an_unknown_pool_is_refused_by_name() -> None:
    with pytest.raises(CommandError, match="no pool named 'labb'"):
        run("add_rate", "labb", "12.50", "--from", "2026-03-01")


def test_a_node_ends_when_somebody_says_so() -> None:
    node_id = make.make_node("gpu-01")
    assert run("end_node", "gpu-01", "--at", "2026-03-03T14:00Z") == {"id": node_id}
    later = make.NOON + timedelta(days=2)
    assert fleet.nodes_alive_between(later, later + timedelta(hours=1)) == []


def test_a_node_cannot_end_before_it_began_or_in_the_future() -> None:
    make.make_node("gpu-01")
    with pytest.raises(CommandError, match="--at: gpu-01 began only at"):
        run("end_node", "gpu-01", "--at", "2026-03-01")
    with pytest.raises(CommandError, match="lies in the future"):
        run("end_node", "gpu-01", "--at", "2126-03-01")


def test_a_team_is_added_below_another() -> None:
    parent = run("add_team", "Research", "--cost-centre", "CC-1")["id"]
    run("add_team", "Vision", "--parent", "Research")
    (vision,) = [team for team in accounts.teams() if team.name == "Vision"]
    assert vision.parent_id == parent
    with pytest.raises(CommandError, match="already"):
        run("add_team", "Vision")


def test_a_rule_shows_what_it_moves_before_it_moves_it() -> None:
    team_id = make.make_team("Research")
    job_id = scene.make_job("1", scene.make_priced_node(), account="nlp")
    asked = ("add_rule", "Research", "--account", "nlp", "--cluster", "atlas")

    shown = run(*asked, "--preview")
    assert shown == {"id": None, "matched_jobs": 1, "moved_gpu_hours": 8.0}
    assert workloads.owners([job_id], scene.TEN)[job_id].team_id is None

    added = run(*asked)
    assert added["moved_gpu_hours"] == 8.0
    assert workloads.owners([job_id], scene.TEN)[job_id].team_id == team_id
    with pytest.raises(CommandError, match="already"):
        run(*asked)


def test_a_rule_that_asks_nothing_of_a_job_is_refused() -> None:
    make.make_team("Research")
    with pytest.raises(CommandError, match="say which jobs"):
        run("add_rule", "Research")
