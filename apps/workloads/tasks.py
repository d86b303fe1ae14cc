"""The sweep that finds nodes for what jobs already hold."""

from celery import shared_task
from django.utils import timezone

from apps.workloads.actions import node_names


@shared_task
def link_allocations() -> None:
    """Put what jobs hold on the nodes that came to be known since."""
    node_names.link_allocations(at=timezone.now())
