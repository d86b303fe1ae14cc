"""People say of an anomaly that it is explained, or a false alarm, and mute series; each can be taken back."""

from datetime import datetime

from django.db import transaction

from apps.accounts.queries import Viewer
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.review.actions.alerts import MuteInThePast, end_matters
from apps.review.models import AnomalyVerdict, Finding, SpendAnomaly, VerdictKind
from apps.review.queries.verdicts import SPEND, JudgedAnomaly

LONGEST_VERDICT_REASON = 2_000


class SaidAlready(Refusal):
    """A refusal: the same was said of it, or it was taken back already."""


@logged_change()
@transaction.atomic
def judge_anomaly(
    *, anomaly: JudgedAnomaly, verdict: str, reason: str, by: Viewer, at: datetime
) -> int:
    """Say that an anomaly is explained, or was a false alarm; the verdict's id. Refuses SaidAlready.

    What is explained is the usual level from then on. A false alarm makes its series' watch stricter. Its alert is over.
    """
    judged = _anomaly_to_judge(anomaly)
    if judged.verdicts.filter(verdict=verdict, taken_back_at=None).exists():
        raise SaidAlready("", "this was said of it already")
    row = judged.verdicts.create(
        verdict=verdict,
        series=anomaly.series,
        at=at,
        reason=reason.strip(),
        who=by.name,
        by_id=by.person_id,
    )
    word = VerdictKind(verdict).label
    why = f"{word}: {reason.strip()}" if reason.strip() else word
    end_matters(matters=[anomaly.matter], reason=why, at=at)
    return row.pk


@logged_change()
def mute_series(
    *, series: str, until: datetime | None, reason: str, by: Viewer, at: datetime
) -> int:
    """Tell nothing of a series, or of all of a kind, until then (None: until taken back); the id. Refuses MuteInThePast."""
    if until is not None and until <= at:
        raise MuteInThePast("until", "this moment is over")
    verdict = AnomalyVerdict.objects.create(
        verdict=VerdictKind.MUTED,
        series=series,
        at=at,
        until=until,
        reason=reason.strip(),
        who=by.name,
        by_id=by.person_id,
    )
    return verdict.pk


@logged_change()
@transaction.atomic
def take_back_verdict(*, verdict_id: int, reason: str, by: Viewer, at: datetime) -> None:
    """Let it count no more; it stays in the history. Refuses SaidAlready, AnomalyVerdict.DoesNotExist."""
    verdict = AnomalyVerdict.objects.select_for_update().get(pk=verdict_id)
    if verdict.taken_back_at is not None:
        raise SaidAlready("", "it was taken back already")
    verdict.taken_back_at, verdict.taken_back_who = at, by.name
    verdict.taken_back_reason = reason.strip()
    verdict.save()


def _anomaly_to_judge(anomaly: JudgedAnomaly) -> SpendAnomaly | Finding:
    """Its row, locked: two people who say the same at once say it once."""
    if anomaly.kind == SPEND:
        return SpendAnomaly.objects.select_for_update().get(pk=anomaly.id)
    return Finding.objects.select_for_update().get(pk=anomaly.id)
