"""What somebody should look at, and who sees to it."""

from datetime import timedelta

from apps.accounts.queries import person_of_address, viewer_of_user
from apps.review import actions as review
from apps.review.queries.alerts import OPEN, AlertsWanted, alerts
from controlplane.demo.company import Company
from controlplane.demo.database import SIGN_IN

MUTED_FOR = timedelta(days=7)


def raise_alerts(company: Company) -> None:
    """Budgets and anomalies raise alerts; finance sees to one and mutes another."""
    at = company.week.at
    review.raise_anomaly_alerts(at=at)
    review.check_budgets(at=at)
    finance = viewer_of_user(person_of_address(SIGN_IN) or 0)
    found = alerts(AlertsWanted(None, states=(OPEN,)), 10)
    if len(found) > 2:
        seen_to, *_, muted = found
        review.acknowledge_alert(
            alert_id=seen_to.id, reason="Asked its owner what is new", by=finance, at=at
        )
        review.mute_alert(
            alert_id=muted.id,
            until=at + MUTED_FOR,
            reason="Known: the new model is compared with the old one this week",
            by=finance,
            at=at,
        )
