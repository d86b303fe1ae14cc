"""Celery's beat by itself: it sends names of tasks, so it loads none of them and no Django."""

import logging
import logging.config
import os
from typing import Any

from celery import Celery
from celery.beat import PersistentScheduler
from celery.signals import setup_logging

# Celery would set Django up, and with it every app, wherever this is there.
os.environ.pop("DJANGO_SETTINGS_MODULE", None)

from controlplane.heartbeats import OwnHeartbeat
from controlplane.settings import ENVIRONMENT, HOME, LOGGING

app = Celery("runrate")
app.config_from_object("controlplane.beat")
BEAT = OwnHeartbeat(HOME, "beat")


class ShowingScheduler(PersistentScheduler):
    """The beat's, which shows that it goes on."""

    def tick(self, *args: Any, **named: Any) -> Any:
        """Send what is due."""
        BEAT.touch()
        return super().tick(*args, **named)


@setup_logging.connect
def write_lines(**_: Any) -> None:
    """Write lines as every other process does."""
    logging.config.dictConfig(LOGGING)
    if ENVIRONMENT.log_level != "DEBUG":
        # It has a line for every message that it sends.
        logging.getLogger("celery.beat").setLevel(logging.WARNING)
