"""An agent that runs for a day is as large at its end as when it was warm."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.proof
def test_a_day_of_jobs_faults_and_reports_adds_less_than_a_mebibyte():
    done = subprocess.run(
        [sys.executable, "-m", "bench.agent_day", "--hours", "24"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip

    day = json.loads(done.stdout)
    assert (day["batches"], day["spool_items"] <= 5, day["windows_dropped"]) == (1440, True, 0)
    assert day["bulk"] >= 4
    assert day["nvml_calls"] > 24 * 3_600 * 8
    # Of proportional sizes a part is what other processes share, which come and go beside it.
    assert day["anonymous_growth_mib_per_day"] <= 1, day
    assert day["pss_mib"] <= 40
