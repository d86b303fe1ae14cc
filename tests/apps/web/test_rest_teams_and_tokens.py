"""Each sees their own teams; tokens are for who manages them."""

from typing import Any

import pytest
from django.core.cache import cache

from apps.accounts.models import AccessToken, Membership, Team
from tests import make
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _organisation() -> None:
    cache.clear()
    make.make_organisation()


def names(answer: Any) -> list[str]:
    return [row["name"] for row in answer.json()["results"]]


def led(email: str, team_id: int) -> Caller:
    caller, person_id = signed_in(email, "lead", name=email)
    Team.objects.filter(pk=team_id).update(owner_id=person_id)
    return caller


def test_a_lead_sees_their_team_and_those_below_and_no_other() -> None:
    research = make.make_team("Research")
    make.make_team("Vision", parent_id=research)
    make.make_team("Secret project")

    assert names(led("dee@example.org", research).get("teams")) == ["Research", "Vision"]


def test_a_team_of_others_is_as_if_there_were_none() -> None:
    dee = led("dee@example.org", make.make_team("Research"))
    other = make.make_team("Secret project")

    for answer in (dee.get(f"teams/{other}"), dee.get("teams/999999")):
        assert answer.status_code == 404
        assert b"Secret" not in answer.content


def test_the_team_above_ones_own_reads_another_team() -> None:
    above = make.make_team("Secret project")
    own = make.make_team("Research", parent_id=above)

    body = led("dee@example.org", own).get(f"teams/{own}").json()

    assert body["parent"] == {"id": None, "name": "another team"}
    assert led("eve@example.org", own).get("teams", parent="Secret project").json()["results"] == []


def test_a_viewer_without_a_team_sees_no_team() -> None:
    make.make_team("Research")
    caller, _ = signed_in("cy@example.org", "viewer", name="Cy")

    assert caller.get("teams").json()["results"] == []


def test_a_member_sees_their_team() -> None:
    team_id = make.make_team("Research")
    ben, person_id = signed_in("ben@example.org", "viewer", name="Ben")
    Membership.objects.create(user_id=person_id, team_id=team_id)

    assert names(ben.get("teams")) == ["Research"]


@pytest.mark.parametrize("role", ["finance", "lead", "viewer"])
def test_only_platform_changes_teams_and_reads_tokens(role: str) -> None:
    team_id = make.make_team("Research")
    caller, _ = signed_in("cy@example.org", role, name="Cy")

    # A session also needs Django's CSRF token, which the test client vouches for.
    assert caller.post("teams", {"name": "Vision"}).status_code == 403
    assert caller.patch(f"teams/{team_id}", {"cost_centre": "x"}).status_code == 403
    assert caller.get("tokens").status_code == 403
    assert caller.post("tokens", {"name": "x", "scopes": ["manage"]}).status_code == 403


@pytest.mark.parametrize("scopes", [("read",), ("jobs",), ("ingest",)])
def test_a_token_without_manage_makes_no_token(scopes: tuple[str, ...]) -> None:
    caller = with_token(*scopes)

    assert caller.post("tokens", {"name": "x", "scopes": ["manage"]}).status_code == 403
    assert caller.get("tokens").status_code == 403


def test_a_managing_token_of_one_team_does_not_manage_the_organisation() -> None:
    caller = with_token("manage", team_id=make.make_team("Research"))

    assert caller.post("teams", {"name": "Vision"}).status_code == 403
    assert caller.post("tokens", {"name": "x", "scopes": ["manage"]}).status_code == 403


def test_a_token_is_made_used_and_revoked() -> None:
    make.make_team("Research")
    ada, ada_id = signed_in("ada@example.org", "platform", name="Ada")
    asked = {"name": "reports", "scopes": ["read"], "team": "Research"}
    made = ada.post("tokens", asked)
    machine = Caller(made.json()["secret"])

    assert made.headers["Cache-Control"] == "no-store"
    assert AccessToken.objects.get(pk=made.json()["id"]).made_by_id == ada_id
    assert names(machine.get("teams")) == ["Research"]

    revoked = ada.post(f"tokens/{made.json()['id']}/revoke")
    again = ada.post(f"tokens/{made.json()['id']}/revoke")

    assert revoked.json()["revoked_at"] == again.json()["revoked_at"] is not None
    assert machine.get("teams").status_code == 401


def test_no_list_shows_a_secret() -> None:
    caller = with_token("manage")
    secret = caller.post("tokens", {"name": "reports", "scopes": ["read"]}).json()["secret"]

    for answer in (caller.get("tokens"), caller.get("tokens", accept="text/csv")):
        assert b"reports" in answer.content
        assert secret.encode() not in answer.content


def test_a_team_is_moved_and_booked_elsewhere_and_never_below_itself() -> None:
    caller = with_token("manage")
    research = make.make_team("Research")
    vision = make.make_team("Vision", parent_id=research)

    moved = caller.patch(f"teams/{vision}", {"parent": None, "cost_centre": "CC-9"}).json()
    assert (moved["parent"], moved["cost_centre"]) == (None, "CC-9")

    caller.patch(f"teams/{vision}", {"parent": "Research"})
    assert caller.patch(f"teams/{research}", {"parent": "Vision"}).status_code == 409
