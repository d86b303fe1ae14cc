"""The commands that make an organisation and let people in."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.accounts import actions
from apps.accounts.models import User
from apps.accounts.queries import organisation, special_teams
from tests.make import NOON, make_organisation, make_person, make_rate

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue().strip()


def test_bootstrap_makes_the_organisation_that_is_named() -> None:
    said = run("bootstrap", "--name", "Atlas", "--currency", "EUR", "--week-start", "sunday")
    assert said == "Atlas: EUR, UTC."
    assert (organisation().currency, organisation().week_starts_on) == ("EUR", 7)


def test_bootstrap_replaces_defaults_that_nobody_chose_and_nothing_rests_on() -> None:
    actions.bootstrap_with_defaults(at=NOON)
    before = special_teams()
    line = run("bootstrap", "--name", "Atlas", "--zone", "Asia/Kolkata", "--json")
    assert json.loads(line) == {
        "name": "Atlas",
        "currency": "USD",
        "zone": "Asia/Kolkata",
        "week_starts_on": 1,
    }
    assert organisation().zone == "Asia/Kolkata"
    assert special_teams() == before
    with pytest.raises(CommandError, match="already"):
        run("bootstrap", "--name", "Another")


def test_bootstrap_leaves_defaults_alone_once_prices_or_nodes_rest_on_them() -> None:
    actions.bootstrap_with_defaults(at=NOON)
    make_rate("55.04")
    with pytest.raises(CommandError, match="rest on the currency"):
        run("bootstrap", "--name", "Atlas", "--currency", "EUR")
    assert organisation().currency == "USD"


def test_bootstrap_says_why_it_cannot() -> None:
    with pytest.raises(CommandError, match="not a zone"):
        run("bootstrap", "--name", "Atlas", "--zone", "Nowhere")
    make_organisation()
    with pytest.raises(CommandError, match="already"):
        run("bootstrap", "--name", "Atlas")


def test_a_person_is_added_with_a_password_made_for_them() -> None:
    line = run("add_person", "ada@example.org", "--name", "Ada", "--role", "platform", "--json")
    made = json.loads(line)
    assert User.objects.get(pk=made["id"]).check_password(made["password"])


def test_a_password_file_is_read_and_its_content_not_printed(tmp_path) -> None:
    path = tmp_path / "password"
    path.write_text("correct horse battery\n")
    arguments = ("add_person", "ada@example.org", "--name", "Ada", "--password-file", str(path))
    assert run(*arguments) == "ada@example.org can sign in."
    assert User.objects.get().check_password("correct horse battery")


def test_a_person_who_cannot_be_added_is_said_so(tmp_path) -> None:
    make_person("ada@example.org")
    with pytest.raises(CommandError, match=r"can sign in as .* already"):
        run("add_person", "ada@example.org", "--name", "Ada")
    with pytest.raises(CommandError, match="--password-file"):
        run("add_person", "b@c.org", "--name", "B", "--password-file", str(tmp_path / "none"))
    (tmp_path / "empty").touch()
    with pytest.raises(CommandError, match="is empty"):
        run("add_person", "b@c.org", "--name", "B", "--password-file", str(tmp_path / "empty"))
