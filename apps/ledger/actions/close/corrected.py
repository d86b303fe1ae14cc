"""Marks of closed months whose differences are posted: kept, to be done again or laid again.

The lines of a closed month never have what is posted of it. Whatever settles an hour of it anew
must therefore do everything again that was ever posted, or it would take it for undone.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models.query import QuerySet

from apps.ledger.models import CorrectedHour
from apps.marks.actions import Mark
from apps.marks.queries import MarkFact, Pass


def keep_marks(hour: datetime, marks: Mapping[Pass, Sequence[MarkFact]]) -> None:
    """Keep the marks of an hour whose difference is posted in this transaction."""
    CorrectedHour.objects.bulk_create(
        [
            CorrectedHour(hour=hour, pass_id=int(pass_), unit=fact.unit)
            for pass_, facts in marks.items()
            for fact in facts
        ],
        ignore_conflicts=True,
    )


def posted_marks(hour: datetime) -> list[Mark]:
    """The marks of an hour of which differences are posted."""
    return _marks_of(CorrectedHour.objects.filter(hour=hour))


def recharged_hours(after: datetime, before: datetime) -> list[datetime]:
    """The hours between, without both, that were charged anew for corrections, in order."""
    corrected_hours = CorrectedHour.objects.filter(
        pass_id=Pass.CHARGE, hour__gt=after, hour__lt=before
    )
    return list(corrected_hours.order_by("hour").values_list("hour", flat=True))


def hand_back_marks(starts_at: datetime, ends_at: datetime) -> list[Mark]:
    """The kept marks of `[starts_at, ends_at)`, forgotten here: the caller lays them."""
    corrected_hours = CorrectedHour.objects.filter(hour__gte=starts_at, hour__lt=ends_at)
    marks = _marks_of(corrected_hours)
    corrected_hours.delete()
    return marks


def _marks_of(corrected_hours: QuerySet[CorrectedHour]) -> list[Mark]:
    return [Mark(Pass(hour.pass_id), hour.unit, hour.hour) for hour in corrected_hours]
