"""The sweep of what is above all apps: copies of the installation on their schedule."""

from celery import shared_task
from django.utils import timezone

from apps.accounts.queries import has_organisation
from apps.review.actions.backup_alerts import raise_backup_alerts
from apps.web.queries.backups import backup_plan, backup_state, is_old, latest_copy_as_of
from controlplane.copies.of_settings import this_installation
from controlplane.copies.schedule import make_backup_if_due


@shared_task
def make_backups() -> int:
    """Make a copy where one is due, and tell of what failed or grew old; how many copies were made."""
    if not has_organisation():
        return 0
    plan, at = backup_plan(), timezone.now()
    made = make_backup_if_due(this_installation(), plan, at)
    state = backup_state()
    newest = latest_copy_as_of(state, at)
    newest_at = newest.made_at if newest else None
    raise_backup_alerts(
        failure=state.failure, newest_at=newest_at, is_old=is_old(state, plan, at), at=at
    )
    return int(made is not None)
