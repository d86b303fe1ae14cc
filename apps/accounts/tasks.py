"""The sweep that forgets sessions which ended."""

from celery import shared_task
from django.utils import timezone

from apps.accounts import actions


@shared_task
def forget_ended_sessions() -> None:
    """Nobody can come back with them."""
    actions.forget_ended_sessions(at=timezone.now())
