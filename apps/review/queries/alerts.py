"""Alerts as they stand, for those who may see them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from apps.accounts.queries import Role, Viewer
from apps.accounts.queries.paging import Page, PageRequest, page_of
from apps.review.models import (
    Alert,
    AlertEntry,
    AlertKind,
    AlertSeverity,
    AlertsRead,
    AlertState,
    AlertStep,
)

OPEN, ACKNOWLEDGED = str(AlertState.OPEN), str(AlertState.ACKNOWLEDGED)
MUTED, RESOLVED = str(AlertState.MUTED), str(AlertState.RESOLVED)
STATES, KINDS = tuple(AlertState.values), tuple(AlertKind.values)
SEVERITIES = tuple(AlertSeverity.values)
STATE_WORDS, KIND_WORDS = dict(AlertState.choices), dict(AlertKind.choices)
STEP_WORDS = dict(AlertStep.choices)
WAITS_AFTER = {
    str(AlertStep.OPENED): OPEN,
    str(AlertStep.REOPENED): OPEN,
    str(AlertStep.UNMUTED): OPEN,
    str(AlertStep.ACKNOWLEDGED): ACKNOWLEDGED,
}
"""The state of an alert that waits for an answer, by the newest step that set one."""


@dataclass(frozen=True, slots=True)
class AlertFact:
    """An alert; see its table for what each field is."""

    id: int
    matter: str
    kind: str
    severity: str
    level: int
    title: str
    facts: list[list[str]]
    link: str
    team_id: int | None
    team: str | None
    opened_at: datetime
    told_at: datetime
    state: str
    state_at: datetime
    state_name: str
    state_reason: str
    muted_until: datetime | None


@dataclass(frozen=True, slots=True)
class AlertEntryFact:
    """A step of an alert; `who` is empty where Runrate itself did it."""

    id: int
    alert_id: int
    at: datetime
    step: str
    severity: str
    title: str
    facts: list[list[str]]
    who: str
    reason: str


@dataclass(frozen=True, slots=True)
class AlertsWanted:
    """A filter of alerts: of these teams (None: every team, and the organisation), states, kinds and severities (empty: any)."""

    team_ids: frozenset[int] | None
    states: Collection[str] = field(default=())
    kinds: Collection[str] = field(default=())
    severities: Collection[str] = field(default=())


def alerts(wanted: AlertsWanted, most: int | None = None) -> list[AlertFact]:
    """The newest of them, the newest first; every one without `most`."""
    rows = _rows_of(wanted).order_by("-told_at", "-id").values_list(*_COLUMNS)[:most]
    return [AlertFact(*row) for row in rows]


def waiting_alerts(at: datetime) -> list[AlertFact]:
    """Those that waited for an answer at `at`, open or acknowledged, as they said it then; the newest first."""
    entries = AlertEntry.objects.filter(alert=OuterRef("pk"), at__lte=at).order_by("-at", "-id")
    answered = entries.filter(step__in=(*WAITS_AFTER, AlertStep.MUTED, AlertStep.RESOLVED))
    then = [
        Subquery(answered.values("step")[:1]),
        *(Subquery(entries.values(name)[:1]) for name in ("title", "severity", "at")),
    ]
    rows = Alert.objects.filter(opened_at__lte=at).values_list(*_COLUMNS, *then)
    alert_facts = []
    for *columns, step, title, severity, told_at in rows:
        if step in WAITS_AFTER:
            state, fact = WAITS_AFTER[step], AlertFact(*columns)
            entry_fields = {"title": title, "severity": severity, "told_at": told_at}
            alert_facts.append(replace(fact, state=state, **entry_fields))
    return sorted(alert_facts, key=lambda alert: (alert.told_at, alert.id), reverse=True)


def alert_page(wanted: AlertsWanted, page_request: PageRequest) -> Page[AlertFact]:
    """A page of them, the newest first."""
    page = page_of(_rows_of(wanted).values(*_COLUMNS), page_request, "-told_at", "-id")
    rows = [AlertFact(*(row[name] for name in _COLUMNS)) for row in page.rows]
    return Page(rows, page.after, page.before)


def alert(alert_id: int, team_ids: frozenset[int] | None) -> AlertFact:
    """One; refuses Alert.DoesNotExist, also where these teams may not see it."""
    rows = _rows_of(AlertsWanted(team_ids))
    return AlertFact(*rows.values_list(*_COLUMNS).get(pk=alert_id))


def alert_by_id(alert_id: int, team_ids: frozenset[int] | None) -> AlertFact | None:
    """One, or None where there is none that these teams may see."""
    row = _rows_of(AlertsWanted(team_ids)).values_list(*_COLUMNS).filter(pk=alert_id).first()
    return None if row is None else AlertFact(*row)


def entries_of(alert_ids: Sequence[int]) -> list[AlertEntryFact]:
    """The steps of these alerts, in order."""
    names = AlertEntryFact.__slots__
    rows = AlertEntry.objects.filter(alert_id__in=alert_ids).order_by("at", "id")
    return [AlertEntryFact(*row) for row in rows.values_list(*names)]


def unread_count(viewer: Viewer) -> int:
    """How many open alerts a person may see that were told since they last read them; one statement. Of a token 0."""
    if viewer.person_id is None:
        return 0
    read = AlertsRead.objects.filter(user_id=viewer.person_id, read_at__gte=OuterRef("told_at"))
    rows = _rows_of(AlertsWanted(viewer.seen_teams, states=(OPEN,)))
    return rows.exclude(Exists(read)).count()


def may_answer(viewer: Viewer) -> bool:
    """Whether this viewer may acknowledge, mute and resolve what they see: leads, finance, platform, `manage` tokens."""
    if viewer.person_id is None:
        return viewer.may_manage
    return viewer.sees_prices or viewer.role == Role.LEAD


def _rows_of(wanted: AlertsWanted) -> QuerySet[Alert]:
    visible = Q() if wanted.team_ids is None else Q(team_id__in=wanted.team_ids)
    chosen = {
        f"{name}__in": values
        for name, values in (
            ("state", wanted.states),
            ("kind", wanted.kinds),
            ("severity", wanted.severities),
        )
        if values
    }
    return Alert.objects.filter(visible, **chosen)


_COLUMNS: Any = tuple("team__name" if name == "team" else name for name in AlertFact.__slots__)
