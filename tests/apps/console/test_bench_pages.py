"""The bench of the pages finds them by itself, asks for them and says which take too much."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.machine import over
from bench.pages import TARGETS

pytestmark = pytest.mark.proof
Figures = dict[str, dict[str, dict[str, float]]]
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Figures:
    """What the command prints for ten nodes."""
    command = [sys.executable, "manage.py", "bench", "pages", "--json", "--scale", "0.008"]
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    environment |= {
        "RUNRATE_HOME": str(tmp_path_factory.mktemp("bench")),
        "RUNRATE_DATABASE_URL": "",
    }
    environment["DJANGO_SETTINGS_MODULE"] = "controlplane.settings"
    done = subprocess.run(
        [*command, "--rounds", "1"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=False
    )
    told: Figures = json.loads(done.stdout.splitlines()[-1])
    return told


def test_each_page_is_asked_for_as_whoever_gets_it(figures: Figures) -> None:
    asked = set(figures["pages"])
    assert {
        "overview as finance",
        "overview as lead",
        "costs-job as lead",
        "fleet as finance",
    } < asked
    assert "prices as finance" in asked
    assert "prices as lead" not in asked
    assert "tokens as platform" in asked, "what only platform may do was not looked for"


def test_each_page_has_its_time_queries_and_size(figures: Figures) -> None:
    for told in figures["pages"].values():
        assert told["p95_ms"] > 0
        assert set(told) == {"p95_ms", "queries", "wire_kb"}


def test_how_fast_the_machine_was_is_told_from_before_and_after(
    figures: dict[str, list[float]],
) -> None:
    before, after = figures["calibration_seconds"]
    assert before > 0 < after


def test_tables_are_reported_apart_with_their_first_byte(figures: Figures) -> None:
    assert figures["csv"]["costs-csv as finance"]["first_byte_p95_ms"] > 0
    assert not set(figures["csv"]) & set(figures["pages"])


def test_a_page_over_a_target_is_named_with_what_it_takes() -> None:
    told: dict[str, dict[str, Any]] = {
        "quick as lead": {"p95_ms": 150, "queries": 15, "wire_kb": 300},
        "slow as lead": {"p95_ms": 150.1, "queries": 16, "wire_kb": 20},
    }
    assert over(told, TARGETS) == [
        "slow as lead: p95_ms 150.1, over 150",
        "slow as lead: queries 16, over 15",
    ]
