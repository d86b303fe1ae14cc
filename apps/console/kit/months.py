"""The month that a page is of."""

from dataclasses import dataclass
from datetime import date, datetime

from apps.console.kit.frame import Choice, Filter
from apps.console.kit.request import Context
from apps.economics.hours import first_hour, parse_month_text
from apps.economics.refusal import Refusal
from apps.ledger.queries.calendar import local_day, month_span, next_month
from apps.ledger.queries.windows import DAY, window_of
from apps.show.time import month as month_words

OFFERED_MONTHS = 13


@dataclass(frozen=True, slots=True)
class Month:
    """A local month; `problem` says what of the address was not understood."""

    first: date
    zone: str
    problem: str = ""

    @property
    def key(self) -> str:
        """As the address says it."""
        return f"{self.first:%Y-%m}"

    @property
    def words(self) -> str:
        """As people say it."""
        return month_words(self.first)

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems of what was not understood, for the page to say."""
        return (self.problem,) if self.problem else ()

    @property
    def cuts(self) -> tuple[datetime, datetime]:
        """The first hour of it, and of the next."""
        span = month_span(self.first, self.zone)
        return span.starts_at, span.ends_at

    def days(self, today: date) -> tuple[date, ...]:
        """Its days that have begun."""
        end = min(next_month(self.first), date.fromordinal(today.toordinal() + 1))
        count = max(1, (end - self.first).days)
        return tuple(date.fromordinal(self.first.toordinal() + ahead) for ahead in range(count))

    def day_cuts(self, today: date) -> list[datetime]:
        """The first hours of those days, and of the day after."""
        days = self.days(today)
        after = date.fromordinal(days[-1].toordinal() + 1)
        return [first_hour(day, self.zone) for day in (*days, after)]


def this_month(context: Context) -> date:
    """The current one in the organisation's zone."""
    return local_day(context.at, context.organisation.zone).replace(day=1)


def requested_month(context: Context) -> Month:
    """The month of the address, else that in which the period of other pages ends, else the current one."""
    text = context.query.get("month", "")
    current = Month(this_month(context), context.organisation.zone)
    if not text:
        return _month_of_period(context) or current
    first = parse_month_text(text)
    if first is None:
        problem = f"{text[:40]!r} is no month, such as {current.key}: this is the current one."
        return Month(current.first, current.zone, problem)
    return Month(first, current.zone)


def _month_of_period(context: Context) -> Month | None:
    """The month of the last day of the period that links carry on; None without one, and of one that is to come."""
    try:
        window = window_of(str(context.query["window"]), context.calendar)
    except (KeyError, Refusal):
        return None
    first = (window.end_day - DAY).replace(day=1)
    return Month(min(first, this_month(context)), context.organisation.zone)


def months_before(last: date, count: int) -> list[date]:
    """So many months up to `last`, the newest first."""
    months = [last]
    while len(months) < count:
        months.append(date.fromordinal(months[-1].toordinal() - 1).replace(day=1))
    return months


def month_filter(month: Month, context: Context) -> Filter:
    """The months to choose from: a year up to now, and the one that is shown."""
    offered = sorted(
        {*months_before(this_month(context), OFFERED_MONTHS), month.first}, reverse=True
    )
    choices = tuple(
        Choice(f"{offered_month:%Y-%m}", month_words(offered_month), offered_month == month.first)
        for offered_month in offered
    )
    return Filter("month", "Month", choices)
