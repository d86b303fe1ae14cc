"""What the SDK sends is what the server is tested with."""

import json
from pathlib import Path

import pytest

from tests.agents.sdk_story import still, train

CONTRACT = Path(__file__).parents[1] / "contract" / "run_reports.json"


def test_the_reports_of_a_run_are_those_of_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, reports = still(monkeypatch)
    train(clock)
    assert json.loads(json.dumps(reports)) == json.loads(CONTRACT.read_text())
