"""What every test stands on: a real Postgres, started once and private to the test run."""

import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
PROCESS = contextlib.ExitStack()

settings.register_profile("dev", max_examples=25, deadline=None)
settings.register_profile(
    "ci", max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("RUNRATE_HYPOTHESIS", "dev"))


def pytest_configure(config: pytest.Config) -> None:
    """Start the embedded Postgres before Django reads its settings, unless one is given."""
    os.environ.setdefault("RUNRATE_HOME", str(ROOT / "var" / "test"))
    if "RUNRATE_DATABASE_URL" not in os.environ:
        from controlplane.embedded_postgres import database_for

        PROCESS.enter_context(database_for(Path(os.environ["RUNRATE_HOME"]), ""))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop what was started."""
    PROCESS.close()
