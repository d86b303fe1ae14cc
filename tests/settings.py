"""Settings of the test run: the product's own, on a Postgres that runs before they are read."""

import atexit
import contextlib
import os
from pathlib import Path

from controlplane.embedded_postgres import database_for
from tests.databases import forget_durability, home_of_tests

PROCESS = contextlib.ExitStack()

os.environ.setdefault("RUNRATE_HOME", str(home_of_tests()))
# Workers of a parallel run find the controller's server in the environment.
if "RUNRATE_DATABASE_URL" not in os.environ:
    forget_durability(PROCESS.enter_context(database_for(Path(os.environ["RUNRATE_HOME"]), "")))
    atexit.register(PROCESS.close)

from controlplane.settings import *  # noqa: E402, F403 - they read the database's address at import

PASSWORD_HASHERS = ["tests.passwords.QuickArgon2"]
