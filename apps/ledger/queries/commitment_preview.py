"""A preview of what a commitment would move in hours charged already, before it is entered or ended.

An estimate by the charges as they stand: each hour's use that nothing covers, the dearest first.
"""

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import Annotated, Any, LiteralString

from apps.accounts.queries import organisation
from apps.economics.commitments import CommitmentOfHour, capacity_per_ms
from apps.economics.hours import HOUR, hour_of
from apps.economics.money import sum_or_unknown
from apps.fleet import queries as fleet
from apps.ledger.models import ChargePart
from apps.ledger.queries.calendar import HourSpan, posting_month
from apps.ledger.queries.closes.months import closed_spans
from apps.ledger.queries.commitments import commitment_use
from apps.ledger.queries.commitments_of_hour import bought_as
from apps.ledger.queries.offered_use import OFFERED, UseTermsIndex, use_of, use_terms_index
from apps.ledger.queries.tables import rows
from apps.pricing.queries.commitments import CommitmentFact, commitment
from apps.pricing.queries.exchange import exchange
from apps.show.entries import Entry, Micros

MICROS = 1_000_000
UNCOVERED: LiteralString = """
SELECT charge.hour, charge.pool_id, node.kind, coalesce(capacity.units, 0)::int8,
       coalesce(told.terms, 0)::int8,
       coalesce(sum(piece.end_ms - piece.start_ms) FILTER (WHERE charge.part <> %(host)s), 0)::int8,
       CASE WHEN count(piece.contracted_micros) = count(*)
            THEN sum(piece.contracted_micros)::int8 END
:offered AND piece.commitment_id IS NULL
GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
""".replace(":offered", OFFERED)


@dataclass(frozen=True, slots=True)
class Moved:
    """The past hours that would be charged again, and what they cost; money in micro-units.

    `closed_hours` stay as they are until somebody posts corrections. `covered` of them costs
    `on_demand` without the commitment; None: some of it has no price, or the money no rate of
    exchange. `cost` is the commitment's own in these hours, `used` ÷ `bought` its utilisation.
    """

    hours: int
    closed_hours: Annotated[int, Entry(help="these wait as corrections")]
    bought: int
    used: int
    on_demand: Micros | None
    cost: Micros | None

    @property
    def utilisation(self) -> Fraction | None:
        """Used ÷ bought; None where there is no such hour."""
        return Fraction(self.used, self.bought) if self.bought else None

    @property
    def difference(self) -> int | None:
        """The amount that the total would rise by where it is entered; where it is ended, fall."""
        if self.on_demand is None or self.cost is None:
            return None
        return self.cost - self.on_demand


def if_entered(fact: CommitmentFact, at: datetime) -> Moved:
    """Return what entering the commitment would move, in hours before `at`; nothing is entered."""
    since = fleet.first_node_started_at()
    starts_at = fact.starts_at if since is None else max(fact.starts_at, hour_of(since))
    ends_at = min(fact.ends_at, hour_of(at)) if since is not None else starts_at
    closed = closed_spans()
    hours, closed_hours = _past_hours(starts_at, ends_at, closed)
    bought = bought_as(fact)
    used, on_demand = _would_cover(bought, starts_at, ends_at, closed)
    return Moved(
        hours=hours,
        closed_hours=closed_hours,
        bought=bought.capacity * hours,
        used=used,
        on_demand=on_demand,
        cost=_converted_cost(fact, hours),
    )


def if_ended(commitment_id: int, ended_at: datetime, at: datetime) -> Moved:
    """Return what ending the commitment would move, in hours before `at`; nothing is ended."""
    fact = commitment(commitment_id)
    starts_at, ends_at = max(ended_at, fact.starts_at), min(fact.ends_at, hour_of(at))
    if ends_at <= starts_at:
        return Moved(0, 0, 0, 0, 0, 0)
    closed = closed_spans()
    cuts = sorted({starts_at, ends_at, *_cut_at(closed, starts_at, ends_at)})
    use = commitment_use(cuts, at)
    open_figures = [
        figures
        for (one, time), figures in use.of.items()
        if one == commitment_id and not _is_closed(cuts[time], closed)
    ]
    hours, closed_hours = _past_hours(starts_at, ends_at, closed)
    return Moved(
        hours=hours,
        closed_hours=closed_hours,
        bought=sum(part.bought for part in open_figures),
        used=sum(part.used for part in open_figures),
        on_demand=sum_or_unknown(part.on_demand for part in open_figures),
        cost=sum_or_unknown(part.cost for part in open_figures),
    )


def _would_cover(
    bought: CommitmentOfHour, starts_at: datetime, ends_at: datetime, closed: list[HourSpan]
) -> tuple[int, int | None]:
    """The capacity that would be used, and what that use costs as it stands."""
    pools = fleet.pools()
    blocks = {bought.terms.reservation} if bought.terms.is_block else set()
    terms = use_terms_index(blocks)
    params = {
        "starts_at": starts_at,
        "ends_at": ends_at,
        "host": int(ChargePart.HOST),
        **terms.params,
    }
    used, on_demand, is_known = 0, Fraction(0), True
    for hour, hour_rows in groupby(rows(UNCOVERED, params), key=itemgetter(0)):
        if _is_closed(hour, closed):
            continue
        offered = [
            _offered_use((bought, terms), pools[pool], *use_values)
            for _, pool, *use_values in hour_rows
        ]
        left = bought.capacity
        for weight, contracted in sorted(filter(itemgetter(0), offered), key=_dearest_first):
            taken = min(left, weight)
            left -= taken
            used += taken
            if taken and contracted is None:
                is_known = False
            on_demand += Fraction((contracted or 0) * taken, weight)
    return used, round(on_demand) if is_known else None


def _offered_use(
    commitment_terms: tuple[CommitmentOfHour, UseTermsIndex], pool: fleet.PoolFact, *use: Any
) -> tuple[int, int | None]:
    """Return what some use takes of the commitment in all, and what it costs."""
    (bought, terms), (kind, units, told_as, lasts_ms, micros) = commitment_terms, use
    offered = use_of(pool, kind, units, micros, terms.of(told_as))
    return capacity_per_ms(bought, offered) * lasts_ms, micros


def _dearest_first(offered: tuple[int, int | None]) -> Fraction:
    weight, contracted = offered
    return -Fraction(contracted or 0, weight)


def _converted_cost(fact: CommitmentFact, hours: int) -> int | None:
    ours = organisation()
    month = posting_month(fact.starts_at, ours.zone)
    rate = exchange(from_currency=fact.currency, to_currency=ours.currency, month=month)
    if rate is None:
        return None
    total_micros = fact.price * MICROS * rate.rate
    return round(total_micros * hours / fact.hours)


def _past_hours(starts_at: datetime, ends_at: datetime, closed: list[HourSpan]) -> tuple[int, int]:
    """Hours of open months, and of closed ones."""
    all_hours = max(0, (ends_at - starts_at) // HOUR)
    shut = sum(
        max(0, (min(ends_at, span.ends_at) - max(starts_at, span.starts_at)) // HOUR)
        for span in closed
    )
    return all_hours - shut, shut


def _cut_at(closed: list[HourSpan], starts_at: datetime, ends_at: datetime) -> list[datetime]:
    bounds = [bound for span in closed for bound in (span.starts_at, span.ends_at)]
    return [bound for bound in bounds if starts_at < bound < ends_at]


def _is_closed(hour: datetime, closed: list[HourSpan]) -> bool:
    return any(span.holds(hour) for span in closed)
