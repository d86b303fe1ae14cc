"""Sessions of people who signed in."""

from datetime import datetime

from django.contrib.sessions.models import Session

from apps.logs.changes import answered, logged_change


@logged_change(count=answered)
def forget_ended_sessions(*, at: datetime) -> int:
    """Delete the sessions that were over at `at`; how many there were."""
    return Session.objects.filter(expire_date__lt=at).delete()[0]
