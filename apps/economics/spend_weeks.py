"""Spend looked at by weeks: levels that are new, levels that creep, and weekends apart."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.economics.changes import WEEK
from apps.economics.deviations import robust_deviation
from apps.economics.spend_detectors import SpendDetector

Days = NDArray[np.float64]
WeeksBack = tuple[int, int]
"""The first and the last week before that a line is of."""

FEWEST_LIKE, MOST_WEEKS = 3, 10
SPELL_SHARE, SPELL_DAYS = 0.05, 5
WEEK_LINE, LINE_WEEKS = (1, 8), 4
"""A week is held against the nearest four known weeks of the eight before it."""
CREEP_LINES = ((5, 7), (8, 11), (13, 16))
CREEP_A_DAY, STILL, STEADY, BURSTS, RISING = 0.005, 0.5, 0.5, 0.8, 3
"""A creep is half a per cent a day or more; its last week is half as far over its line as two weeks are, and each of three half as far as it has to be."""
LEAST_STEP, LEAST_WEEKEND = 0.15, 0.35
"""Of the logarithm of a sum over its line."""
DEVIATIONS, OF_CREEP, LEAST_SIGMA, LEAST_WEEKEND_SIGMA = 3.5, 2.5, 0.04, 0.08
FEWEST_KNOWN, FEWEST_OF_WEEK = 9, 5
"""Days of two weeks, and of one, that have to be known."""
MOST_MEMORY, CLIPPED = 0.8, 3.0
FEWEST_BEFORE, FEWEST_OF_CREEP, FEWEST_WEEKENDS = 7, 28, 3
WEEKEND_WEEKS, WEEKEND_LESS, DAYS_AFTER = 6, 0.9, 5
"""A weekend is looked at when the days after it are over: whether its work only moved there is known then."""
MOVED_SHARE = 0.5
LASTING_DAYS = 14
"""Of so many days more than half are over their line where a level is new; an incident is over before."""
BACK_DAYS, RARE_DAYS = 2, 60
"""An incident or a dip is over when so many days in a row are no longer out of line; and it is one where there is one in so many."""
RECORD, STANDS_OUT = 1.35, 5.0
UPPER, UPPER_TO_SIGMA = 0.9, 1.2816
"""Nine in ten lie below a middle and so many deviations."""

OFTEN, OFTEN_TO_SIGMA = 0.8, 0.8416
"""Four in five lie below a middle and so many deviations: what more days than that are beyond is no incident."""


@dataclass(frozen=True, slots=True)
class OverLine:
    """The `days` up to so many `ago` are over the line of the weeks `line` before, by a logarithm of `over`."""

    look: SpendDetector
    days: int
    ago: int
    over: float
    line: WeeksBack


@dataclass(frozen=True, slots=True)
class DayNoise:
    """The usual deviation of a day, and of a week, as parts of what is expected of them."""

    of_day: float
    of_week: float


def noise_of(off: Days, expected: Days) -> DayNoise:
    """Of the days before the last week. What is off today is so tomorrow too in part: a week has more than a day ÷ √7."""
    usable = (~np.isnan(off)) & (expected > 0)
    usable[-WEEK:] = False
    ratios = off[usable] / expected[usable]
    if len(ratios) <= WEEK:
        return DayNoise(0.0, 0.0)
    middle = float(np.median(ratios))
    away = ratios - middle
    sigma = robust_deviation(ratios.tolist(), middle)
    away = np.clip(away, -CLIPPED * sigma, CLIPPED * sigma)
    power = float(away @ away)
    memory = min(MOST_MEMORY, max(0.0, float(away[1:] @ away[:-1]) / power)) if power else 0.0
    return DayNoise(sigma, sigma * ((1 + memory) / (1 - memory) / WEEK) ** 0.5)


def without_spells(values: Days) -> Days:
    """NaN for five days in a row or more of next to nothing: what a series costs while it rests is not its usual."""
    spent = values[values > 0]
    if not len(spent):
        return values
    idle = np.append(values <= SPELL_SHARE * float(np.median(spent)), False)
    filtered, begins = values.copy(), 0
    for day, rests in enumerate(idle):
        if rests:
            continue
        if day - begins >= SPELL_DAYS:
            filtered[begins:day] = np.nan
        begins = day + 1
    return filtered


def without_runs(values: Days, expected: Days, *, dear: bool) -> Days:
    """Return the values with what was expected in place of up to two weeks, dear (else: cheap) beyond chance, that came back.

    Where they come more often than once in two months they are how the series is, and stay.
    """
    over = over_line(values, expected) * (1 if dear else -1)
    before = over[:-WEEK][~np.isnan(over[:-WEEK])]
    if len(before) < FEWEST_BEFORE:
        return values
    middle = float(np.median(before))
    away = robust_deviation(before.tolist(), middle)
    often = (float(np.quantile(before, OFTEN)) - middle) / OFTEN_TO_SIGMA
    sigma = max(LEAST_SIGMA, away, often)
    out = np.flatnonzero(over > max(LEAST_STEP, middle + DEVIATIONS * sigma))
    runs = np.split(out, np.flatnonzero(np.diff(out) > BACK_DAYS) + 1)
    ended = [run for run in runs if len(run) and run[-1] < len(values) - BACK_DAYS]
    ordinary = values.copy()
    if len(ended) <= len(before) // RARE_DAYS:
        for run in ended:
            if run[-1] - run[0] < LASTING_DAYS:
                ordinary[run] = expected[run]
    return ordinary


def sums_of(values: Days, days: int = WEEK) -> Days:
    """Of each day what the `days` up to it cost; NaN where one of them is not known."""
    sums = np.full(len(values), np.nan)
    if len(values) >= days:
        sums[days - 1 :] = np.convolve(values, np.ones(days), "valid")
    return sums


def line_of(
    sums: Days, weeks: WeeksBack, most: int = MOST_WEEKS, fewest: int = FEWEST_LIKE
) -> Days:
    """Of each day the median of the nearest `most` known of these weeks before it; NaN of fewer than `fewest`."""
    first, last = weeks
    rows = np.full((last - first + 1, len(sums)), np.nan)
    for row, week in enumerate(range(first, last + 1)):
        rows[row, WEEK * week :] = sums[: max(0, len(sums) - WEEK * week)]
    rows[np.cumsum(~np.isnan(rows), axis=0) > most] = np.nan
    # Sorted, what is not known is last; numpy's own median of what is known takes a hundred times as long.
    count = (~np.isnan(rows)).sum(axis=0)
    rows = np.sort(rows, axis=0)
    at = np.arange(len(sums))
    line: Days = (rows[np.maximum(count - 1, 0) // 2, at] + rows[count // 2 % len(rows), at]) / 2
    line[count < fewest] = np.nan
    return line


def over_line(sums: Days, line: Days) -> Days:
    """The logarithm of each sum over its line; NaN where either is nothing."""
    over = np.full(len(sums), np.nan)
    usable = (line > 0) & (sums > 0)
    over[usable] = np.log(sums[usable] / line[usable])
    return over


def week_out_of_line(
    values: Days, expected: Days, noise: DayNoise, moved: float, strictness: float = 1.0
) -> OverLine | None:
    """Whether the last week is over the four known before it, and if not that, over weeks much longer ago.

    `moved` is what of the week may be work of a day that only came earlier or later. The logarithm has to be over 0.15 (half a per cent a day since its line, of a creep), over 3.5 deviations of what it was before, and over the
    largest of that; each × `strictness`. What lasts, so that most of two weeks are over what was `expected` of their days, is
    held against what lasted before: an incident of a few days is no reason to keep quiet about a level that is new.
    """
    # Spend that is back where it was before a dip, or weeks of holidays, is no news.
    usual_values = without_spells(without_runs(values, expected, dear=False))
    week_sums, sums = sums_of(values), sums_of(usual_values)
    line = line_of(sums, WEEK_LINE, LINE_WEEKS)
    if np.isnan(week_sums[-1]) or week_sums[-1] <= moved:
        return None
    week_sums[-1] -= moved
    over = over_line(week_sums, line)
    before = over[:-WEEK][~np.isnan(over[:-WEEK])]
    usual, sigma = _usual_of(before, noise.of_week)
    least = max(LEAST_STEP + usual, usual + DEVIATIONS * sigma)
    if over[-1] > strictness * max(least, _largest(before)):
        return OverLine(SpendDetector.WEEK, WEEK, 0, float(over[-1]), (1, LINE_WEEKS))
    ordinary = without_runs(usual_values, expected, dear=True)
    lasting = _lasting(week_sums, sums_of(ordinary), noise.of_week, strictness)
    if lasting is not None and _lasts(values, ordinary, expected, strictness):
        return OverLine(SpendDetector.WEEK, WEEK, 0, lasting, (1, LINE_WEEKS))
    return _creep_of(values, usual_values, ordinary, noise.of_week, strictness)


def _lasting(week_sums: Days, sums: Days, least_sigma: float, strictness: float) -> float | None:
    """By what logarithm the last week is over ordinary weeks, where that is beyond what those differ by."""
    line = line_of(sums, WEEK_LINE, LINE_WEEKS)
    before = over_line(sums, line)[:-WEEK]
    over = float(over_line(week_sums, line)[-1])
    usual, sigma = _usual_of(before[~np.isnan(before)], least_sigma)
    return over if over > strictness * max(LEAST_STEP + usual, usual + DEVIATIONS * sigma) else None


def _lasts(values: Days, ordinary: Days, expected: Days, strictness: float) -> bool:
    """Whether half of the last two weeks' days or more are so far over what was expected of them as in no two weeks before.

    What was ordinary of those: without the incidents that came back.
    """
    lately, usually = (
        _middles(over_line(series, expected), LASTING_DAYS, LASTING_DAYS)
        for series in (values, ordinary)
    )
    before = usually[:-LASTING_DAYS][~np.isnan(usually[:-LASTING_DAYS])]
    usual, sigma = _usual_of(before, 0.0)
    least = max(LEAST_STEP + usual, usual + DEVIATIONS * sigma, _largest(before))
    return bool(lately[-1] > strictness * least)


def _creep_of(
    values: Days, known_days: Days, ordinary: Days, least_sigma: float, strictness: float
) -> OverLine | None:
    """Against lines of weeks longer ago, by the middle one of two weeks' days, where it rises still.

    A month's end, an incident or a burst moves no middle of two weeks, and does not come three weeks in a row. `known_days` is
    without dips and rests, `ordinary` without incidents too: usual growth goes on for longer.
    """
    for weeks in CREEP_LINES:
        line = line_of(ordinary, weeks)
        over = over_line(values, line)
        lately = float(_middles(over, LASTING_DAYS, FEWEST_KNOWN)[-1])
        if np.isnan(lately):
            continue
        # Between the middles of the line and of the two weeks.
        since = WEEK * (sum(weeks) - 1) / 2
        usual, sigma, largest = _usual_creep(ordinary, line, WEEK * weeks[0], since)
        sigma = max(sigma, least_sigma)
        least = strictness * max(CREEP_A_DAY * since + usual, usual + OF_CREEP * sigma, largest)
        by_week = _middles(over, WEEK, FEWEST_OF_WEEK)[-1 : -RISING * WEEK - 1 : -WEEK]
        if lately > least and by_week[0] >= STILL * lately and by_week.min() > STEADY * least:
            dearer = float(over_line(sums_of(values), line_of(sums_of(known_days), weeks))[-1])
            return OverLine(SpendDetector.CREEP, WEEK, 0, dearer, weeks) if dearer > 0 else None
    return None


def _usual_creep(
    ordinary: Days, line: Days, risen: int, since: float
) -> tuple[float, float, float]:
    """Over a line: what was usual before the last `risen` days, its deviation, and what is no news.

    Of a series too short for that, how two weeks differ from the four weeks before, for as long as it is `since` the line.
    """
    before = _known_before(ordinary, line, risen)
    if len(before) >= FEWEST_OF_CREEP:
        return *_usual_of(before, 0.0), _largest(before)
    nearest = line_of(ordinary, WEEK_LINE, LINE_WEEKS)
    lately = _known_before(ordinary, nearest, WEEK)
    bursts = BURSTS * _spread(lately) if len(lately) else 0.0
    usual, sigma = _usual_of(_known_before(ordinary, nearest, risen), bursts)
    return usual * since / (WEEK * (1 + LINE_WEEKS) / 2), sigma, _largest(before)


def _known_before(ordinary: Days, line: Days, risen: int) -> Days:
    """By how much the median days of two weeks were over a line, where that is known, before the last `risen` days."""
    usually = _middles(over_line(ordinary, line), LASTING_DAYS, FEWEST_KNOWN)
    usually = usually[: -max(LASTING_DAYS, risen)]
    return usually[~np.isnan(usually)]


def _middles(days: Days, span: int, fewest: int) -> Days:
    """Of each day the median of the `span` days up to it; NaN where fewer than `fewest` of them are known."""
    rows = np.sort(np.lib.stride_tricks.sliding_window_view(days, span), axis=1)
    count = (~np.isnan(rows)).sum(axis=1)
    at = np.arange(len(rows))
    middle: Days = np.full(len(days), np.nan)
    middle[span - 1 :] = (rows[at, np.maximum(count - 1, 0) // 2] + rows[at, count // 2 % span]) / 2
    middle[span - 1 :][count < fewest] = np.nan
    return middle


def weekend_out_of_line(
    values: Days, off: Days, noise: DayNoise, weekend: int | None, strictness: float = 1.0
) -> OverLine | None:
    """Whether the weekend that ended five days ago is over the six before it, and so are its weeks: up to it, and from it on.

    The two days in a row that usually cost least are one; where none do, it begins at `weekend` (modulo 7).
    """
    began = len(values) - DAYS_AFTER - 2
    at = began + 1
    usual_values = without_spells(values)
    line = line_of(sums_of(usual_values, 2), (1, WEEKEND_WEEKS))
    over = over_line(sums_of(values, 2), line)
    # A weekend is looked for only where the two days are out of line at all.
    if not over[at] > strictness * LEAST_WEEKEND:
        return None
    first = _weekend_of(values)
    if first is None and weekend is not None:
        first = weekend % WEEK
    before = over[at - WEEK :: -WEEK]
    before = before[~np.isnan(before)]
    if first is None or began % WEEK != first or len(before) < FEWEST_WEEKENDS:
        return None
    usual = max(0.0, float(np.median(before)))
    sigma = max(LEAST_WEEKEND_SIGMA, noise.of_day, _spread(before))
    least = max(LEAST_WEEKEND + usual, usual + DEVIATIONS * sigma, _largest(before))
    excess = float(values[began] + values[at] - line[at])
    more = sums_of(values) - line_of(sums_of(usual_values), WEEK_LINE, LINE_WEEKS)
    week_excess = float(min(more[at], more[-1]))
    is_seen = excess > 2 * noise.of_week * float(np.nansum(values[-WEEK:]))
    may_have_moved = is_seen and week_excess < MOVED_SHARE * excess
    is_news = over[at] > strictness * least and excess > _largest_pair(off)
    if is_news and not may_have_moved:
        return OverLine(SpendDetector.WEEKEND, 2, DAYS_AFTER, float(over[at]), (1, WEEKEND_WEEKS))
    return None


def _weekend_of(values: Days) -> int | None:
    """Where the two days in a row begin that usually cost least; None where none cost less than the others."""
    usual = np.array([np.nanmedian(values[place::WEEK]) for place in range(WEEK)])
    pairs = usual + np.roll(usual, -1)
    first = int(np.argmin(pairs))
    others = float(usual.sum() - pairs[first]) / (WEEK - 2)
    return first if 0 < pairs[first] / 2 <= WEEKEND_LESS * others else None


def _usual_of(before: Days, least: float) -> tuple[float, float]:
    """The middle of what it was before, where that is growth, and its deviation."""
    if len(before) < FEWEST_BEFORE:
        return 0.0, max(LEAST_SIGMA, least)
    return max(0.0, float(np.median(before))), max(LEAST_SIGMA, least, _spread(before))


def _spread(before: Days) -> float:
    """The deviation by the middle of what it was, or by its upper tenth where bursts make that larger."""
    ordered = np.sort(before)
    middle = float(ordered[len(ordered) // 2])
    upper = float(ordered[int(UPPER * (len(ordered) - 1))])
    return max(robust_deviation(before.tolist(), middle), (upper - middle) / UPPER_TO_SIGMA)


def _largest(before: Days) -> float:
    """Return the amount to be above for what came before: that is no news."""
    return RECORD * float(before.max()) if len(before) else 0.0


def _largest_pair(off: Days) -> float:
    """Return the amount to be above for any two days in a row before the last week, where they stand out at all."""
    pairs = sums_of(off, 2)[:-WEEK]
    pairs = pairs[~np.isnan(pairs)]
    largest = float(pairs.max())
    return RECORD * largest if largest > STANDS_OUT * _spread(pairs) else 0.0
