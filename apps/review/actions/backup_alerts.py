"""An alert of backups that fail or grow old; it ends with the next copy that is made."""

from datetime import datetime

from django.urls import reverse

from apps.logs.changes import logged_pass
from apps.review.actions.alerts import AlertMatter, end_matters, raise_alert
from apps.review.models import AlertKind, AlertSeverity

FAILED, OLD = "backup:failed", "backup:old"


@logged_pass("tell_backups")
def raise_backup_alerts(
    *, failure: str, newest_at: datetime | None, is_old: bool, at: datetime
) -> int:
    """Raise an alert where the last try failed (`failure` says why), or where the newest copy is older than it may be; how many.

    What is no longer so is resolved.
    """
    newest = f"{newest_at:%Y-%m-%d %H:%M} UTC" if newest_at else "none"
    matters = []
    if failure:
        facts = [("Why", failure), ("Newest backup", newest)]
        matters.append(_matter(FAILED, "The last backup failed", AlertSeverity.WARNING, facts))
    if is_old and newest_at is not None:
        days = (at - newest_at).days
        title = f"The newest backup is {days} {'day' if days == 1 else 'days'} old"
        matters.append(_matter(OLD, title, AlertSeverity.URGENT, [("Newest backup", newest)], days))
    over = {FAILED, OLD} - {matter.matter for matter in matters}
    end_matters(matters=over, reason="A backup was made.", at=at)
    raised = [raise_alert(alert_matter=matter, at=at) for matter in matters]
    return len([alert_id for alert_id in raised if alert_id is not None])


def _matter(
    matter: str, title: str, severity: str, facts: list[tuple[str, str]], level: int = 0
) -> AlertMatter:
    return AlertMatter(
        matter=matter,
        kind=AlertKind.BACKUP,
        severity=severity,
        title=title,
        facts=facts,
        link=reverse("retention"),
        team_id=None,
        level=level,
    )
