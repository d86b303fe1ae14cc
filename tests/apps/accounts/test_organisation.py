"""The organisation, its teams and people: chosen once, told apart, never in a loop."""

import threading

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from apps.accounts import actions, queries
from apps.accounts.models import Membership, Team, User
from apps.accounts.queries.reading import reading_once
from tests.make import NOON, make_organisation, make_person, make_team

pytestmark = pytest.mark.django_db


def parents() -> dict[int, int | None]:
    return {team.id: team.parent_id for team in queries.teams()}


def test_an_installation_begins_with_an_organisation_and_two_special_teams() -> None:
    assert not queries.has_organisation()
    make_organisation(name=" Atlas Labs ", currency="EUR", zone="Asia/Kolkata", week_starts_on=7)
    assert queries.has_organisation()
    assert queries.organisation() == queries.OrganisationFact(
        "Atlas Labs", "EUR", "Asia/Kolkata", 7, price_approval_per_cent=20
    )
    special = queries.special_teams()
    kinds = {team.id: (team.name, team.kind) for team in queries.teams()}
    assert kinds[special.platform_id] == ("Platform", "platform")
    assert kinds[special.unowned_id] == ("Unowned", "unowned")


def test_before_that_nothing_can_be_asked_of_it() -> None:
    with pytest.raises(queries.NoOrganisation):
        queries.organisation()
    with pytest.raises(queries.NoOrganisation):
        queries.special_teams()


def test_one_installation_is_one_organisation() -> None:
    make_organisation()
    with pytest.raises(actions.AlreadyBootstrapped):
        make_organisation(name="Another")
    assert queries.organisation().name == "Atlas Labs"


@pytest.mark.parametrize(
    ("given_", "refusal"),
    [
        ({"name": "  "}, actions.NameMissing),
        ({"currency": "usd"}, actions.CurrencyUnknown),
        ({"currency": "ZZZ"}, actions.CurrencyUnknown),
        ({"zone": "Mars/Olympus"}, actions.ZoneUnknown),
        ({"zone": "../../etc/passwd"}, actions.ZoneUnknown),
        ({"zone": ""}, actions.ZoneUnknown),
        ({"zone": "localtime"}, actions.ZoneUnknown),
        ({"zone": "Factory"}, actions.ZoneUnknown),
        ({"zone": "posixrules"}, actions.ZoneUnknown),
        ({"week_starts_on": 0}, actions.WeekStartUnknown),
        ({"week_starts_on": 8}, actions.WeekStartUnknown),
    ],
)
def test_what_cannot_be_kept_for_good_is_refused_by_name(given_, refusal) -> None:
    with pytest.raises(refusal):
        make_organisation(**given_)
    assert not queries.has_organisation()


def test_a_team_hangs_below_another_with_owner_and_cost_centre() -> None:
    ada = make_person()
    research = make_team("Research")
    vision = make_team("Vision", parent_id=research, cost_centre="CC-1300", owner_id=ada)
    (fact,) = [team for team in queries.teams() if team.id == vision]
    assert (fact.parent_id, fact.cost_centre, fact.kind) == (research, "CC-1300", "team")
    assert queries.person(ada).team_ids == {vision}


def test_names_of_teams_are_taken_once() -> None:
    make_team("Research")
    with pytest.raises(actions.TeamNameTaken, match="Research"):
        make_team(" Research ")
    with pytest.raises(actions.NameMissing):
        make_team(" ")


def test_a_team_cannot_stand_below_itself() -> None:
    top = make_team("Top")
    middle = make_team("Middle", parent_id=top)
    bottom = make_team("Bottom", parent_id=middle)
    for parent in (top, middle, bottom):
        with pytest.raises(actions.TeamTreeLoops, match="Top"):
            actions.move_team(team_id=top, parent_id=parent)
    actions.move_team(team_id=bottom, parent_id=top)
    assert parents()[bottom] == top


def test_moving_a_team_that_is_none_is_refused() -> None:
    with pytest.raises(Team.DoesNotExist):
        actions.move_team(team_id=make_team("Top"), parent_id=0)


class TestAnyMoves(TestCase):
    """Whatever is moved where."""

    @given(moves=st.lists(st.tuples(st.integers(0, 5), st.integers(-1, 5)), max_size=12))
    def test_the_teams_stay_a_tree(self, moves: list[tuple[int, int]]) -> None:
        ids = [make_team(f"Team {number}") for number in range(6)]
        for team, parent in moves:
            try:
                actions.move_team(team_id=ids[team], parent_id=None if parent < 0 else ids[parent])
            except actions.TeamTreeLoops:
                continue
        above = parents()
        for team in ids:
            seen = set()
            while team is not None:
                assert team not in seen
                seen.add(team)
                team = above[team]


@pytest.mark.django_db(transaction=True)
def test_two_moves_at_once_that_would_loop_together_do_not() -> None:
    left, right = make_team("Left"), make_team("Right")
    refusals = []
    start = threading.Barrier(2)

    def move(team: int, parent: int) -> None:
        start.wait()
        try:
            actions.move_team(team_id=team, parent_id=parent)
        except actions.TeamTreeLoops as refusal:
            refusals.append(refusal)
        finally:
            connection.close()

    threads = [threading.Thread(target=move, args=pair) for pair in ((left, right), (right, left))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refusals) == 1
    assert sorted(parent is None for parent in parents().values()) == [False, True]


def test_there_is_one_platform_and_one_unowned_even_past_the_actions() -> None:
    make_organisation()
    with pytest.raises(IntegrityError, match="one_platform_one_unowned"), transaction.atomic():
        Team.objects.create(name="Second platform", kind="platform")


def test_a_password_is_kept_as_an_argon2_hash() -> None:
    ada = make_person(" ADA@Example.org".strip())
    kept = User.objects.get(pk=ada)
    assert kept.password.startswith("argon2")
    assert kept.check_password("correct horse battery")
    assert kept.email == "ada@example.org"


def test_an_address_signs_in_one_person() -> None:
    make_person("ada@example.org")
    with pytest.raises(actions.PersonExists, match=r"can sign in as Ada@example\.org already"):
        make_person("Ada@example.org")


@pytest.mark.parametrize(
    ("given_", "refusal"),
    [
        ({"name": ""}, actions.NameMissing),
        ({"role": "king"}, actions.RoleUnknown),
        ({"password": "123"}, actions.PasswordTooWeak),
        ({"password": "password123"}, actions.PasswordTooWeak),
    ],
)
def test_a_person_without_name_role_or_good_password_is_refused(given_, refusal) -> None:
    with pytest.raises(refusal):
        make_person(**given_)
    assert User.objects.count() == 0


def test_who_left_is_nobody() -> None:
    ada = make_person()
    User.objects.filter(pk=ada).update(is_active=False)
    assert queries.person(ada) is None
    assert NOON.tzinfo is not None


@pytest.mark.parametrize("role", ["finance", "platform", "lead", "viewer"])
def test_a_persons_teams_bring_the_organisation_with_them(role: str) -> None:
    make_organisation()
    own, owned = make_team("Own"), make_team("Owned")
    below = make_team("Below", parent_id=own)
    person = make_person("ada@example.org", role=role)
    Membership.objects.create(user_id=person, team_id=own)
    Team.objects.filter(pk=owned).update(owner_id=person)
    with reading_once():
        with CaptureQueriesContext(connection) as asked:
            viewer = queries.viewer_of_person(user_id=person, name="Ada", role=role)
            chosen, listed = queries.organisation(), queries.teams()
        assert len(asked) == 1
    assert chosen == queries.organisation()
    assert listed == queries.teams()
    expected = {
        "lead": {own, owned, below}, "viewer": {own, below},
    }.get(role, {team.id for team in listed})  # fmt: skip
    assert viewer.team_ids == expected
