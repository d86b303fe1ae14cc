"""What a change saved, measured afterwards: what the work since would have cost as before, less what it was charged.

Amounts are micro-units of one currency; days are ordinals of local days. How sure it is, simulated: docs/decisions/0205.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import floor, inf, log, pow, sqrt
from statistics import NormalDist, fmean

from apps.economics.changes import WEEK
from apps.economics.moves.saving import MONTH_HOURS, SavingRange

BEFORE_DAYS, WINDOW_DAYS = 56, 28
"""Days that a change is held against, and days after it until the verdict."""
FEWEST_BEFORE, FEWEST_AFTER = 14, 21
LEAST_PART = 0.5
"""Of the low end of what was promised, for the work that was done since: less is no success."""
FOLLOWS_FROM = 0.95
"""Cost that surely moves by less than this share of what work moves by does not follow it."""
KNOWN_WITHIN, SAME_VOLUME = 0.25, 0.1
"""Of the share of the cost that moves with work; of the logarithm of work."""
SURE_WITHIN, FAR_VOLUME = 0.05, 2.0
"""Work that doubled or halved lies outside of what the days before can say, unless cost follows it as surely as this."""
LEAST_SPREAD = 1e-6
"""Of the logarithm of a day's work: less is work that stood still."""
HIGH = 0.95
DAY_HOURS = 24


class UnknownSaving(StrEnum):
    """Why nobody knows what was saved."""

    FEW_BEFORE = "fewer than two weeks of settled, priced days before it"
    FEW_AFTER = "fewer than three weeks of settled, priced days since"
    NOTHING_PAID = "nothing was charged for it before"
    NO_WORK_BEFORE = "no output was reported before it"
    NO_WORK_AFTER = "no output was reported since"
    VOLUME_MOVED = (
        "the work moved, and the days before do not say what so much of it would have cost"
    )
    NO_WORKLOAD = "it names no workload of which costs could be held against each other"
    PAID_ANYWAY = "it frees GPU-hours that are paid anyway: there is no money to be measured"
    SAVED_BY_ANOTHER = "another change of the same work was verified in these weeks: what both saved is counted once, there"


class SavingStatus(StrEnum):
    """What is said of a change once it is made."""

    TOO_EARLY = "too_early"
    VERIFIED = "verified"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CostDay:
    """A settled day: what was charged, and the work it was for (requests, tokens, GPU-hours; the same every day where
    cost alone is held against cost)."""

    day: int
    micros: float
    work: float = 1.0


@dataclass(frozen=True, slots=True)
class RealisedSaving:
    """Over the days since that could be measured. `low` and `high` are the 5th and 95th percentile of `micros`.

    `following` is the share of the cost before that moves with the work: 1 is a cost per unit, 0 one that stands.
    `before_micros` is what a day cost before, on average.
    """

    days: int
    before_days: int
    before_micros: float
    counterfactual_micros: float
    actual_micros: float
    low: float
    high: float
    following: float

    @property
    def micros(self) -> float:
        """What was saved, or below 0 what it cost more."""
        return self.counterfactual_micros - self.actual_micros

    @property
    def month(self) -> SavingRange:
        """A month of MONTH_HOURS of it: the ends, and what was measured between them."""
        scale = MONTH_HOURS / DAY_HOURS / self.days
        return SavingRange(*(round(end * scale) for end in (self.low, self.micros, self.high)))

    @property
    def work_ratio(self) -> float:
        """What the work since would have cost over what as many days cost before."""
        return self.counterfactual_micros / (self.before_micros * self.days)


def saving_since(
    before: Sequence[CostDay], after: Sequence[CostDay]
) -> RealisedSaving | UnknownSaving:
    """What the days after cost less than they would have as before, same weekdays held against each other.

    The counterfactual of a day is the unit cost of its weekday before × its work, so that a fall in volume saves nothing.
    Only where the days before say surely that less than FOLLOWS_FROM of the cost moves with the work (machines that are held
    whatever comes), it is the weekday's mean cost + what more work costs by their slope, by least squares. The interval is
    of the residuals of both spans, their long-run variance by Newey and West (1987) with a Bartlett window, and of the slope.
    """
    refused = _why_unknown(before, after)
    if refused is not None:
        return refused
    share, error = _following(before)
    if _is_beyond(_mean_work(after) / _mean_work(before), share, error):
        return UnknownSaving.VOLUME_MOVED
    is_known = error <= KNOWN_WITHIN
    follows = not is_known or share + _quantile(len(before) - 2) * error >= FOLLOWS_FROM
    following = 1.0 if follows else max(0.0, share)
    as_before = _per_unit(before) if follows else _per_day(before, following)
    counterfactual = sum(as_before(day) for day in after)
    actual = sum(day.micros for day in after)
    bend = 0.0
    if not follows:
        steeper = _per_day(before, following + error)
        bend = sum(steeper(day) for day in after) - counterfactual
    reach = _interval(before, after, as_before, bend)
    saved = counterfactual - actual
    return RealisedSaving(
        days=len(after),
        before_days=len(before),
        before_micros=fmean(day.micros for day in before),
        counterfactual_micros=counterfactual,
        actual_micros=actual,
        low=saved - reach,
        high=saved + reach,
        following=following,
    )


def judge_saving(
    measured: RealisedSaving | UnknownSaving, promise: SavingRange, *, days_since: int
) -> SavingStatus:
    """What is said of a change made so many whole days ago; once, at the end of the window, so that chance has one try.

    Verified: the interval lies above 0, and LEAST_PART of the promise's low end is reached, for the work that was done.
    """
    if days_since < WINDOW_DAYS:
        return SavingStatus.TOO_EARLY
    if isinstance(measured, UnknownSaving) or measured.days < FEWEST_AFTER:
        return SavingStatus.UNKNOWN
    least = LEAST_PART * max(0, promise.low) * measured.work_ratio
    is_kept = measured.low > 0 and measured.month.likely >= least
    return SavingStatus.VERIFIED if is_kept else SavingStatus.FAILED


def _why_unknown(before: Sequence[CostDay], after: Sequence[CostDay]) -> UnknownSaving | None:
    checks = (
        (len(before) < FEWEST_BEFORE, UnknownSaving.FEW_BEFORE),
        (sum(day.micros for day in before) <= 0, UnknownSaving.NOTHING_PAID),
        (sum(day.work for day in before) <= 0, UnknownSaving.NO_WORK_BEFORE),
        (len(after) < WEEK, UnknownSaving.FEW_AFTER),
        (sum(day.work for day in after) <= 0, UnknownSaving.NO_WORK_AFTER),
    )
    return next((why for is_so, why in checks if is_so), None)


def _mean_work(days: Sequence[CostDay]) -> float:
    return fmean(day.work for day in days)


def _is_beyond(moved: float, share: float, error: float) -> bool:
    """Whether work moved by a factor for which the days before do not say what it would have cost."""
    if max(moved, 1 / moved) > FAR_VOLUME:
        return abs(share - 1) + error > SURE_WITHIN
    return error > KNOWN_WITHIN and abs(log(moved)) > SAME_VOLUME


def _following(before: Sequence[CostDay]) -> tuple[float, float]:
    """Which share of the mean cost moves with the work, and its standard error: infinite where work stood still.

    Over all days, or within weekdays, whichever says that more moves: cost that stands shows in both, while a weekend that
    is dearer by the unit looks like it over all days alone.
    """
    work, cost = _mean_work(before), fmean(day.micros for day in before)
    days = [(day.work / work - 1, day.micros / cost - 1) for day in before]
    by_weekday: dict[int, list[tuple[float, float]]] = {}
    for day, point in zip(before, days, strict=True):
        by_weekday.setdefault(day.day % WEEK, []).append(point)
    within = [
        (work - fmean(work for work, _ in like), cost - fmean(cost for _, cost in like))
        for like in by_weekday.values()
        for work, cost in like
    ]
    whole, inner = _slope(days, 2), _slope(within, len(by_weekday) + 1)
    return whole if inner[1] > KNOWN_WITHIN else max(whole, inner)


def _slope(points: Sequence[tuple[float, float]], fitted: int) -> tuple[float, float]:
    """By least squares through the middle, for as many parameters as are fitted; 1 and infinite without any spread."""
    spread = sum(work**2 for work, _ in points)
    if spread < LEAST_SPREAD * len(points):
        return 1.0, inf
    share = sum(work * cost for work, cost in points) / spread
    rest = sum((cost - share * work) ** 2 for work, cost in points)
    return share, sqrt(rest / max(1, len(points) - fitted) / spread)


def _per_unit(before: Sequence[CostDay]) -> Callable[[CostDay], float]:
    """A day's work at the unit cost of its weekday; of all days where one of the weekdays cost something without work."""
    costs, works = _weekday_sums(before)
    whole = sum(costs) / sum(works)
    has_each = not any(cost and not work for cost, work in zip(costs, works, strict=True))
    units = [
        cost / work if has_each and work else whole for cost, work in zip(costs, works, strict=True)
    ]
    return lambda day: units[day.day % WEEK] * day.work


def _per_day(before: Sequence[CostDay], following: float) -> Callable[[CostDay], float]:
    """The mean cost of a day's weekday, and for each unit of work more than then `following` × the unit cost of all days."""
    costs, works = _weekday_sums(before)
    seen = Counter(day.day % WEEK for day in before)
    slope = following * sum(costs) / sum(works)
    size = len(before)

    def as_before(day: CostDay) -> float:
        place = day.day % WEEK
        count = seen[place]
        cost, work = (
            (costs[place] / count, works[place] / count)
            if count
            else (sum(costs) / size, sum(works) / size)
        )
        return cost + slope * (day.work - work)

    return as_before


def _weekday_sums(days: Sequence[CostDay]) -> tuple[list[float], list[float]]:
    """Cost and work by weekday."""
    costs, works = [0.0] * WEEK, [0.0] * WEEK
    for day in days:
        costs[day.day % WEEK] += day.micros
        works[day.day % WEEK] += day.work
    return costs, works


def _interval(
    before: Sequence[CostDay],
    after: Sequence[CostDay],
    as_before: Callable[[CostDay], float],
    bend: float,
) -> float:
    """How far the 95th percentile of the saving lies above it."""
    would, was = sum(map(as_before, after)), sum(day.micros for day in before)
    kept = sum(day.micros for day in after) / would
    rest = {day.day: day.micros - kept * as_before(day) for day in after}
    old = {day.day: day.micros - as_before(day) for day in before}
    seasons = len({day % WEEK for day in old})
    variance = _long_run(rest, 1) + (would / was) ** 2 * _long_run(old, seasons) + bend**2
    return _reach(len(after)) * sqrt(variance)


def _long_run(rest: Mapping[int, float], fitted: int) -> float:
    """The variance of the sum of residuals that go together over days, for as many parameters as were fitted."""
    lags = _lags(len(rest))
    total = sum(value * value for value in rest.values())
    for lag in range(1, lags + 1):
        both = sum(value * rest[day + lag] for day, value in rest.items() if day + lag in rest)
        total += 2 * (1 - lag / (lags + 1)) * both
    return max(0.0, total) * len(rest) / (len(rest) - fitted)


def _quantile(freedom: int) -> float:
    """The 95th percentile of Student's t, by Fisher's expansion (Abramowitz and Stegun 26.7.5)."""
    normal = NormalDist().inv_cdf(HIGH)
    return normal + (normal**3 + normal) / (4 * freedom)


def _lags(days: int) -> int:
    return floor(4 * pow(days / 100, 2 / 9))


def _reach(days: int) -> float:
    """The 95th percentile in deviations, for a variance of so few lags of so few days (Kiefer and Vogelsang 2005, Bartlett)."""
    part = (_lags(days) + 1) / days
    return 1.6449 + 2.1859 * part + 0.3142 * part**2 - 0.3427 * part**3
