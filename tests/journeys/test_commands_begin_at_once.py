"""A command loads what it needs and no more, and only `check` and `prepare` run Django's checks."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import get_commands
from django.core.management.base import BaseCommand
from django.urls import reverse

from apps.accounts.queries.invitation_paths import first_person_path, invitation_path
from controlplane.command_line import OURS, CommandLine
from tests import make
from tests.databases import address
from tests.journeys.installations import ROOT, bare_environment

NEVER = {
    "apps.console.kit", "apps.console.pages", "apps.console.urls", "controlplane.urls", "drf_spectacular.openapi",
    "pandas", "plotly", "requests", "rest_framework.serializers", "rest_framework.views", "rich", "scipy",
    "statsforecast",
}  # fmt: skip
"""Pages, rules of REST, and what draws, forecasts or signs people in: none of it is a command's."""
NOT_FOR_MASTER_DATA = NEVER | {"celery", "numpy", "apps.ledger.queries", "apps.ledger.actions"}
WITH_SWEEPS = {"demo", "settle", "sync_cloud"}
"""They call what a worker does, which registers itself with Celery."""
NEEDED = {
    "demo": {"apps.console.kit"},
}
"""The demo draws what it says."""
LIGHT_ROOMS = ("apps.accounts", "apps.fleet", "apps.pricing", "apps.workloads")
"""Rooms below the ledger: commands of theirs do no arithmetic."""

LOADED = """
import json, sys
from django import setup
setup()
from django.core.management import get_commands, load_command_class
watched, light, last = map(set, json.loads(sys.argv[1]))
ours = {name: app for name, app in get_commands().items() if app.startswith(("apps.", "controlplane"))}
brought, before = {"none": sorted(watched & set(sys.modules))}, set(sys.modules)
for name in sorted(ours, key=lambda name: (name in last, ours[name] not in light, name)):
    load_command_class(ours[name], name)
    brought[name] = sorted(watched & set(sys.modules) - before)
    before = set(sys.modules)
print(json.dumps(brought))
"""
"""All commands in one process, those of light rooms first: what each is the first to load."""


def commands_of_ours() -> set[str]:
    return {name for name, app in get_commands().items() if app.startswith(OURS)}


@pytest.fixture(scope="module")
def brought(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Each command of ours, with the watched modules that it is the first to load."""
    environment = bare_environment(tmp_path_factory.mktemp("home"))
    order = [sorted(NOT_FOR_MASTER_DATA), LIGHT_ROOMS, sorted(WITH_SWEEPS)]
    done = subprocess.run(
        [sys.executable, "-c", LOADED, json.dumps(order)],
        cwd=ROOT,
        env=environment | {"DJANGO_SETTINGS_MODULE": "controlplane.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {name: set(modules) for name, modules in json.loads(done.stdout).items()}


def test_no_command_loads_pages_rest_or_what_draws(brought: dict[str, set[str]]) -> None:
    assert len(brought) > 50
    heavy = {name: modules & NEVER for name, modules in brought.items() if modules & NEVER}
    assert heavy == NEEDED


def test_celery_comes_with_the_commands_that_do_a_sweeps_work_alone(
    brought: dict[str, set[str]],
) -> None:
    assert {name for name, modules in brought.items() if "celery" in modules} <= WITH_SWEEPS


def test_a_command_about_people_machines_prices_or_jobs_loads_no_ledger_and_no_arithmetic(
    brought: dict[str, set[str]],
) -> None:
    apps = get_commands()
    light = {
        name: modules
        for name, modules in brought.items()
        if name == "none" or apps[name] in LIGHT_ROOMS
    }
    assert {name: modules for name, modules in light.items() if modules} == {}
    assert {"add_person", "add_pool", "load_price_table", "import_sacct"} <= set(light)


RUN = """
import json, sys
from controlplane.command_line import CommandLine
for words in json.loads(sys.argv[1]):
    CommandLine(["manage.py", *words.split()]).execute()
print(json.dumps(sorted(set(json.loads(sys.argv[2])) & set(sys.modules))))
"""
SET_UP = (
    "first_person",
    "add_person you@example.com --name You --role finance",
    "invite_person lead@example.com --name Lead --role viewer",
    "add_team Vision",
    "add_cluster atlas --kind slurm",
    "make_join_token --cluster atlas --nodes gpu-01",
    "make_token me --scope read",
    "load_price_table",
)


@pytest.mark.django_db(transaction=True)
def test_what_a_first_set_up_runs_loads_no_page_while_it_runs_either(tmp_path: Path) -> None:
    """A link to a page is printed without the page."""
    make.make_organisation()
    environment = bare_environment(tmp_path) | {
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        "RUNRATE_DATABASE_URL": address(),
    }
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(SET_UP), json.dumps(sorted(NOT_FOR_MASTER_DATA))],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []
    assert "/invitation/" in done.stdout


def test_links_that_commands_print_lead_to_their_pages() -> None:
    assert reverse("accept-invitation", args=["s"]) == invitation_path("s")
    assert reverse("first-person", args=["s"]) == first_person_path("s")


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whose checks ran, by module."""
    ran: list[str] = []

    def check(command: BaseCommand, *args: object, **options: object) -> None:
        ran.append(type(command).__module__.rpartition(".")[2])

    monkeypatch.setattr(BaseCommand, "check", check)
    return ran


def test_no_command_of_ours_asks_for_checks() -> None:
    line = CommandLine(["manage.py"])
    asking = {
        name for name in commands_of_ours() if line.fetch_command(name).requires_system_checks
    }
    assert asking == set()


@pytest.mark.django_db
def test_a_command_that_is_run_runs_no_checks(checked: list[str]) -> None:
    CommandLine(["manage.py", "add_team", "Research"]).execute()
    assert checked == []


def test_check_and_prepare_run_all_of_them(checked: list[str]) -> None:
    for command in ("check", "prepare"):
        CommandLine(["manage.py", command]).execute()
    assert checked == ["check", "prepare"]
    assert "manage.py check" in (ROOT / "Makefile").read_text().split("\nlint:")[1].split("\n\n")[0]


def test_a_bad_setting_stops_every_command_in_one_sentence(tmp_path: Path) -> None:
    for command in ("up", "add_team"):
        done = subprocess.run(
            [sys.executable, "manage.py", command],
            cwd=ROOT,
            env=bare_environment(tmp_path) | {"RUNRATE_WEB_THREADS": "many"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert done.stderr == "Runrate does not start: RUNRATE_WEB_THREADS cannot be 'many'\n"
    assert not list(tmp_path.iterdir())
