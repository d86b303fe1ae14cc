"""The Celery application: files as broker by default, sweeps on a beat."""

import os
from contextlib import ExitStack
from typing import Any

from celery import Celery, bootsteps
from celery.signals import (
    before_task_publish,
    task_postrun,
    task_prerun,
    worker_init,
    worker_shutting_down,
)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")

from apps.files.stopping import STOP
from apps.logs.context import acting, current_request
from controlplane.broker import LOOKS_FOR_MESSAGES
from controlplane.heartbeats import EVERY_SECONDS, OwnHeartbeat
from controlplane.settings import HOME
from controlplane.statement_limits import PASSES, limit_this_process

app = Celery("runrate")
app.config_from_object("controlplane.beat")
app.autodiscover_tasks(
    [
        "apps.accounts",
        "apps.telemetry",
        "apps.pricing",
        "apps.workloads",
        "apps.ledger",
        "apps.unit_economics",
        "apps.fleet",
        "apps.planning",
        "apps.placement",
        "apps.review",
        "controlplane",
    ]
)

if PASSES.statement:
    limit_this_process(PASSES)

WORKER = OwnHeartbeat(HOME, "worker")


class SignOfLife(bootsteps.StartStopStep):
    """Shows that the worker's loop goes on: by its timer, which a loop of events runs itself.

    A loop that asks for messages has its timer in another thread; it says so itself, in the broker of files.
    """

    requires = ("celery.worker.components:Timer",)

    def start(self, parent: Any) -> None:
        """Begin with the worker."""
        if parent.use_eventloop:
            parent.timer.call_repeatedly(EVERY_SECONDS, WORKER.touch)
        else:
            LOOKS_FOR_MESSAGES.append(WORKER.touch)


app.steps["worker"].add(SignOfLife)
_RUNNING: dict[str, ExitStack] = {}


@worker_init.connect
def begin_worker(**_: Any) -> None:
    """What another worker of this machine was asked is not asked of this one."""
    STOP.renew()


@worker_shutting_down.connect
def ask_to_stop(**_: Any) -> None:
    """Whatever is at a file in this worker lays it down, so that it ends within the time that it has."""
    STOP.post()


@before_task_publish.connect
def pass_request_on(headers: dict[str, Any], **_: Any) -> None:
    """A task goes on under the id of the request that sent it."""
    headers["request_id"] = current_request()


@task_prerun.connect
def begin_task(task_id: str, task: Any, **_: Any) -> None:
    """Lines of a task have that id, or the task's own where a beat sent it."""
    stack = _RUNNING[task_id] = ExitStack()
    request_id = task.request.get("request_id") or task_id
    stack.enter_context(acting(actor="worker", request_id=request_id))


@task_postrun.connect
def end_task(task_id: str, **_: Any) -> None:
    """What comes next in this process is another's."""
    _RUNNING.pop(task_id, ExitStack()).close()
