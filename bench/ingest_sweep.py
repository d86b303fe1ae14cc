"""The roll-up as the worker runs it, every 20 seconds until stopped: `python -m bench.ingest_sweep`."""

import os
import time

import django

EVERY_SECONDS = 20.0


def main() -> None:
    """Sweep, wait for the next beat, sweep."""
    os.nice(5)  # as `manage.py up` starts the worker
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from apps.telemetry.tasks import roll_up_usage

    while True:
        due = time.monotonic() + EVERY_SECONDS
        roll_up_usage()
        time.sleep(max(0.0, due - time.monotonic()))


if __name__ == "__main__":
    main()
