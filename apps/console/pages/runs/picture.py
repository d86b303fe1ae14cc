"""Pictures of days of runs: sums by bucket, the key figures, and each day as a stacked bar."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from apps.console.kit.chart import DailyChart, DayRow, Figure, daily_chart, figure_or_unknown
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.periods import days_between
from apps.economics.money import sum_of_known
from apps.economics.run_time import LEAST_TOLD, Bucket, coverage, goodput, goodput_if_reported
from apps.ledger.queries.costs import least_sure
from apps.show.amounts import gpu_hours, per_cent, share
from apps.show.money import rounded_amount, short_amount
from apps.show.run_buckets import BUCKETS, NO_PROGRESS, in_a_sentence, no_progress
from apps.show.sparkline import sparkline
from apps.show.time import weekday
from apps.show.words import joined
from apps.unit_economics.queries.runs.page import DayOfRuns

MOST_PARTS = 3


@dataclass(frozen=True, slots=True)
class BucketSums:
    """Amounts by bucket: micro-units None where no price is known for any of it."""

    micros: Mapping[Bucket, int | None]
    provisional: Mapping[Bucket, int]
    milliseconds: Mapping[Bucket, int]
    unpriced_milliseconds: int
    statuses: frozenset[str]

    @property
    def total(self) -> int | None:
        """All that is priced; None where nothing is."""
        return sum_of_known(self.micros.values())

    @property
    def known(self) -> dict[Bucket, int]:
        """The buckets whose cost is known."""
        return {bucket: micros for bucket, micros in self.micros.items() if micros is not None}

    @property
    def no_progress(self) -> int | None:
        """The cost that was not productive; None where nothing has a price."""
        return None if self.total is None else no_progress(self.known)

    @property
    def untold(self) -> int:
        """The cost of what was not reported."""
        return self.known.get(Bucket.UNTOLD, 0)

    @property
    def goodput_ratio(self) -> float | None:
        """Productive ÷ reported GPU time; None where most of it was not reported."""
        return goodput_if_reported(goodput(self.milliseconds), self.told_ratio)

    @property
    def told_ratio(self) -> float | None:
        """The share of the GPU time that runs reported."""
        return coverage(self.milliseconds)

    @property
    def is_mostly_told(self) -> bool:
        """Whether enough was reported to say what of it was productive."""
        return (self.told_ratio or 0) >= LEAST_TOLD

    @property
    def status(self) -> str:
        """The least sure of them; empty without any."""
        return least_sure(self.statuses)


def sums_of_days(days: Iterable[DayOfRuns]) -> BucketSums:
    """All of them together."""
    micros: dict[Bucket, int | None] = {}
    provisional: dict[Bucket, int] = {}
    milliseconds: dict[Bucket, int] = {}
    unpriced, statuses = 0, set()
    for day in days:
        bucket = day.bucket
        micros[bucket] = sum_of_known((micros.get(bucket), day.effective_micros))
        if day.status == "provisional":
            provisional[bucket] = provisional.get(bucket, 0) + (day.effective_micros or 0)
        milliseconds[bucket] = milliseconds.get(bucket, 0) + day.unit_milliseconds
        unpriced += day.unpriced_milliseconds
        statuses.add(day.status)
    return BucketSums(micros, provisional, milliseconds, unpriced, frozenset(statuses))


def by_day(days: Sequence[DayOfRuns]) -> dict[date, BucketSums]:
    """The sums of each day that has any."""
    rows_by_day: dict[date, list[DayOfRuns]] = {}
    for run_day in days:
        rows_by_day.setdefault(run_day.day, []).append(run_day)
    return {day: sums_of_days(of_day) for day, of_day in rows_by_day.items()}


def figures_of(
    sums: BucketSums, days: Mapping[date, BucketSums], currency: str
) -> tuple[Figure, ...]:
    """Cost, what was not productive, goodput, and what is not known."""
    costs = [days[day].total for day in sorted(days)]
    lost = [days[day].no_progress for day in sorted(days)]
    ratio = share(sums.no_progress, sums.total)
    return (
        Figure(
            title="Cost of runs",
            number=short_amount(sums.total, currency),
            note="of the days in the period" if sums.total is not None else "no price covers it",
            status=sums.status,
            sparkline=sparkline(costs, words="Cost, day by day"),
            is_unknown=sums.total is None,
        ),
        Figure(
            title="Not productive",
            number=short_amount(sums.no_progress, currency),
            note="; ".join(
                filter(
                    None,
                    (per_cent(ratio) if ratio is not None else "", _worst_parts(sums, currency)),
                )
            ),
            status=sums.status,
            sparkline=sparkline(lost, words="Not productive, day by day"),
            tone="held_idle",
            is_unknown=sums.no_progress is None or not sums.is_mostly_told,
        ),
        figure_or_unknown(
            "Goodput",
            None if sums.goodput_ratio is None else per_cent(sums.goodput_ratio),
            "kept training steps ÷ GPU time that runs reported"
            if sums.is_mostly_told
            else f"only {per_cent(sums.told_ratio or 0)} of GPU time was reported",
            sums.status,
        ),
        _unknown_figure(sums, currency),
    )


def bucket_chart(
    totals: BucketSums, days: Mapping[date, BucketSums], currency: str, days_file: CsvFile
) -> DailyChart | None:
    """Each day's cost by where it went, of `totals`; None where no cost is known."""
    if totals.total is None:
        return None
    shown = days_between(min(days), date.fromordinal(max(days).toordinal() + 1))
    day_sums = [days.get(day) for day in shown]
    present = [bucket for bucket in BUCKETS if bucket in totals.micros]
    return daily_chart(
        shown,
        [(BUCKETS[bucket], [_of_bucket(day, bucket) for day in day_sums]) for bucket in present],
        [None if day is None else day.total for day in day_sums],
        currency,
        provisional=[
            [None if day is None else day.provisional.get(bucket) for day in day_sums]
            for bucket in present
        ],
        title=_highest_day(days, totals, currency),
        unit=f"each day by where the time went, in {currency}, effective cost",
        total=DayRow("Total", tuple(totals.micros[bucket] for bucket in present), totals.total),
        csv=days_file,
    )


def _of_bucket(of_day: BucketSums | None, bucket: Bucket) -> int | None:
    """A bucket that did not occur on a day with charges cost nothing; a day without is unknown."""
    return None if of_day is None else of_day.micros.get(bucket, 0)


def no_progress_parts(sums: BucketSums, currency: str) -> str:
    """Where money went that was not productive: `lost and redone $71k and data wait $49k`."""
    parts = sorted(
        ((sums.known[bucket], bucket) for bucket in NO_PROGRESS if sums.known.get(bucket)),
        reverse=True,
    )
    return joined(
        [
            f"{in_a_sentence(bucket)} {short_amount(micros, currency)}"
            for micros, bucket in parts[:MOST_PARTS]
        ]
    )


def reported_words(sums: BucketSums) -> str:
    """Return what is said where nothing of what was reported was lost: how much that is of all of it."""
    if not sums.told_ratio:
        return "nothing was reported"
    if sums.told_ratio < 1:
        return f"all of the {per_cent(sums.told_ratio)} that was reported was productive"
    return "all that was reported was productive"


def _worst_parts(sums: BucketSums, currency: str) -> str:
    if sums.no_progress is None:
        return "no price covers it"
    return no_progress_parts(sums, currency) or reported_words(sums)


def _unknown_figure(sums: BucketSums, currency: str) -> Figure:
    parts = []
    if sums.unpriced_milliseconds:
        hours = gpu_hours(sums.unpriced_milliseconds)
        parts.append((f"{hours} GPU-hours", "without a price, and in no sum here"))
    if sums.untold:
        amount = short_amount(sums.untold, currency)
        parts.append((amount, "of time that no run reported"))
    if not parts:
        return Figure("Not known", "Nothing", "all of it is priced and reported", sums.status)
    (number, first), *others = parts
    note = "; ".join([first, *(f"{amount} {words}" for amount, words in others)])
    return Figure("Not known", number, note, sums.status, is_unknown=True)


def _highest_day(days: Mapping[date, BucketSums], totals: BucketSums, currency: str) -> str:
    most, highest = max((of_day.total or 0, day) for day, of_day in days.items())
    sentence = f"Highest day: {weekday(highest)}, {rounded_amount(most, currency)}"
    if len(days) == 1:
        sentence = f"{weekday(highest)} cost {rounded_amount(most, currency)}"
    lost = [(totals.known.get(bucket, 0), bucket) for bucket in NO_PROGRESS]
    most_lost, bucket = max(lost)
    if not most_lost:
        return f"{sentence}."
    part = per_cent(share(most_lost, totals.total))
    return f"{sentence}; {part} of the whole went to {in_a_sentence(bucket)}, the largest loss."
