"""Alerts are raised once for each matter, go further, and are acknowledged, muted and resolved."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.accounts.queries import Viewer
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.review.models import Alert, AlertEntry, AlertKind, AlertsRead, AlertState, AlertStep

LONGEST_ALERT_REASON = 2_000
SENT_STEPS = frozenset({AlertStep.OPENED, AlertStep.RAISED, AlertStep.REOPENED, AlertStep.UNMUTED})


class AlertIsSo(Refusal):
    """It is acknowledged, muted or resolved already."""


class MuteInThePast(Refusal):
    """An alert is muted until a moment that is over."""


@dataclass(frozen=True, slots=True)
class AlertMatter:
    """The content of an alert: what is to be told, and of which matter; see the table for what each field is."""

    matter: str
    kind: AlertKind
    severity: str
    title: str
    facts: Sequence[tuple[str, str]]
    link: str
    team_id: int | None
    level: int = 0


@logged_change()
@transaction.atomic
def raise_alert(*, alert_matter: AlertMatter, at: datetime) -> int | None:
    """Open an alert, or carry it on where the matter went further; its id, None where nothing is new.

    One matter has one alert. It is told again where its level grew: one that was acknowledged, or that somebody
    resolved, is open again then; one that is muted takes it down and says nothing. What Runrate itself resolved is open
    again when it comes back, what a person resolved only when it goes further.
    """
    facts = [list(fact) for fact in alert_matter.facts]
    new = {"severity": alert_matter.severity, "title": alert_matter.title, "facts": facts}
    alert, is_new = Alert.objects.select_for_update().get_or_create(
        matter=alert_matter.matter,
        defaults=new
        | {
            "kind": alert_matter.kind,
            "link": alert_matter.link,
            "level": alert_matter.level,
            "team_id": alert_matter.team_id,
            "opened_at": at,
            "told_at": at,
            "state_at": at,
        },
    )
    if is_new:
        _add_entry(alert, AlertStep.OPENED, at)
        return alert.pk
    came_back = alert.state == AlertState.RESOLVED and not alert.state_name
    if alert_matter.level <= alert.level and not came_back:
        return None
    was_open = alert.state == AlertState.OPEN
    for name, value in new.items():
        setattr(alert, name, value)
    alert.level, alert.told_at = max(alert_matter.level, alert.level), at
    if alert.state != AlertState.MUTED:
        _set_state(alert, AlertState.OPEN, at)
    alert.save()
    is_told_on = was_open or alert.state == AlertState.MUTED
    _add_entry(alert, AlertStep.RAISED if is_told_on else AlertStep.REOPENED, at)
    return alert.pk


@logged_change()
@transaction.atomic
def acknowledge_alert(*, alert_id: int, reason: str, by: Viewer, at: datetime) -> None:
    """Say that somebody sees to it; it is told again only when it goes further. Refuses AlertIsSo, Alert.DoesNotExist."""
    alert = _alert_to_change(alert_id, {AlertState.ACKNOWLEDGED, AlertState.RESOLVED})
    _set_state(alert, AlertState.ACKNOWLEDGED, at, by.name, reason, by.person_id)
    alert.save()
    _add_entry(alert, AlertStep.ACKNOWLEDGED, at)


@logged_change()
@transaction.atomic
def mute_alert(
    *, alert_id: int, until: datetime | None, reason: str, by: Viewer, at: datetime
) -> None:
    """Say nothing more of it until then; None: until somebody changes that. Refuses MuteInThePast, AlertIsSo."""
    check_mute(until, at)
    alert = _alert_to_change(alert_id, {AlertState.RESOLVED})
    _set_state(alert, AlertState.MUTED, at, by.name, reason, by.person_id)
    alert.muted_until = until
    alert.save()
    _add_entry(alert, AlertStep.MUTED, at)


def check_mute(until: datetime | None, at: datetime) -> None:
    """Refuse a moment that is over. Refuses MuteInThePast."""
    if until is not None and until <= at:
        raise MuteInThePast("until", "this moment is over")


@logged_change()
@transaction.atomic
def resolve_alert(*, alert_id: int, reason: str, by: Viewer, at: datetime) -> None:
    """Say that the matter is settled. Refuses AlertIsSo, Alert.DoesNotExist."""
    alert = _alert_to_change(alert_id, {AlertState.RESOLVED})
    _set_state(alert, AlertState.RESOLVED, at, by.name, reason, by.person_id)
    alert.save()
    _add_entry(alert, AlertStep.RESOLVED, at)


@logged_change()
@transaction.atomic
def lower_alert(*, alert_matter: AlertMatter, at: datetime) -> int | None:
    """Take an alert back to a lower level, as what it is held against changed; its id, None where there is none above it.

    What it says now is a step of it that is sent nowhere. Its state stays, so that going further raises it as ever.
    """
    alert = Alert.objects.select_for_update().filter(matter=alert_matter.matter).first()
    if alert is None or alert.level <= alert_matter.level:
        return None
    alert.level, alert.severity, alert.title = (
        alert_matter.level,
        alert_matter.severity,
        alert_matter.title,
    )
    alert.facts = [list(fact) for fact in alert_matter.facts]
    alert.save()
    _add_entry(alert, AlertStep.LOWERED, at)
    return alert.pk


@logged_change(count=lambda answer, _: int(answer))
@transaction.atomic
def end_matters(*, matters: Collection[str], reason: str, at: datetime) -> int:
    """Resolve those of these matters that are not yet, as what they told of is over; how many."""
    alerts = list(
        Alert.objects.select_for_update()
        .filter(matter__in=matters)
        .exclude(state=AlertState.RESOLVED)
        .order_by("id")
    )
    for alert in alerts:
        _set_state(alert, AlertState.RESOLVED, at, reason=reason)
        alert.save()
        _add_entry(alert, AlertStep.RESOLVED, at)
    return len(alerts)


@logged_change(count=lambda answer, _: int(answer))
@transaction.atomic
def unmute_due_alerts(*, at: datetime) -> int:
    """Open those again that were muted until now; how many."""
    alerts = list(
        Alert.objects.select_for_update()
        .filter(state=AlertState.MUTED, muted_until__lte=at)
        .order_by("id")
    )
    for alert in alerts:
        _set_state(alert, AlertState.OPEN, at)
        alert.save()
        _add_entry(alert, AlertStep.UNMUTED, at)
    return len(alerts)


@logged_change()
def read_alerts(*, person_id: int, at: datetime) -> None:
    """Note that a person has read what was told until now."""
    AlertsRead.objects.update_or_create(user_id=person_id, defaults={"read_at": at})


def _alert_to_change(alert_id: int, refused: Collection[AlertState]) -> Alert:
    alert = Alert.objects.select_for_update().get(pk=alert_id)
    if alert.state in refused:
        raise AlertIsSo("", f"it is {alert.get_state_display()} already")
    return alert


def _set_state(
    alert: Alert,
    state: AlertState,
    at: datetime,
    name: str = "",
    reason: str = "",
    person_id: int | None = None,
) -> None:
    alert.state, alert.state_at, alert.muted_until = state, at, None
    alert.state_name, alert.state_reason, alert.state_by_id = name, reason.strip(), person_id


def _add_entry(alert: Alert, step: AlertStep, at: datetime) -> None:
    """Add what the alert says now, as a step of it; steps of people, and of what is muted, are sent nowhere."""
    is_sent = step in SENT_STEPS and alert.state != AlertState.MUTED
    AlertEntry.objects.create(
        alert=alert,
        at=at,
        step=step,
        severity=alert.severity,
        title=alert.title,
        facts=alert.facts,
        who=alert.state_name,
        reason=alert.state_reason,
        routed_at=None if is_sent else at,
    )
