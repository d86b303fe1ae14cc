"""Each asks what their own teams cost; the costs of others are as if there were none."""

from typing import Any

import pytest

from apps.accounts.models import Team
from tests import make
from tests.apps.ledger import scene
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db

DAY = "2026-03-02"


@pytest.fixture(scope="module", autouse=True)
def _settled(of_module: None) -> None:
    make.make_organisation()
    node_id = scene.make_priced_node(pool_id=make.make_pool("h100"), started_at=scene.TEN)
    scene.make_rule("research", make.make_team("Research"))
    scene.make_rule("secret", make.make_team("Secret project"))
    scene.make_job("1", node_id, gpus=2)
    scene.make_job("2", node_id, gpus=1, account="secret")
    scene.settle(ends_at=scene.TEN + scene.HOUR)


@pytest.fixture
def dee() -> Caller:
    caller, person_id = signed_in("dee@example.org", "lead", name="Dee")
    Team.objects.filter(name="Research").update(owner_id=person_id)
    return caller


def spent(answer: Any) -> dict[str, str]:
    return {row["team"]["name"]: row["cost"]["amount"] for row in answer.json()["results"]}


def test_a_lead_is_answered_about_their_own_teams(dee: Caller) -> None:
    answer = dee.get("costs", window=DAY, group_by="team")

    assert spent(answer) == {"Research": "24.580000"}
    assert answer.json()["totals"]["cost"]["amount"] == "24.580000"
    assert b"Secret" not in answer.content


def test_so_is_a_token_of_that_team() -> None:
    team_id = Team.objects.get(name="Research").id

    answer = with_token("read", team_id=team_id).get("costs", window=DAY, group_by="team")

    assert spent(answer) == {"Research": "24.580000"}


def test_finance_and_the_organisations_token_are_answered_about_all() -> None:
    fin, _ = signed_in("fin@example.org", "finance", name="Fin")

    for caller in (fin, with_token("read")):
        teams = spent(caller.get("costs", window=DAY, group_by="team"))
        assert set(teams) == {"Research", "Secret project", "Platform"}


@pytest.mark.parametrize("name", ["Secret project", "Platform", "No such team"])
def test_another_team_in_a_filter_is_as_if_there_were_none(dee: Caller, name: str) -> None:
    answer = dee.get("costs", window=DAY, team=name)

    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["field"]) == (400, "team")
    assert error["message"] == f"there is no team named {name!r}"


def test_a_viewer_without_a_team_is_answered_with_nothing() -> None:
    caller, _ = signed_in("cy@example.org", "viewer", name="Cy")

    answer = caller.get("costs", window=DAY, group_by="team")

    assert answer.json()["results"] == []
    assert answer.json()["totals"]["gpu_hours"] == 0


@pytest.mark.parametrize("scope", ["ingest", "jobs"])
def test_a_token_that_only_sends_asks_nothing(scope: str) -> None:
    assert with_token(scope).get("costs", window=DAY).status_code == 403
