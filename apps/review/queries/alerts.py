"""Alerts as they stand, for those who may see them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from apps.accounts.queries import Role, Viewer
from apps.accounts.queries.facts import columns_of, fact_of, facts_of
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
from apps.show.entries import Entry

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
_TEAM = {"team": "team__name"}


@dataclass(frozen=True, slots=True)
class AlertFact:
    """An alert; see its table for what each field is. A fact is a name and what it is."""

    id: int
    matter: Annotated[str, Entry(help="its key: there is never a second alert of it")]
    kind: Annotated[str, Entry(choices=KINDS)]
    severity: Annotated[str, Entry(choices=SEVERITIES)]
    level: Annotated[int, Entry(help="of a budget used, the per cent reached; else 0")]
    title: str
    facts: tuple[list[str], ...]
    link: Annotated[str, Entry(help="the page of what it is about, from the root on")]
    team_id: int | None
    team: str | None
    opened_at: datetime
    told_at: datetime
    state: Annotated[str, Entry(choices=STATES)]
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
    severity: Annotated[str, Entry(choices=SEVERITIES)]
    title: str
    facts: tuple[list[str], ...]
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
    rows = _rows_of(wanted).order_by("-told_at", "-id")[:most]
    return list(facts_of(AlertFact, rows, **_TEAM))


def waiting_alerts(at: datetime) -> list[AlertFact]:
    """Those that waited for an answer at `at`, open or acknowledged, as they said it then; the newest first."""
    entries = AlertEntry.objects.filter(alert=OuterRef("pk"), at__lte=at).order_by("-at", "-id")
    answered = entries.filter(step__in=(*WAITS_AFTER, AlertStep.MUTED, AlertStep.RESOLVED))
    newest = {
        f"newest_{name}": Subquery(entries.values(name)[:1]) for name in ("title", "severity", "at")
    }
    rows = Alert.objects.filter(opened_at__lte=at).values(
        *_COLUMNS, **newest, newest_step=Subquery(answered.values("step")[:1])
    )
    alert_facts = [
        replace(
            fact_of(AlertFact, row, **_TEAM),
            state=WAITS_AFTER[row["newest_step"]],
            title=row["newest_title"],
            severity=row["newest_severity"],
            told_at=row["newest_at"],
        )
        for row in rows
        if row["newest_step"] in WAITS_AFTER
    ]
    return sorted(alert_facts, key=lambda alert: (alert.told_at, alert.id), reverse=True)


def alert_page(wanted: AlertsWanted, page_request: PageRequest) -> Page[AlertFact]:
    """A page of them, the newest first."""
    page = page_of(_rows_of(wanted).values(*_COLUMNS), page_request, "-told_at", "-id")
    rows = [fact_of(AlertFact, row, **_TEAM) for row in page.rows]
    return Page(rows, page.after, page.before)


def alert(alert_id: int, team_ids: frozenset[int] | None) -> AlertFact:
    """One; refuses Alert.DoesNotExist, also where these teams may not see it."""
    rows = _rows_of(AlertsWanted(team_ids)).values(*_COLUMNS)
    return fact_of(AlertFact, rows.get(pk=alert_id), **_TEAM)


def alert_by_id(alert_id: int, team_ids: frozenset[int] | None) -> AlertFact | None:
    """One, or None where there is none that these teams may see."""
    row = _rows_of(AlertsWanted(team_ids)).values(*_COLUMNS).filter(pk=alert_id).first()
    return None if row is None else fact_of(AlertFact, row, **_TEAM)


def entries_of(alert_ids: Sequence[int]) -> list[AlertEntryFact]:
    """The steps of these alerts, in order."""
    rows = AlertEntry.objects.filter(alert_id__in=alert_ids).order_by("at", "id")
    return list(facts_of(AlertEntryFact, rows))


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


_COLUMNS = columns_of(AlertFact, **_TEAM)
