"""The sweeps: nodes found for what jobs hold, and files of jobs that came by browser."""

from celery import shared_task
from django.utils import timezone

from apps.fleet.actions import not_understood
from apps.workloads.actions import node_names, requests, set_aside
from apps.workloads.actions.folding_runs import fold_due_runs
from apps.workloads.actions.run_jobs import join_waiting_attempts
from apps.workloads.tasks.uploads import forget_files, work_on_files


@shared_task
def link_allocations() -> None:
    """Put what jobs hold on the nodes that came to be known since."""
    node_names.link_allocations(at=timezone.now())


@shared_task
def import_uploads() -> None:
    """Look at files that came, import those that somebody said yes to, forget the others."""
    work_on_files()
    forget_files()


@shared_task
def join_requests() -> None:
    """Give counts of services that came to be known since to their workloads."""
    requests.join_requests(at=timezone.now())


@shared_task
def forget_requests() -> None:
    """Drop counted hours that are older than hours of use are kept."""
    requests.forget_requests(at=timezone.now())


@shared_task
def forget_not_understood() -> None:
    """Forget what was not understood two weeks ago."""
    not_understood.forget_not_understood(at=timezone.now())
    set_aside.forget_spans_aside(at=timezone.now())


@shared_task
def fold_runs() -> None:
    """Put what runs told on their jobs, and fold by the hour what is new of them."""
    at = timezone.now()
    join_waiting_attempts(at=at)
    fold_due_runs(at=at)
