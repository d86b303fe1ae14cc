"""The demo is the main job, whole: agent process, HTTP, sweeps, ledger, proof."""

import json
from pathlib import Path

import pytest

from tests.journeys.installations import CommandSaid, manage

pytestmark = pytest.mark.proof

# Worked out from the scenario: 84 GPUs, less the nodes that came later or went early, for a week
# of 168 hours; 2,004 node-hours lived. The clock on the wall changes none of these.
WEEK = {
    "nodes": 13,
    "gpus": 84,
    "windows": 1_051_560,
    "jobs": 75,
    "gpu_hours": 12_670.0,
    "node_hours": 2004,
    "residual_micros": 0,
}


def last_line(finished: CommandSaid) -> dict:
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    """The demo, settled once for all tests here: where it lives, and what it says of itself."""
    home = tmp_path_factory.mktemp("demo") / "home"
    finished = manage(home, "demo", "--no-serve", "--json")
    assert "event=" not in finished.stderr, "a line for every pass buries the progress"
    return home, last_line(finished)


def test_the_demo_week_becomes_a_ledger_that_adds_up(demo):
    home, figures = demo
    assert {name: figures[name] for name in WEEK} == WEEK
    assert 0.98 < figures["coverage"] < 1

    proof = last_line(manage(home, "audit_ledger", "--json"))
    assert (proof["node_hours"], proof["missing"], proof["places"]) == (2004, 0, [])

    again = last_line(manage(home, "settle", "--json"))
    assert again["pending"] == 0
    after = last_line(manage(home, "audit_ledger", "--json"))
    assert (after["residual_micros"], after["missing"], after["places"]) == (0, 0, [])


# Where both sides are not the same arithmetic: a title has two digits, the clock goes on between two
# questions, and of a failed hour only its minutes say which GPUs stood idle in it.
NEARLY = {
    "waste on Overview, a ratio": 0.015,
    "experiments a week": 0.001,
    "waste": 0.002,
}


def test_headline_figures_are_what_raw_rows_add_up_to(demo):
    """Arithmetic of its own over lines, counts and reports: tests/journeys/headline_figures.py."""
    home, _ = demo
    said = "from tests.journeys.headline_figures import tell; tell()"
    figures = last_line(manage(home, "shell", "--no-imports", "-c", said))
    assert len(figures) >= 20
    wrong = {
        name: pair
        for name, pair in figures.items()
        if pair[0] != pytest.approx(pair[1], rel=NEARLY.get(name, 1e-6), abs=1e-5)
    }
    assert wrong == {}
    assert all(pair[0] for pair in figures.values()), figures


@pytest.mark.parametrize("service", ["chat-serving", "search-serving"])
def test_the_model_of_a_service_costs_what_the_ledger_says(demo, service):
    home, _ = demo
    measured = last_line(manage(home, "crossover", "--service", service, "--json"))["measured"]
    assert measured["hours"] > 100
    assert abs(measured["difference_ratio"]) < 0.05
    # The second half of the week has longer prompts, which no rule of the first half knows of.
    assert abs(measured["unseen_ratio"]) < 0.2
