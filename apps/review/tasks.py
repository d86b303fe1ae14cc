"""The sweep that looks for what changed, once a day."""

from celery import shared_task
from django.utils import timezone

from apps.accounts.queries import has_organisation, organisation
from apps.review import actions


@shared_task
def look_for_changes() -> int:
    """Look at all figures where today's look is due; how many series."""
    if not has_organisation():
        return 0
    return actions.look_if_due(at=timezone.now(), zone=organisation().zone) or 0
