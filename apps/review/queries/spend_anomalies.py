"""Anomalies of spend, as pages, alerts and programs are told of them."""

from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Annotated, Any

from django.conf import settings

from apps.economics.money import MICROS
from apps.review.models import SpendAnomaly, SpendSubject
from apps.review.queries.spend_series import series_text
from apps.review.queries.verdicts import (
    OPEN,
    SPEND,
    STATES,
    JudgedAnomaly,
    VerdictsInForce,
    verdicts_in_force,
)
from apps.show.entries import Entry, Micros

SUBJECTS = dict(SpendSubject.choices)
DAYS_OF_MONTH = 30
KNOWN_EVENT_DAYS, OF_A_KNOWN_EVENT = 1, 0.8


@dataclass(frozen=True, slots=True)
class SpendFact:
    """An anomaly of spend; see its table for what each field is. `state` is one of STATES."""

    id: int
    subject: Annotated[str, Entry(choices=SUBJECTS)]
    key: str
    name: str
    state: Annotated[str, Entry(choices=STATES)] = field(default=OPEN, kw_only=True)
    team_id: int | None
    workload_id: int | None
    began_on: date
    first_seen_on: date
    last_seen_on: date
    ended_on: date | None
    days: int
    expected_micros: Micros
    spent_micros: Micros
    strictness: float
    look: str
    line_from: date | None
    line_until: date | None
    line_name: Annotated[str, Entry(help="the budget's that it crept over; empty of others")]
    line_scale: float
    over_since: date | None
    parts: list[dict[str, Any]]
    drivers: list[dict[str, Any]]
    causes: list[dict[str, Any]]
    seen_in: list[dict[str, Any]]

    @property
    def excess_micros(self) -> int:
        """The spend above what days like these cost before."""
        return self.spent_micros - self.expected_micros

    @property
    def month_micros(self) -> int | None:
        """The excess that it comes to in 30 days where it lasts; None where it is over."""
        return None if self.ended_on else round(self.excess_micros / self.days * DAYS_OF_MONTH)

    @property
    def effect_ratio(self) -> float | None:
        """Spent ÷ expected − 1; None where nothing was expected."""
        return self.excess_micros / self.expected_micros if self.expected_micros > 0 else None

    @property
    def driver_rows(self) -> list[dict[str, Any]]:
        """The rows of all dimensions, each with the dimension that it is of."""
        return [
            {"dimension": driver["dimension"], **row}
            for driver in self.drivers
            for row in driver["rows"]
        ]

    @property
    def judged(self) -> JudgedAnomaly:
        """The anomaly of spend as verdicts are said of it."""
        return JudgedAnomaly(SPEND, self.id, series_text(self.subject, self.key))

    @property
    def is_worth_telling(self) -> bool:
        """Whether it comes to RUNRATE_FINDING_FLOOR, by now or in 30 days."""
        return max(self.excess_micros, self.month_micros or 0) >= settings.FINDING_FLOOR * MICROS

    @property
    def known_event(self) -> dict[str, Any] | None:
        """The change of a price or commitment, within a day, that four fifths of the excess are of; None: there is none."""
        micros_by_part = {part["name"]: part["micros"] for part in self.parts}
        of_price = micros_by_part.get("price", 0) + micros_by_part.get("commitments", 0)
        if of_price < OF_A_KNOWN_EVENT * self.excess_micros:
            return None
        return next(
            (
                cause
                for cause in self.causes
                if cause["kind"] == "price" and abs(cause["days"]) <= KNOWN_EVENT_DAYS
            ),
            None,
        )


@dataclass(frozen=True, slots=True)
class SpendWanted:
    """A filter of anomalies: of these teams (None: all, and the organisation), begun in `[since, until)`, in these states (empty: any)."""

    team_ids: frozenset[int] | None = None
    since: date | None = None
    until: date | None = None
    states: frozenset[str] = frozenset()


def spend_anomalies(wanted: SpendWanted, at: datetime) -> list[SpendFact]:
    """Those that are worth telling, the newest first."""
    rows = SpendAnomaly.objects.all()
    if wanted.team_ids is not None:
        rows = rows.filter(team_id__in=wanted.team_ids)
    if wanted.since is not None:
        rows = rows.filter(began_on__gte=wanted.since)
    if wanted.until is not None:
        rows = rows.filter(began_on__lt=wanted.until)
    verdicts = verdicts_in_force(at)
    facts = [_fact_of(row, verdicts) for row in rows.order_by("-began_on", "id").values(*_FIELDS)]
    return [
        fact
        for fact in facts
        if fact.is_worth_telling and (not wanted.states or fact.state in wanted.states)
    ]


def spend_anomaly(
    anomaly_id: int, team_ids: frozenset[int] | None, at: datetime
) -> SpendFact | None:
    """One of them; None where there is none that these teams may see."""
    row = SpendAnomaly.objects.filter(pk=anomaly_id).values(*_FIELDS).first()
    if row is None or (team_ids is not None and row["team_id"] not in team_ids):
        return None
    return _fact_of(row, verdicts_in_force(at))


def current_since(last: date) -> date:
    """Anomalies that began before it are what is usual by now."""
    return last - timedelta(days=CURRENT_DAYS - 1)


CURRENT_DAYS = 14


def _fact_of(row: dict[str, Any], verdicts: VerdictsInForce) -> SpendFact:
    fact = SpendFact(**row)
    return replace(fact, state=verdicts.state_of(fact.judged))


_FIELDS = tuple(name for name in SpendFact.__slots__ if name != "state")
