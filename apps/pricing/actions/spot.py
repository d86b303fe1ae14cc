"""Spot prices as they were told, moment by moment: each holds until the next."""

import zlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import F, Q

from apps.accounts.actions import hold_organisation
from apps.accounts.actions.constraints import refusing
from apps.economics.price_series import PriceSpan, changed_spans, spans_of
from apps.economics.purchase import PurchaseOption
from apps.logs.changes import field_of, logged_change
from apps.pricing.actions.checking import (
    RateCurrencyDiffers,
    RateEndsBeforeItStarts,
    RateNotUnderstood,
    mark_priced,
)
from apps.pricing.actions.price_checks import Doubts, Judged
from apps.pricing.actions.quoted import EnteredRate, target_of
from apps.pricing.actions.rates import (
    RateOverlaps,
    RefusedRow,
    TableLoaded,
    check_rate,
    existing_doubtful_rate,
    row_remarks,
)
from apps.pricing.actions.rows import copied, row_of, say_again
from apps.pricing.models import Rate, RateStanding, SpotRepeat
from apps.pricing.queries.comparable_prices import QuotedPrice
from apps.pricing.queries.reach import Prices

LOCK_CLASS = 102
EVER = datetime.min.replace(tzinfo=UTC)


Told = dict[datetime, QuotedPrice | None]


@dataclass(slots=True)
class _Tally:
    entered: int = 0
    unchanged: int = 0
    waiting: int = 0
    rejected: list[RefusedRow] = field(default_factory=list)

    def loaded(self) -> TableLoaded:
        self.rejected.sort(key=lambda row: row.line)
        return TableLoaded(self.entered, self.unchanged, tuple(self.rejected), self.waiting)


@logged_change(count=field_of("imported"))
@transaction.atomic
def record_spot_prices(*, rows: Sequence[tuple[int, EnteredRate]], at: datetime) -> TableLoaded:
    """Enter points of spot prices (line number, rate from its moment on), each until the next.

    Any order of arrival gives the same rates: a late point splits the price that held then, one
    that says what held already makes none, the same point again changes nothing. An implausible
    point is quarantined and none waits for a second person: they are observed, not decided. Charge
    is marked where the price changed. A point that is refused is named with its line and reason,
    and the others are kept.
    """
    hold_organisation()
    tally, doubts = _Tally(), Doubts()
    points: dict[str, list[tuple[int, EnteredRate]]] = defaultdict(list)
    for line, rate in rows:
        try:
            _refuse_no_point(rate)
        except (RateNotUnderstood, RateCurrencyDiffers, RateEndsBeforeItStarts) as refusal:
            tally.rejected.append(RefusedRow(line, f"{type(refusal).__name__}: {refusal}"))
        else:
            points[target_of(rate)].append((line, rate))
    for target in sorted(points):
        _record_series(target, points[target], doubts, tally, at)
    return replace(tally.loaded(), remarks=row_remarks(rows, tally.rejected))


def accept_spot_point(*, rate: Rate, at: datetime) -> bool:
    """Take a quarantined point into its series; false where the price before says the same.

    The rate is left for the caller to save as decided; its period is set.
    """
    _lock_target(rate.target)
    moment = rate.period.lower
    series = _Series(rate.target, [moment])
    series.tell(moment, _quote_of_row(rate), rate)
    periods = series.write(at, created=(), prices=Prices.of(rate))
    if moment in periods:
        rate.period = periods[moment]
    return moment in periods


def _refuse_no_point(rate: EnteredRate) -> None:
    check_rate(rate)
    if rate.purchase_option != PurchaseOption.SPOT:
        raise RateNotUnderstood("purchase_option", f"{rate.purchase_option!r} is not spot")
    if rate.starts_at is None:
        raise RateNotUnderstood("at", "a spot price says since when")
    if rate.ends_at is not None:
        raise RateNotUnderstood("ends_at", "a spot price holds until the next one is published")


def _record_series(
    target: str,
    points: Sequence[tuple[int, EnteredRate]],
    doubts: Doubts,
    tally: _Tally,
    at: datetime,
) -> None:
    _lock_target(target)
    series = _Series(target, [_quoted_at(rate) for _, rate in points])
    fresh: dict[datetime, EnteredRate] = {}
    for line, rate in sorted(points, key=lambda point: (_quoted_at(point[1]), point[0])):
        moment, current_quote = _quoted_at(rate), series.told.get(_quoted_at(rate))
        if current_quote == _quote_of_rate(rate):
            say_again(rate)
            tally.unchanged += 1
        elif current_quote is not None:
            tally.rejected.append(RefusedRow(line, _contradiction_words(rate, current_quote)))
        elif doubt := doubts.of(rate):
            is_new = _quarantine_point(rate, doubt, at)
            tally.waiting += is_new
            tally.unchanged += not is_new
        else:
            series.tell(moment, _quote_of_rate(rate))
            fresh[moment] = rate
    if fresh:
        periods = series.write(at, created=fresh.values(), prices=Prices.of(points[0][1]))
        tally.entered += sum(moment in periods for moment in fresh)
        tally.unchanged += sum(moment not in periods for moment in fresh)


def _quarantine_point(rate: EnteredRate, doubt: str, at: datetime) -> bool:
    if existing_doubtful_rate(rate) is not None:
        return False
    judgement = Judged(RateStanding.QUARANTINED, doubt)
    Rate.objects.create(
        **row_of(rate), standing=judgement.standing, doubt=judgement.doubt, created_at=at
    )
    return True


def _contradiction_words(rate: EnteredRate, quote: QuotedPrice) -> str:
    since = f"{_quoted_at(rate):%Y-%m-%d %H:%M:%S}Z"
    costs = f"costs {quote.amount:f} from {since} on, not {rate.amount:f}"
    return f"RateOverlaps: {target_of(rate)} {costs}"


class _Series:
    """The rates in force of one target around some moments, and what is told of them now."""

    def __init__(self, target: str, moments: Sequence[datetime]) -> None:
        self.target = target
        self._rows = _rows_around(target, min(moments), max(moments))
        self._before = _quotes_by_moment(self._rows)
        self._before |= _repeated_quotes(target, self._rows, self._before)
        self.told: Told = dict(self._before)
        self._adopted: dict[datetime, Rate] = {}

    def tell(self, moment: datetime, quote: QuotedPrice, adopted: Rate | None = None) -> None:
        """A price from this moment on; `adopted` is the row that it is."""
        self.told[moment] = quote
        if adopted is not None:
            self._adopted[moment] = adopted

    def write(
        self, at: datetime, created: Iterable[EnteredRate], prices: Prices
    ) -> dict[datetime, tuple[datetime | None, datetime | None]]:
        """Make the rates what was told; answers the periods by the start of what is in force."""
        columns_by_start = {rate.starts_at: row_of(rate) for rate in created}
        spans = spans_of(self.told)
        row_spans, new_spans = self._planned_spans(spans)
        # What begins again after a late point is the price that held on there until now.
        columns_by_start = {
            start: columns_by_start.get(start) or self._copied_columns(start)
            for start, _ in new_spans
        }
        overlaps = RateOverlaps("", f"{self.target} was given another price at the same time")
        with refusing({"rates_of_equal_priority_do_not_overlap": overlaps}):
            _resize_rows(row_spans)
            Rate.objects.bulk_create(
                [
                    Rate(**columns_by_start[start] | {"period": (start, end)}, created_at=at)
                    for start, end in new_spans
                    if start not in self._adopted
                ]
            )
        self._remember_repeats(spans)
        for starts_at, ends_at in changed_spans(self._before, self.told):
            mark_priced(prices, _period_bound(starts_at), ends_at, at)
        return {start: (_period_bound(start), end) for start, end in new_spans}

    def _planned_spans(
        self, spans: Sequence[PriceSpan[QuotedPrice]]
    ) -> tuple[
        list[tuple[Rate, datetime, datetime | None]], list[tuple[datetime, datetime | None]]
    ]:
        """Return which row takes which span, and those that no row has yet."""
        row_spans, new_spans = [], []
        for span in spans:
            span_rows = [row for row in self._rows if _lies_in(row, span)]
            if not span_rows:
                new_spans.append((span.starts_at, span.ends_at))
                continue
            # Two of one price that touch, since a gap was filled, stay two: either may be on a line.
            starts = [span.starts_at, *(row.period.lower for row in span_rows[1:])]
            for row, start, end in zip(span_rows, starts, [*starts[1:], span.ends_at], strict=True):
                row_spans.append((row, start, end))
        return row_spans, new_spans

    def _copied_columns(self, start: datetime) -> dict[str, Any]:
        earlier_rows = [row for row in self._rows if (row.period.lower or EVER) <= start]
        return copied(earlier_rows[-1]) if earlier_rows else {}

    def _remember_repeats(self, spans: Sequence[PriceSpan[QuotedPrice]]) -> None:
        again = [moment for span in spans for moment in span.repeated_at]
        SpotRepeat.objects.bulk_create(
            [SpotRepeat(target=self.target, moment=moment) for moment in again],
            ignore_conflicts=True,
        )
        starts = [span.starts_at for span in spans]
        SpotRepeat.objects.filter(target=self.target, moment__in=starts).delete()


def _rows_around(target: str, first: datetime, last: datetime) -> list[Rate]:
    """Return the rates that hold from `first` to `last`, those that end just then, and the next one after."""
    rows = Rate.objects.select_for_update().filter(standing=RateStanding.IN_FORCE, target=target)
    later = rows.filter(period__startswith__gt=last).order_by("period__startswith").first()
    until = last if later is None else later.period.lower
    chosen = rows.filter(Q(period__endswith=None) | Q(period__endswith__gte=first)).filter(
        Q(period__startswith=None) | Q(period__startswith__lte=until)
    )
    return list(chosen.order_by(F("period__startswith").asc(nulls_first=True)))


def _quotes_by_moment(rows: Sequence[Rate]) -> Told:
    quotes: Told = {row.period.upper: None for row in rows if row.period.upper is not None}
    quotes |= {row.period.lower or EVER: _quote_of_row(row) for row in rows}
    return quotes


def _repeated_quotes(target: str, rows: Sequence[Rate], quotes: Told) -> Told:
    """Moments inside these rows at which their price was told again."""
    if not rows:
        return {}
    repeats = SpotRepeat.objects.filter(target=target)
    if rows[0].period.lower is not None:
        repeats = repeats.filter(moment__gte=rows[0].period.lower)
    if rows[-1].period.upper is not None:
        repeats = repeats.filter(moment__lt=rows[-1].period.upper)
    moments = sorted(quotes)
    again: Told = {}
    for moment in repeats.order_by("moment").values_list("moment", flat=True):
        quote = quotes[moments[bisect_right(moments, moment) - 1]]
        if moment not in quotes and quote is not None:
            again[moment] = quote
    return again


def _resize_rows(row_spans: Iterable[tuple[Rate, datetime, datetime | None]]) -> None:
    """Give rows their periods; what shrinks first, since no two may overlap at any time."""
    grown = []
    for row, start, end in row_spans:
        lower, upper = row.period.lower, row.period.upper
        if (lower, upper) == (_period_bound(start), end):
            continue
        row.period = (_period_bound(start), end)
        if start < (lower or EVER):
            grown.append(row)
        else:
            row.save(update_fields=["period"])
    for row in grown:
        row.save(update_fields=["period"])


def _lies_in(row: Rate, span: PriceSpan[QuotedPrice]) -> bool:
    lower = row.period.lower or EVER
    is_inside = span.starts_at <= lower and (span.ends_at is None or lower < span.ends_at)
    return is_inside and _quote_of_row(row) == span.price


def _quote_of_rate(rate: EnteredRate) -> QuotedPrice:
    return QuotedPrice(rate.amount, rate.currency, rate.quantity_seconds, rate.unit)


def _quote_of_row(row: Rate) -> QuotedPrice:
    return QuotedPrice(row.amount, row.currency, row.quantity_seconds, row.unit)


def _quoted_at(rate: EnteredRate) -> datetime:
    if rate.starts_at is None:
        raise RateNotUnderstood("at", "a spot price says since when")
    return rate.starts_at


def _period_bound(moment: datetime) -> datetime | None:
    return None if moment == EVER else moment


def _lock_target(target: str) -> None:
    """One at a time: points of one target that come at once would not see each other."""
    with connection.cursor() as cursor:
        key = zlib.crc32(target.encode()) - 2**31
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_CLASS, key])
