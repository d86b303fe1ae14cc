"""A fleet whose web server and database are killed under it has every window once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.proof
def test_fifty_agents_lose_and_double_nothing_while_web_and_database_are_killed(tmp_path):
    own = {name: value for name, value in os.environ.items() if not name.startswith("RUNRATE_")}
    done = subprocess.run(
        [sys.executable, "manage.py", "bench", "fleet", "--json", "--agents=50", "--minutes=1"],
        cwd=ROOT, env=own | {"RUNRATE_HOME": str(tmp_path)}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip

    figures = json.loads(done.stdout.splitlines()[-1])
    assert (figures["web_kills"], figures["database_kills"]) == (3, 1)
    assert figures["windows_sent"] == figures["windows_stored"] == 50 * 8 * 6
    assert (figures["lost"], figures["duplicated"]) == (0, 0)
    assert figures["batches_repeated"] > 0
