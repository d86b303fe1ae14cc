"""The WSGI callable: batches by a door of their own, all else through Django."""

import gc
import logging
import os
from collections.abc import Callable, Iterable
from datetime import date
from typing import Any

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")

django_application = get_wsgi_application()

# After the applications are loaded: these import models.
from apps.accounts.authentication.callers import is_caller_known  # noqa: E402
from apps.show.charts import daily_cost_by_state  # noqa: E402
from apps.telemetry.api import is_sender_known, received, remember  # noqa: E402
from controlplane.refusals import plain_problem  # noqa: E402

__all__ = ["application", "is_caller_known", "is_sender_known"]
log = logging.getLogger(__name__)

# Pages and their charts are loaded before the first visitor comes, not while one waits: a figure
# makes plotly load its validators, which takes it most of a second.
get_resolver().url_patterns  # noqa: B018  # reading it loads them
daily_cost_by_state([date(2026, 1, 1)], [], "USD")
remember()

# What was loaded so far lives as long as the process: collections need not walk it each time.
gc.collect()
gc.freeze()

BATCHES = "/api/v1/telemetry/batches"
HEADERS = [("Content-Type", "application/json"), ("X-Content-Type-Options", "nosniff")]


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Django's middleware costs as much as storing a small batch does; batches need none of it.

    The same view stands in Django's addresses, so the answers are the same either way.
    """
    if environ["PATH_INFO"] != BATCHES or environ["REQUEST_METHOD"] != "POST":
        return django_application(environ, start_response)
    try:
        answer = received(environ)
    except Exception as trouble:
        response = plain_problem(trouble)
        if response is None:
            log.exception("batch_failed")
            raise
        answer = response.content
        headers = [*response.items(), HEADERS[1], ("Content-Length", str(len(answer)))]
        start_response(f"{response.status_code} {response.reason_phrase}", headers)
        return [answer]
    start_response("200 OK", [*HEADERS, ("Content-Length", str(len(answer)))])
    return [answer]
