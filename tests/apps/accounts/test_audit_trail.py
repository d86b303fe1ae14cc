"""Who changed what, from what to what: written by the database, so nothing goes around it."""

import os
import pwd
from datetime import timedelta

import pytest
from django.db import DatabaseError, OperationalError, connection, transaction
from django.test import Client

from apps.accounts import actions
from apps.accounts.actions.audit import changes_by, name_changer
from apps.accounts.models import Team, User
from apps.accounts.queries.trail import KINDS, FieldChange, TrailChange, TrailPlace, changes
from apps.pricing import actions as pricing
from controlplane.audit import changes_of_command
from tests.make import (
    NOON,
    make_node,
    make_organisation,
    make_person,
    make_rate,
    make_team,
    make_token,
)

pytestmark = pytest.mark.django_db


def newest(kind: str = "") -> TrailChange:
    return changes(kind=kind)[0]


def test_a_change_says_from_what_to_what() -> None:
    ada = make_person()
    ben = make_person("ben@example.org", name="Ben", role="viewer")
    with changes_by(person=ada):
        actions.change_role(person_id=ben, role="lead")
    change = newest()
    assert (change.who, change.verb, change.kind, change.name) == (
        "Ada",
        "changed",
        "person",
        "Ben",
    )
    assert change.fields == (FieldChange("role", "viewer", "lead"),)


def test_what_is_added_and_removed_is_told_in_full() -> None:
    ada, research = make_person(), make_team("Research")
    actions.place_in_teams(person_id=ada, team_ids=[research])
    assert (newest().verb, newest().name) == ("added", "Ada in Research")
    actions.place_in_teams(person_id=ada, team_ids=[])
    assert (newest().verb, newest().name) == ("removed", "Ada in Research")
    assert FieldChange("team", "Research", None) in newest().fields


def test_what_goes_around_the_application_is_told_as_well() -> None:
    make_team("Research")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE accounts_team SET cost_centre = '4711' WHERE name = 'Research'")
    assert newest().who == "nobody named"
    assert newest().fields == (FieldChange("cost centre", None, "4711"),)


def test_the_trail_itself_cannot_be_changed() -> None:
    make_team("Research")
    for statement in ("UPDATE accounts_teamevent SET name = 'x'", "DELETE FROM accounts_teamevent"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    assert newest().name == "Research"


def test_no_secret_password_or_digest_is_in_the_trail() -> None:
    token = make_token()
    make_person()
    with connection.cursor() as cursor:
        for statement in (
            "SELECT string_agg(row_to_json(e)::text, '') FROM accounts_userevent e",
            "SELECT string_agg(row_to_json(e)::text, '') FROM accounts_accesstokenevent e",
        ):
            cursor.execute(statement)
            ((rows,),) = cursor.fetchall()
            found = [
                word for word in ("password", "digest", "argon2", token.secret) if word in rows
            ]
            assert not found


def test_using_a_token_and_signing_in_are_not_changes() -> None:
    token = make_token()
    ada = make_person()
    before = len(changes())
    actions.touch_token(token_id=token.id, at=NOON)
    User.objects.filter(id=ada).update(last_login=NOON)
    assert len(changes()) == before


def test_prices_pools_and_their_policies_are_in_the_trail() -> None:
    make_organisation()
    node = make_node()
    assert node
    rate = make_rate()
    pricing.end_rate(rate_id=rate, ended_at=NOON + timedelta(days=1), at=NOON)
    assert {each.kind for each in changes()} >= {"pool", "share policy", "rate", "team"}
    assert [each.name for each in newest("rate").fields] == ["period"]
    (period,) = newest("rate").fields
    assert (period.old, period.new) == (
        "from 2026-03-02 12:00, open-ended",
        "from 2026-03-02 12:00 until 2026-03-03 12:00",
    )


def test_every_audited_table_has_a_word() -> None:
    from apps.accounts.queries.trail import _audited_models

    assert {label for label, _ in _audited_models()} == set(KINDS)


def test_older_changes_follow_newer_ones() -> None:
    for name in ("A", "B", "C"):
        make_team(name)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE accounts_teamevent DISABLE TRIGGER USER")
        cursor.execute(
            "UPDATE accounts_teamevent SET pgh_created_at = pgh_created_at + pgh_id * interval '1 s'"
        )
        cursor.execute("ALTER TABLE accounts_teamevent ENABLE TRIGGER USER")
    first, second = changes(limit=2)
    assert (first.name, second.name) == ("C", "B")
    assert [each.name for each in changes(before=TrailPlace(second.at))] == ["A"]


def test_changes_of_one_moment_are_all_reached_page_by_page() -> None:
    for name in ("A", "B", "C"):
        make_team(name)  # in the test's one transaction, so at one moment
    every, read = changes(), changes(limit=1)
    while older := changes(before=read[-1].place, limit=1):
        read += older
    assert read == every


def test_who_is_forgotten_after_the_block_and_only_known_within_one() -> None:
    with changes_by(person=make_person()):
        make_team("Research")
    make_team("Vision")
    name_changer(token=7)
    make_team("Video")
    assert [each.who for each in changes(kind="team")] == ["nobody named", "nobody named", "Ada"]


def test_a_block_that_cannot_begin_leaves_nobody_behind() -> None:
    with pytest.raises(TypeError), changes_by(person=object()):  # type: ignore[arg-type]
        pytest.fail("not reached")
    name_changer(token=7)
    make_team("Video")
    assert newest().who == "nobody named"


def test_a_command_is_named_with_whoever_gave_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUDO_USER", raising=False)
    account = pwd.getpwuid(os.getuid()).pw_name
    with changes_of_command("add_team"):
        make_team("Research")
    assert newest().who == f"manage.py add_team by {account}"
    monkeypatch.setenv("SUDO_USER", "ada")
    with changes_of_command("add_team"):
        make_team("Vision")
    assert newest().who == f"manage.py add_team by ada as {account}"


def test_a_request_is_its_persons_and_a_machine_is_its_token() -> None:
    make_organisation()
    client = Client()
    client.force_login(User.objects.get(pk=make_person()))
    client.post("/people/invite", {"email": "ben@example.org", "name": "Ben", "role": "viewer"})
    assert (newest("person").name, newest("person").who) == ("Ben", "Ada")
    secret = make_token("manage", name="terraform").secret
    Client().post(
        "/api/v1/tokens",
        {"name": "agent", "scopes": ["ingest"]},
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert (newest("token").name, newest("token").who) == ("agent", "token terraform")
    assert Team.objects.exists()


def test_a_database_that_is_away_is_told_by_what_was_asked_of_it(monkeypatch) -> None:
    def away(*_: object) -> None:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr("apps.accounts.actions.audit._set_context", away)
    answer = Client().post("/sign-in", {"login": "x"})
    assert answer.status_code == 200
