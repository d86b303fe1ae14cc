"""A newcomer's first command: a database appears, an organisation with it, and it says so."""

import json
import os
import pwd
from pathlib import Path

import pytest

from tests.journeys.installations import FirstStart, manage


@pytest.fixture(scope="module")
def begun(first_start: FirstStart, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of an installation in which somebody added a team."""
    home = first_start.copied_to(tmp_path_factory.mktemp("newcomer"))
    added = manage(home, "add_team", "Research")
    assert added.returncode == 0, added.stderr
    assert "New installation" not in added.stderr
    return home


def test_the_first_command_starts_postgres_bootstraps_and_stops_what_it_started(first_start):
    first = first_start.said
    assert first.returncode == 0, first.stderr
    assert "New installation: USD, UTC" in first.stderr
    proof = json.loads(first.stdout.splitlines()[-1])
    assert (proof["node_hours"], proof["residual_micros"], proof["missing"]) == (0, 0, 0)
    assert not (first_start.home / "postgres" / "postmaster.pid").exists()


def test_the_trail_names_the_command_that_changed_something(begun):
    told = manage(begun, "shell", "-c", WHO_DID_WHAT)
    account = pwd.getpwuid(os.getuid()).pw_name
    for team, command in (
        ("Research", "add_team"), ("Platform", "audit_ledger"), ("Unowned", "audit_ledger"),
    ):  # fmt: skip
        assert f"{team}: manage.py {command} by {account}" in told.stdout, told.stderr


@pytest.mark.proof
def test_an_installation_can_be_bootstrapped_in_another_currency_and_zone(tmp_path):
    home = tmp_path / "home"
    chosen = manage(home, "bootstrap", "--name", "Ørsted Labs", "--currency", "EUR",
                    "--zone", "Europe/Copenhagen", "--week-start", "sunday")  # fmt: skip
    assert chosen.returncode == 0, chosen.stderr
    again = manage(home, "bootstrap", "--name", "Other")
    assert again.returncode != 0
    assert "already" in again.stderr


def test_the_demo_leaves_a_database_with_own_data_alone(begun):
    refused = manage(begun, "demo", "--no-serve", "--json")
    assert refused.returncode != 0
    assert "this database is in use" in refused.stderr


WHO_DID_WHAT = """
from apps.accounts.queries.trail import changes
for each in changes(kind="team"):
    print(f"{each.name}: {each.who}")
"""
