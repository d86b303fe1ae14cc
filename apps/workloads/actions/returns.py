"""Statements of owners about their workloads: what a unit is worth, and how good the results are."""

from datetime import date, datetime
from decimal import Decimal
from math import isfinite

from apps.accounts.queries import Viewer
from apps.accounts.queries.facts import fields_of
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.workloads.models import WorkloadScore, WorkloadValue
from apps.workloads.queries.returns import EnteredScore, EnteredValue

MOST_WORTH = Decimal(10) ** 15


class ValueNotUnderstood(Refusal):
    """A worth that is below 0, more than anybody has, or one end of a range alone."""


class ScoreNotUnderstood(Refusal):
    """A score without a name, that is no finite number, or of a day to come."""


@logged_change()
def state_value(*, value: EnteredValue, by: Viewer, at: datetime) -> int:
    """Keep what somebody says a unit is worth; its id. Refuses ValueNotUnderstood."""
    refuse_wrong_value(value)
    return WorkloadValue.objects.create(
        **fields_of(value),
        stated_by_id=by.person_id,
        stated_name=by.name,
        stated_at=at,
    ).pk


@logged_change()
def state_score(*, score: EnteredScore, by: Viewer, at: datetime, today: date) -> int:
    """Keep what somebody says of the results; its id. Refuses ScoreNotUnderstood."""
    refuse_wrong_score(score, today)
    return WorkloadScore.objects.create(
        **fields_of(score) | {"name": score.name.strip()},
        stated_by_id=by.person_id,
        stated_name=by.name,
        stated_at=at,
    ).pk


def refuse_wrong_value(value: EnteredValue) -> None:
    """Refuse what no worth can be."""
    low, high = value.low, value.high
    if (low is None) != (high is None):
        raise ValueNotUnderstood(
            "low" if low is None else "high", "say both ends of the range, or neither"
        )
    if low is None or high is None:
        return
    if not 0 <= low <= MOST_WORTH:
        raise ValueNotUnderstood("low", f"a unit is worth 0 to {MOST_WORTH:,f}")
    if not low <= high <= MOST_WORTH:
        raise ValueNotUnderstood("high", "the highest is no less than the lowest")


def refuse_wrong_score(score: EnteredScore, today: date) -> None:
    """Refuse what is no score."""
    if not score.name.strip():
        raise ScoreNotUnderstood("name", "a score has a name")
    if not isfinite(score.value):
        raise ScoreNotUnderstood("value", "a score is a finite number")
    if score.day > today:
        raise ScoreNotUnderstood("day", f"{score.day:%-d %B %Y} is still to come")
