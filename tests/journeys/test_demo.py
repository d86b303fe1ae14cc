"""The demo is the main job, whole: agent process, HTTP, sweeps, ledger, proof."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

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


def manage(home: Path, *arguments: str) -> subprocess.CompletedProcess:
    bare = {k: v for k, v in os.environ.items() if not k.startswith(("RUNRATE_", "DJANGO_"))}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**bare, "RUNRATE_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=480,
        check=False,
    )


def last_line(finished: subprocess.CompletedProcess) -> dict:
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout.splitlines()[-1])


def test_the_demo_week_becomes_a_ledger_that_adds_up(tmp_path):
    home = tmp_path / "home"
    figures = last_line(manage(home, "demo", "--no-serve", "--json"))
    assert {name: figures[name] for name in WEEK} == WEEK
    assert 0.98 < figures["coverage"] < 1

    proof = last_line(manage(home, "audit_ledger", "--json"))
    assert (proof["node_hours"], proof["missing"], proof["places"]) == (2004, 0, [])

    again = last_line(manage(home, "settle", "--json"))
    assert again["pending"] == 0
    after = last_line(manage(home, "audit_ledger", "--json"))
    assert (after["residual_micros"], after["missing"], after["places"]) == (0, 0, [])
