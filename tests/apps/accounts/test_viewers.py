"""Who asks, and what they may see."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ObjectDoesNotExist
from django.test import RequestFactory

from apps.accounts import actions, queries
from apps.accounts.authentication import AuthenticationRefused, viewer_of_request
from apps.accounts.models import Membership, User
from tests.make import NOON, make_organisation, make_person, make_team, make_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def tree() -> dict[str, int]:
    """Research > Vision > Video, and Search beside it."""
    make_organisation()
    research = make_team("Research")
    vision = make_team("Vision", parent_id=research)
    video = make_team("Video", parent_id=vision)
    return {"research": research, "vision": vision, "video": video, "search": make_team("Search")}


def token_fact(*scopes: str, **given) -> queries.TokenFact:
    """What is known of a token with these scopes."""
    fact = queries.token_of(make_token(*scopes, **given).secret, NOON)
    assert fact is not None
    return fact


@pytest.mark.parametrize(
    ("role", "may"),
    [("finance", ("may_close",)), ("platform", ("may_manage",))],
)
def test_finance_and_platform_see_everything(tree, role, may) -> None:
    viewer = queries.viewer_of_user(make_person(role=role))
    assert viewer.sees_everything
    assert viewer.sees_prices
    assert viewer.team_ids >= set(tree.values())
    assert viewer.sees_team(None)
    assert [right for right in ("may_manage", "may_close") if getattr(viewer, right)] == list(may)


def test_a_lead_sees_the_teams_they_own_or_belong_to_and_all_below(tree) -> None:
    dee = make_person("dee@example.org", role="lead")
    owned = actions.add_team(name="Robots", owner_id=dee)
    Membership.objects.create(user_id=dee, team_id=tree["vision"])
    viewer = queries.viewer_of_user(dee)
    assert viewer.team_ids == {owned, tree["vision"], tree["video"]}
    assert not any((viewer.sees_everything, viewer.sees_prices, viewer.may_manage))
    assert viewer.sees_team(tree["video"])
    assert not viewer.sees_team(tree["search"])
    assert not viewer.sees_team(None)


def test_a_viewer_sees_where_they_are_a_member_and_nothing_by_owning(tree) -> None:
    ben = make_person("ben@example.org", role="viewer")
    actions.add_team(name="Robots", owner_id=ben)
    assert queries.viewer_of_user(ben).team_ids == frozenset()
    Membership.objects.create(user_id=ben, team_id=tree["search"])
    assert queries.viewer_of_user(ben).team_ids == {tree["search"]}


def test_somebody_who_left_is_nobody(tree) -> None:
    ben = make_person("ben@example.org")
    User.objects.filter(id=ben).update(is_active=False)
    with pytest.raises(ObjectDoesNotExist):
        queries.viewer_of_user(ben)


def test_a_token_of_the_organisation_reads_it_and_manages_only_by_scope(tree) -> None:
    reader = queries.viewer_of_token(token_fact("read"))
    assert (reader.sees_everything, reader.sees_prices, reader.may_manage) == (True, True, False)
    manager = queries.viewer_of_token(token_fact("manage"))
    assert (manager.sees_everything, manager.may_manage, manager.may_close) == (True, True, False)
    assert manager.person_id is None


def test_a_token_of_a_team_reads_that_team_and_below_and_manages_nothing(tree) -> None:
    viewer = queries.viewer_of_token(token_fact("read", "manage", team_id=tree["vision"]))
    assert viewer.team_ids == {tree["vision"], tree["video"]}
    assert not any((viewer.sees_everything, viewer.sees_prices, viewer.may_manage))


@pytest.mark.parametrize("scope", ["ingest", "jobs"])
def test_a_token_that_writes_facts_sees_nothing(tree, scope) -> None:
    viewer = queries.viewer_of_token(token_fact(scope))
    assert viewer.team_ids == frozenset()
    assert not any((viewer.sees_everything, viewer.sees_prices, viewer.may_manage))


def test_a_token_is_made_only_for_a_team_that_exists() -> None:
    with pytest.raises(ObjectDoesNotExist):
        make_token("read", team_id=404)


def test_a_request_is_looked_at_in_one_query(tree, django_assert_num_queries) -> None:
    request = RequestFactory().get("/")
    request.user = User.objects.get(pk=make_person(role="lead", name="Dee"))
    with django_assert_num_queries(1):
        assert viewer_of_request(request).name == "Dee"


def test_a_request_of_a_stranger_is_refused(tree) -> None:
    request = RequestFactory().get("/")
    request.user = AnonymousUser()
    with pytest.raises(AuthenticationRefused):
        viewer_of_request(request)
    request.user = User(is_active=False)
    with pytest.raises(AuthenticationRefused):
        viewer_of_request(request)
