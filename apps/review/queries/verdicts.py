"""What people said of anomalies and of series: what is muted, explained, and looked at more strictly."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q

from apps.economics.spend_watch import strictness_after
from apps.review.models import AnomalyVerdict, VerdictKind
from apps.review.queries.spend_series import ALL

COUNTS_FOR = timedelta(days=365)
EXPLAINED, FALSE_ALARM = str(VerdictKind.EXPLAINED), str(VerdictKind.FALSE_ALARM)
MUTED = str(VerdictKind.MUTED)
VERDICT_WORDS = dict(VerdictKind.choices)


@dataclass(frozen=True, slots=True)
class VerdictFact:
    """What somebody said; see its table for what each field is."""

    id: int
    verdict: str
    series: str
    spend_id: int | None
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

    def is_in_force(self, at: datetime) -> bool:
        """Of a mute whether it still holds; all else counts until it is taken back."""
        return not self.is_taken_back and (self.until is None or at < self.until)


@dataclass(frozen=True, slots=True)
class VerdictsInForce:
    """What counts at a moment: muted series and kinds, explained anomalies, and how strictly series are looked at."""

    muted: frozenset[str]
    explained: frozenset[int]
    false_alarms: frozenset[int]
    strictness: dict[str, float]

    def is_muted(self, series: str) -> bool:
        """Whether a series, or all of its kind, is muted."""
        return series in self.muted or kind_series(series) in self.muted


def kind_series(series: str) -> str:
    """All series of the same kind."""
    return f"{series.partition('|')[0]}|{ALL}"


def verdicts_in_force(at: datetime) -> VerdictsInForce:
    """All that counts at `at`: false alarms of the last year make a series' watch stricter, within bounds."""
    rows = [each for each in _facts_of(Q(taken_back_at=None)) if each.is_in_force(at)]
    false = [each for each in rows if each.verdict == FALSE_ALARM]
    counts: dict[str, int] = {}
    for each in false:
        if each.at > at - COUNTS_FOR:
            counts[each.series] = counts.get(each.series, 0) + 1
    return VerdictsInForce(
        frozenset(each.series for each in rows if each.verdict == MUTED),
        frozenset(each.spend_id for each in rows if each.verdict == EXPLAINED and each.spend_id),
        frozenset(each.spend_id for each in false if each.spend_id),
        {series: strictness_after(count) for series, count in counts.items()},
    )


def verdicts_of(series: Collection[str]) -> list[VerdictFact]:
    """All that was said of these series and their kinds, the newest first."""
    return _facts_of(Q(series__in={*series, *map(kind_series, series)}))


def verdict_of(verdict_id: int, series: str, *, of_kinds: bool) -> VerdictFact | None:
    """One that was said of a series, with `of_kinds` or of all of its kind; None where there is none."""
    said = next(iter(_facts_of(Q(pk=verdict_id))), None)
    own = {series, *([kind_series(series)] if of_kinds else [])}
    return said if said is not None and said.series in own else None


def _facts_of(which: Q) -> list[VerdictFact]:
    rows = AnomalyVerdict.objects.filter(which).order_by("-at", "-id")
    return [VerdictFact(*row) for row in rows.values_list(*VerdictFact.__slots__)]
