"""Verdicts of people on anomalies and on series: what is muted, explained, and looked at more strictly."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from django.db.models import Q

from apps.accounts.queries.facts import facts_of
from apps.economics.spend_watch import strictness_after
from apps.review.models import AnomalyVerdict, VerdictKind
from apps.show.entries import Entry

COUNTS_FOR = timedelta(days=365)
EXPLAINED, FALSE_ALARM = str(VerdictKind.EXPLAINED), str(VerdictKind.FALSE_ALARM)
MUTED, OPEN = str(VerdictKind.MUTED), "open"
VERDICT_WORDS = dict(VerdictKind.choices)
STATES = {OPEN: OPEN, **VERDICT_WORDS}
WAITING = frozenset({OPEN})
"""States of anomalies that somebody should look at."""
SPEND, FINDING = "spend", "finding"
"""Kinds of anomalies, as the columns of a verdict are called that say of which one it is."""
MATTER_OF = {SPEND: "spend-anomaly", FINDING: "anomaly"}
ALL = "*"


@dataclass(frozen=True, slots=True)
class JudgedAnomaly:
    """The subject of verdicts: an anomaly of spend or a finding, by its id, and the series that it is of."""

    kind: str
    id: int
    series: str

    @property
    def matter(self) -> str:
        """The matter of the alert that it raises."""
        return f"{MATTER_OF[self.kind]}:{self.id}"


@dataclass(frozen=True, slots=True)
class VerdictFact:
    """A verdict of somebody; see its table for what each field is."""

    id: int
    verdict: Annotated[str, Entry(choices=VERDICT_WORDS)]
    series: str
    spend_id: int | None
    finding_id: int | None
    at: datetime
    until: datetime | None
    reason: str
    who: str
    taken_back_at: datetime | None
    taken_back_who: str
    taken_back_reason: str

    @property
    def is_taken_back(self) -> bool:
        """Whether it counts no more."""
        return self.taken_back_at is not None

    @property
    def is_of_kind(self) -> bool:
        """Whether it is of all series of a kind."""
        return self.series == kind_series(self.series)

    @property
    def anomaly(self) -> tuple[str, int] | None:
        """The kind and the id of the anomaly that it is of; None of a mute."""
        if self.spend_id is not None:
            return SPEND, self.spend_id
        return None if self.finding_id is None else (FINDING, self.finding_id)

    def is_in_force(self, at: datetime) -> bool:
        """Whether it was said, of a mute whether it still holds; all else counts until it is taken back."""
        is_taken_back = self.taken_back_at is not None and self.taken_back_at <= at
        return self.at <= at and not is_taken_back and (self.until is None or at < self.until)


@dataclass(frozen=True, slots=True)
class VerdictsInForce:
    """Verdicts that count at a moment: muted series and kinds, verdicts by kind and id, how strictly series are looked at."""

    muted: frozenset[str]
    explained: frozenset[tuple[str, int]]
    false_alarms: frozenset[tuple[str, int]]
    strictness: dict[str, float]

    def state_of(self, anomaly: JudgedAnomaly) -> str:
        """One of STATES."""
        key = (anomaly.kind, anomaly.id)
        if key in self.false_alarms:
            return FALSE_ALARM
        if key in self.explained:
            return EXPLAINED
        is_muted = not self.muted.isdisjoint({anomaly.series, kind_series(anomaly.series)})
        return MUTED if is_muted else OPEN

    def is_answered(self, kind: str, anomaly_id: int) -> bool:
        """Whether somebody said what an anomaly is: explained, or none."""
        return (kind, anomaly_id) in self.explained | self.false_alarms

    def strictness_of(self, series: str) -> float:
        """How many times as far out of line a series has to be: 1 without a false alarm."""
        return self.strictness.get(series, 1.0)


def kind_series(series: str) -> str:
    """All series of the same kind."""
    return f"{series.partition('|')[0]}|{ALL}"


def verdicts_in_force(at: datetime) -> VerdictsInForce:
    """All that counted at `at`: false alarms of the last year make a series' watch stricter, within bounds."""
    still = Q(taken_back_at=None) | Q(taken_back_at__gt=at)
    rows = [fact for fact in _facts_of(still & Q(at__lte=at)) if fact.is_in_force(at)]
    counts: dict[str, int] = {}
    for row in rows:
        if row.verdict == FALSE_ALARM and row.at > at - COUNTS_FOR:
            counts[row.series] = counts.get(row.series, 0) + 1
    return VerdictsInForce(
        frozenset(verdict_fact.series for verdict_fact in rows if verdict_fact.verdict == MUTED),
        _anomalies_called(EXPLAINED, rows),
        _anomalies_called(FALSE_ALARM, rows),
        {series: strictness_after(count) for series, count in counts.items()},
    )


def verdicts_of(series: Collection[str]) -> list[VerdictFact]:
    """All that was said of these series and their kinds, the newest first."""
    return _facts_of(Q(series__in={*series, *map(kind_series, series)}))


def verdict_of(verdict_id: int, series: str, *, of_kinds: bool) -> VerdictFact | None:
    """One that was said of a series, with `of_kinds` or of all of its kind; None where there is none."""
    verdict = next(iter(_facts_of(Q(pk=verdict_id))), None)
    own_series = {series, *([kind_series(series)] if of_kinds else [])}
    return verdict if verdict is not None and verdict.series in own_series else None


def _anomalies_called(verdict: str, rows: Collection[VerdictFact]) -> frozenset[tuple[str, int]]:
    called = (row.anomaly for row in rows if row.verdict == verdict)
    return frozenset(anomaly for anomaly in called if anomaly is not None)


def _facts_of(which: Q) -> list[VerdictFact]:
    rows = AnomalyVerdict.objects.filter(which).order_by("-at", "-id")
    return list(facts_of(VerdictFact, rows))
