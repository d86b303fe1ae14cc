"""What was out of line, as looking at it every day would have found it."""

from datetime import timedelta

from apps.ledger.queries.calendar import local_day
from apps.review import actions as review
from controlplane.demo.company import Company

LOOKED_FOR = 20
ZONE = "UTC"


def look_every_day(company: Company) -> None:
    """A look at every figure, as on each of the last days."""
    today = local_day(company.week.at, ZONE)
    days = (today - local_day(company.since, ZONE)).days
    for ago in reversed(range(min(LOOKED_FOR, days))):
        review.detect_anomalies(day=today - timedelta(days=ago), at=company.week.at, zone=ZONE)
