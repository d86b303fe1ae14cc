"""The sweeps that look for what changed once a day and for what to do once a week, raise alerts and send them."""

from functools import partial

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from apps.accounts.queries import has_organisation, organisation
from apps.review import actions
from apps.review.providers.sending import send_message
from apps.show.document.pdf import document_pdf


@shared_task
def look_for_changes() -> int:
    """Look at all figures where today's look is due; how many series."""
    if not has_organisation():
        return 0
    return actions.detect_anomalies_if_due(at=timezone.now(), zone=organisation().zone) or 0


@shared_task
def raise_alerts() -> int:
    """Hold running budgets against thresholds and forecasts, tell new anomalies, end mutes; how many budgets."""
    if not has_organisation():
        return 0
    at = timezone.now()
    actions.unmute_due_alerts(at=at)
    actions.raise_anomaly_alerts(at=at)
    return actions.check_budgets(at=at)


@shared_task
def send_alerts() -> int:
    """Put new steps of alerts into messages, and try those that are due; how many were sent."""
    if not has_organisation():
        return 0
    actions.route_alerts(at=timezone.now())
    actions.route_reviews(at=timezone.now())
    return actions.send_due_messages(sender=send_message, clock=timezone.now)


@shared_task
def look_for_recommendations() -> int:
    """Wake what was snoozed until now, and look this week for what to do, where nobody did yet; how many proposals."""
    if not has_organisation():
        return 0
    at = timezone.now()
    actions.wake_recommendations(at=at)
    return actions.detect_recommendations_if_due(at=at)


@shared_task
def measure_savings() -> int:
    """Measure what was done, once a week each; how many recommendations."""
    if not has_organisation():
        return 0
    return actions.measure_savings_if_due(at=timezone.now())


@shared_task
def make_weekly_review() -> int:
    """Make last week's review where it is due; how many."""
    if not has_organisation():
        return 0
    return actions.make_review_if_due(at=timezone.now())


@shared_task
def make_review_files() -> int:
    """Set a frozen review that has no PDF yet; how many files."""
    if not has_organisation():
        return 0
    typeset = partial(document_pdf, more_fonts=settings.PDF_FONTS)
    return actions.make_review_files(typeset=typeset, at=timezone.now())
