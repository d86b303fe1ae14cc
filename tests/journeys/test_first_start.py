"""A newcomer's first command: a database appears, an organisation with it, and it says so."""

import json
import os
import pwd
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def manage(home: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run a command as a newcomer would: no settings, an empty RUNRATE_HOME."""
    bare = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("RUNRATE_", "DJANGO_"))
    }
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**bare, "RUNRATE_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@dataclass
class Installed:
    """An installation that its first command made, and what that command said."""

    home: Path
    first: subprocess.CompletedProcess


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    home = tmp_path_factory.mktemp("newcomer") / "home"
    return Installed(home, manage(home, "audit_ledger", "--json"))


def test_the_first_command_starts_postgres_bootstraps_and_stops_what_it_started(installed):
    first = installed.first
    assert first.returncode == 0, first.stderr
    assert "New installation: USD, UTC" in first.stderr
    proof = json.loads(first.stdout.splitlines()[-1])
    assert (proof["node_hours"], proof["residual_micros"], proof["missing"]) == (0, 0, 0)
    assert not (installed.home / "postgres" / "postmaster.pid").exists()

    second = manage(installed.home, "audit_ledger", "--json")
    assert second.returncode == 0, second.stderr
    assert "New installation" not in second.stderr


def test_the_trail_names_the_command_that_changed_something(installed):
    home = installed.home
    added = manage(home, "add_team", "Research")
    assert added.returncode == 0, added.stderr
    told = manage(home, "shell", "-c", WHO_DID_WHAT)
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


def test_the_demo_leaves_a_database_with_own_data_alone(installed):
    home = installed.home
    made = manage(home, "shell", "-c", OWN_POOL)
    assert made.returncode == 0, made.stderr
    refused = manage(home, "demo", "--no-serve", "--json")
    assert refused.returncode != 0
    assert "this database is in use" in refused.stderr


OWN_POOL = """
from datetime import datetime, UTC
from controlplane.readiness import make_ready
make_ready()
from apps.fleet import actions
actions.add_pool(
    pool=actions.NewPool(name="mine", provider="own", purchase_option="owned"), at=datetime.now(UTC)
)
"""
WHO_DID_WHAT = """
from apps.accounts.queries.trail import changes
for each in changes(kind="team"):
    print(f"{each.name}: {each.who}")
"""
