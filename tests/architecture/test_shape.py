"""Names, sizes and imports stay as the floor plan says."""

import ast
import inspect
import pkgutil
import re
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import apps
from bench.house import House, p90
from controlplane.refusals import STATUS_OF
from tests.architecture.python_sources import ROOT, python_sources

DOCSTRING = re.compile(r'(\s|#.*\n)*r?"""')
VAGUE = {"utils", "util", "common", "helpers", "helper", "misc", "constants", "exceptions"}


@cache
def texts() -> tuple[tuple[Path, str], ...]:
    """Every file of Python but migrations, by its path from the root."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [Path(line) for line in listed.stdout.split() if "/migrations/" not in line]
    return tuple((path, (ROOT / path).read_text()) for path in paths)


def test_no_module_is_named_for_nothing_in_particular():
    assert [str(path) for path, _ in texts() if path.stem in VAGUE] == []


def test_every_module_says_what_it_is_for():
    silent = [str(path) for path, text in texts() if text.strip() and not DOCSTRING.match(text)]
    assert silent == []


def test_no_function_is_longer_than_the_wall():
    long = [
        f"{source.path}:{where}" for source in python_sources() for where in source.long_functions
    ]
    assert long == []


def test_nine_functions_in_ten_are_short():
    assert p90(House(ROOT).lengths_of_functions()) <= 30


def test_no_file_outgrows_a_page_of_attention():
    big = [
        f"{path}: {lines}"
        for path, text in texts()
        if "tests" not in path.parts and (lines := text.count("\n")) > 400
    ]
    assert big == []


def refusals() -> list[type[Exception]]:
    """Exceptions that the apps' actions and queries raise on purpose: public, and their own."""
    found = set()
    for module in pkgutil.walk_packages(apps.__path__, "apps."):
        if not any(part in module.name for part in (".actions", ".queries")):
            continue
        loaded = import_module(module.name)
        for name, value in vars(loaded).items():
            if (
                inspect.isclass(value)
                and issubclass(value, Exception)
                and not name.startswith("_")
                and value.__module__ == module.name
            ):
                found.add(value)
    return sorted(found, key=lambda each: each.__name__)


def test_every_refusal_has_a_status():
    missing = [each.__name__ for each in refusals() if not issubclass(each, tuple(STATUS_OF))]
    assert missing == []


def test_web_processes_stay_light():
    heavy = subprocess.run(
        [
            sys.executable,
            "-c",
            "import os, sys; os.environ['DJANGO_SETTINGS_MODULE'] = 'controlplane.settings';"
            "import controlplane.wsgi; from django.urls import get_resolver; get_resolver().url_patterns;"
            "print([m for m in ('scipy', 'highspy', 'pandas', 'statsforecast', 'pyarrow', 'boto3', 'google.cloud', 'celery', 'plotly', 'narwhals', 'apps.economics.forecast.scores') if m in sys.modules])",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert heavy.stdout.strip().splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "name",
    [
        "accounts",
        "fleet",
        "telemetry",
        "pricing",
        "workloads",
        "ledger",
        "unit_economics",
        "planning",
        "placement",
    ],
)
def test_models_hold_no_rules(name):
    room = ROOT / "apps" / name
    files = [each for each in (room / "models.py", *room.glob("models/*.py")) if each.exists()]
    assert files
    overrides = [
        node.name
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name in {"save", "delete", "clean"}
    ]
    assert overrides == []
