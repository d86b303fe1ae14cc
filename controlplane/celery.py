"""The Celery application: files as broker by default, sweeps on a beat."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")

app = Celery("runrate")
app.config_from_object("controlplane.beat")
app.autodiscover_tasks(
    ["apps.telemetry", "apps.pricing", "apps.workloads", "apps.ledger", "apps.fleet", "apps.review"]
)
