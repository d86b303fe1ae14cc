"""The days that a recommendation is measured by: those before its claim, and those since it was done."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from apps.accounts.queries import organisation
from apps.economics.realised_saving import BEFORE_DAYS, LONGEST_DAYS
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.windows import Window
from apps.review.queries.recommendations import RecommendationFact

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class MeasuredSpans:
    """Whole local days: twelve weeks up to the claim, and up to half a year since the day after it was done.

    `days_since` have passed of the latter. What lies between the two is in neither.
    """

    before: Window
    since: Window
    days_since: int

    @property
    def whole(self) -> Window:
        """From the first of the one to the last of the other."""
        return Window("", self.before.first_day, self.since.end_day, self.before.zone)

    def is_before(self, day: date) -> bool:
        """Whether a day is of the first."""
        return self.before.first_day <= day < self.before.end_day

    def is_since(self, day: date) -> bool:
        """Whether a day is of the second."""
        return self.since.first_day <= day < self.since.end_day


def measured_spans(fact: RecommendationFact, at: datetime) -> MeasuredSpans | None:
    """Of one that was done before today; else None. What lapses (`ends_at` of its baseline) saves from then on."""
    if fact.claimed_at is None or fact.done_at is None:
        return None
    zone = organisation().zone
    lapses = fact.baseline.get("ends_at")
    moments = [fact.done_at, *([datetime.fromisoformat(lapses)] if lapses else [])]
    claimed, first = local_day(fact.claimed_at, zone), local_day(max(moments), zone) + DAY
    today = local_day(at, zone)
    if first >= today:
        return None
    end = min(today, first + LONGEST_DAYS * DAY)
    return MeasuredSpans(
        Window("", claimed - BEFORE_DAYS * DAY, claimed, zone),
        Window("", first, end, zone),
        (today - first).days,
    )
