"""The sweeps that make the offer book of the hour, look what came of quotes and what could be moved, and plan jobs on spot."""

from celery import shared_task
from django.utils import timezone

from apps.accounts.queries import has_organisation
from apps.economics.spot.zones import fitted_zone
from apps.placement import actions


@shared_task
def make_offer_book() -> int:
    """Make this hour's book where there is none; how many offers."""
    if not has_organisation():
        return 0
    return actions.make_offer_book_if_due(at=timezone.now())


@shared_task
def follow_quotes() -> int:
    """Have quotes taken and overrides used by jobs that were submitted with them, and keep what came of those that ended; how many."""
    at = timezone.now()
    actions.use_overrides_of_jobs(at=at)
    actions.take_quotes_of_jobs(at=at)
    return actions.follow_quotes(at=at)


@shared_task
def forget_quotes() -> int:
    """Delete old quotes that nobody took; how many."""
    return actions.forget_quotes(at=timezone.now())


@shared_task
def look_for_moves() -> int:
    """Look this week at what could be moved, where nobody did yet; how many proposals."""
    if not has_organisation():
        return 0
    return actions.detect_moves_if_due(at=timezone.now())


@shared_task
def solve_spot_plans() -> int:
    """Solve the plans that were asked for; how many."""
    if not has_organisation():
        return 0
    return actions.solve_spot_plans(solver=fitted_zone, clock=timezone.now)
