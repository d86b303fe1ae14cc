"""Spans that were not understood, kept to be read again when the table of spellings has grown."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from django.db import transaction

from apps.accounts.queries.arriving import arriving_personal_fields, pseudonymise
from apps.logs.changes import answered, items_of, logged_change
from apps.workloads.models import SetAsideSpan
from apps.workloads.queries.set_aside import AsideSpan

KEPT = timedelta(days=14)
MOST_KEPT = 10_000
"""Spans that are kept together; what comes then is counted by name alone."""


@logged_change(count=answered)
@transaction.atomic
def set_spans_aside(*, spans: Sequence[AsideSpan], table_version: str, at: datetime) -> int:
    """Keep spans while there is room; how many. One that is kept already stays as it is."""
    spans = pseudonymise(spans, arriving_personal_fields("workloads.setasidespan"))
    room = max(0, MOST_KEPT - SetAsideSpan.objects.count())
    rows = [
        SetAsideSpan(
            source=span.source,
            key=span.key,
            parent_id=span.parent_id,
            content=dict(span.content),
            table_version=table_version,
            taken_at=at,
        )
        for span in spans[:room]
    ]
    return len(SetAsideSpan.objects.bulk_create(rows, ignore_conflicts=True))


@logged_change(count=items_of("understood"))
@transaction.atomic
def settle_spans_aside(
    *, understood: Collection[int], others: Collection[int], table_version: str
) -> None:
    """Forget those that are understood now; the others wait for the next spellings."""
    SetAsideSpan.objects.filter(id__in=understood).delete()
    SetAsideSpan.objects.filter(id__in=others).update(table_version=table_version)


@logged_change(count=answered)
def forget_spans_aside(*, at: datetime) -> int:
    """Delete spans of more than two weeks ago; how many."""
    return SetAsideSpan.objects.filter(taken_at__lt=at - KEPT).delete()[0]
