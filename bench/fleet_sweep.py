"""The roll-up sweep through a database that goes away: `python -m bench.fleet_sweep`."""

import os
import time

import django
from django.db import DatabaseError, close_old_connections

from bench.ingest_sweep import EVERY_SECONDS


def main() -> None:
    """Sweep every 20 seconds; one that the database left is made up by the next."""
    os.nice(5)  # as `manage.py up` starts the worker
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from apps.telemetry.tasks import roll_up_usage

    while True:
        due = time.monotonic() + EVERY_SECONDS
        try:
            roll_up_usage()
        except DatabaseError as gone:
            print(f"sweep: {gone}", flush=True)
            close_old_connections()
        time.sleep(max(0.0, due - time.monotonic()))


if __name__ == "__main__":
    main()
