"""By what the GPUs of the last months were bought, and what of their work may be interrupted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import LiteralString

from apps.economics.hours import HOUR, HOUR_MS
from apps.economics.money import sum_or_unknown
from apps.economics.purchase import PurchaseOption
from apps.economics.states import State
from apps.ledger.queries.calendar import HourSpan, month_span, posting_month
from apps.ledger.queries.purchases import BoughtHour, bought_hours
from apps.ledger.queries.tables import named_rows
from apps.planning.queries.portfolio.families import PoolFamily
from apps.workloads.queries.run_totals import runs_with_checkpoints

MICROS = 1_000_000
MOST_MONTHS = 3
BEGUN = timedelta(days=1)
COMMITTED, UNUSED = "committed", "unused"
SOURCES = (PurchaseOption.OWNED.value, COMMITTED, "on_demand", "spot", UNUSED)
"""Of GPU-hours: owned, reserved or covered by a commitment, on demand, on spot; and paid for without use."""

TOLERANT: LiteralString = """
SELECT line.pool_id, sum(line.unit_milliseconds)::int8 AS held,
       coalesce(sum(line.unit_milliseconds) FILTER (WHERE pool.purchase_option = 'spot'), 0)::int8
           AS on_spot,
       coalesce(sum(line.unit_milliseconds) FILTER (WHERE pool.purchase_option <> 'spot'
           AND attempt.job_id IS NOT NULL), 0)::int8 AS of_runs,
       coalesce(sum(line.unit_milliseconds) FILTER (WHERE pool.purchase_option <> 'spot'
           AND attempt.saves), 0)::int8 AS checkpointed
FROM ledger_line_fact AS line
JOIN fleet_pool_fact AS pool ON pool.id = line.pool_id AND pool.unit = 'gpu'
LEFT JOIN (
    SELECT job_id, bool_or(run_id = ANY(%(runs)s)) AS saves
    FROM workloads_runattempt_fact WHERE job_id IS NOT NULL GROUP BY job_id
) AS attempt ON attempt.job_id = line.job_id
WHERE line.hour >= %(from)s AND line.hour < %(to)s AND line.state = ANY(%(held)s)
  AND line.posting_month >= date_trunc('month', %(from)s::timestamptz) - interval '1 month'
GROUP BY line.pool_id
"""


@dataclass(slots=True)
class BoughtSum:
    """GPU milliseconds in service with their price on demand by the list, and what was paid; None: not known."""

    gpu_ms: int = 0
    list_micros: int | None = 0
    paid_micros: int | None = 0

    def add(self, hour: BoughtHour) -> None:
        """One more hour of it; what was not used has no price on demand."""
        self.gpu_ms += hour.gpu_ms
        if not hour.is_unused:
            self.list_micros = sum_or_unknown((self.list_micros, hour.list_micros))
        self.paid_micros = sum_or_unknown((self.paid_micros, hour.paid_micros))


@dataclass(slots=True)
class BoughtMonths:
    """The last complete months: `sums` by month, family (empty: of several) and source.

    `in_service` are GPUs by the hour of these months, by family. `shared_unused_micros` was paid for
    commitments of several families and not used. `refusal` says why there is no month.
    """

    months: list[date] = field(default_factory=list)
    sums: dict[tuple[date, str, str], BoughtSum] = field(default_factory=dict)
    in_service: dict[str, list[float]] = field(default_factory=dict)
    shared_unused_micros: int | None = 0
    refusal: str = ""

    def of_family(self, name: str) -> dict[str, BoughtSum]:
        """Of all months together, by source."""
        sums_by_source: dict[str, BoughtSum] = {}
        for (_, family, source), bought_sum in self.sums.items():
            if family == name:
                so_far = sums_by_source.setdefault(source, BoughtSum())
                so_far.gpu_ms += bought_sum.gpu_ms
                so_far.list_micros = sum_or_unknown((so_far.list_micros, bought_sum.list_micros))
                so_far.paid_micros = sum_or_unknown((so_far.paid_micros, bought_sum.paid_micros))
        return sums_by_source


def bought_months(
    families: Sequence[PoolFamily],
    of_commitment: Mapping[int, frozenset[str]],
    at: datetime,
    zone: str,
) -> BoughtMonths:
    """Up to three months, the last of them over, that the ledger has whole and settled.

    `of_commitment` are the families that each commitment may be used in.
    """
    spans = _last_months(at, zone)
    hours = bought_hours(next(iter(spans.values())).starts_at, list(spans.values())[-1].ends_at)
    months, refusal = _complete_months(spans, hours)
    purchases = BoughtMonths(months, refusal=refusal)
    if not months:
        return purchases
    family_of = {pool.id: family.name for family in families for pool in family.pools}
    bought_as = {pool.id: pool.purchase_option for family in families for pool in family.pools}
    begins = spans[months[0]].starts_at
    ends = spans[months[-1]].ends_at
    count = (ends - begins) // HOUR
    for hour in hours:
        if not begins <= hour.hour < ends:
            continue
        if hour.pool_id is None:
            names = of_commitment.get(hour.commitment_id or 0, frozenset())
            name = next(iter(names)) if len(names) == 1 else ""
            if len(names) > 1:
                purchases.shared_unused_micros = sum_or_unknown(
                    (purchases.shared_unused_micros, hour.paid_micros)
                )
        else:
            name = family_of.get(hour.pool_id, "")
        key = posting_month(hour.hour, zone), name, _source_of(hour, bought_as)
        purchases.sums.setdefault(key, BoughtSum()).add(hour)
        if hour.gpu_ms and name:
            in_service = purchases.in_service.setdefault(name, [0.0] * count)
            in_service[(hour.hour - begins) // HOUR] += hour.gpu_ms / HOUR_MS
    return purchases


def tolerant_shares(
    families: Sequence[PoolFamily], starts_at: datetime, ends_at: datetime
) -> dict[str, float | None]:
    """By family: the part of GPU-hours held that may be interrupted, as far as anybody tells.

    Held on spot, or by a job of a run that saved a good checkpoint. None where nothing ran on spot and
    no run reported: then nobody knows.
    """
    parameters = {
        "from": starts_at,
        "to": ends_at,
        "held": [int(State.ACTIVE), int(State.HELD_IDLE), int(State.UNOBSERVED)],
        "runs": runs_with_checkpoints(),
    }
    by_pool = {row.pool_id: row for row in named_rows(TOLERANT, parameters)}
    shares: dict[str, float | None] = {}
    for family in families:
        rows = [by_pool[pool.id] for pool in family.pools if pool.id in by_pool]
        held_time = sum(row.held for row in rows)
        is_told = any(row.on_spot or row.of_runs for row in rows)
        tolerant = sum(row.on_spot + row.checkpointed for row in rows)
        shares[family.name] = tolerant / held_time if held_time and is_told else None
    return shares


def _last_months(at: datetime, zone: str) -> dict[date, HourSpan]:
    """Those that are over, the earliest first."""
    months: list[date] = []
    month = posting_month(at, zone)
    for _ in range(MOST_MONTHS):
        month = (month - timedelta(days=1)).replace(day=1)
        months.insert(0, month)
    return {month: month_span(month, zone) for month in months}


def _complete_months(
    spans: Mapping[date, HourSpan], hours: Sequence[BoughtHour]
) -> tuple[list[date], str]:
    """Months without a break up to the last one, of which the ledger has the first day, and all settled."""
    if not hours:
        return [], "the ledger has no GPU-hour in the last three months that are over"
    begins = hours[0].hour
    provisional = {hour.hour for hour in hours if hour.is_provisional}
    months: list[date] = []
    refusal = f"the ledger begins on {begins:%Y-%m-%d}: no month since is over"
    for month, span in reversed(list(spans.items())):
        if span.starts_at + BEGUN <= begins:
            break
        if not any(span.holds(hour) for hour in provisional):
            months.insert(0, month)
        elif months:
            break
        else:
            refusal = f"{month:%B %Y} is not settled whole"
    return months, "" if months else refusal


def _source_of(hour: BoughtHour, bought_as: Mapping[int, str]) -> str:
    if hour.is_unused:
        return UNUSED
    option = bought_as.get(hour.pool_id or 0, "")
    if hour.is_committed or option == PurchaseOption.RESERVED:
        return COMMITTED
    return option
