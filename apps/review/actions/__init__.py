"""Changes of findings: the daily look."""

from apps.review.actions.looking import look_at_day, look_if_due
