"""Calls to model APIs as the ledger reads them: those to be priced, and what an hour of them sums to."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, LiteralString, NamedTuple

from apps.economics.calls import Counted
from apps.economics.hours import HOUR
from apps.ledger.queries.tables import columns_as, named_rows, rows

AT_ONCE = 50_000


class CallKey(NamedTuple):
    """The key of a row of an hour of calls."""

    vendor: str
    model: str
    tier: str
    team_id: int
    workload_id: int | None
    feature: str


class CallSums(NamedTuple):
    """How many calls, what became of them, their tokens, and their unrounded amounts in a currency.

    `stated` is what tellers say that calls cost, in US dollars, and `against` our amount of the same.
    """

    requests: int
    rate_limited: int
    server_errors: int
    other_errors: int
    unpriced: int
    input_tokens: int
    cached_tokens: int
    cache_write_tokens: int
    output_tokens: int
    reasoning_tokens: int
    currency: str
    amount: Decimal | None
    list_amount: Decimal | None
    without_list: int
    reason: str
    stated: Decimal | None
    against: Decimal | None

    @property
    def counts(self) -> tuple[int, ...]:
        """Its first ten: calls by what became of them, then tokens."""
        return self[:10]


@dataclass(frozen=True, slots=True)
class CalledItem:
    """The cost to an owner of a model's calls of an hour; None where none of them has a price."""

    id: int
    team_id: int
    workload_id: int | None
    requests: int
    unpriced: int
    micros: int | None
    list_micros: int | None
    reason: str


def calls_without_price(hour: datetime) -> Iterator[list[tuple[int, Counted]]]:
    """The hour's calls that were never priced, some thousands at a time, by id."""
    after = 0
    while True:
        calls = named_rows(
            CALLS, {"from": hour, "to": hour + HOUR, "after": after, "limit": AT_ONCE}
        )
        if not calls:
            return
        after = calls[-1].id
        yield [(row.id, _counted_call(row)) for row in calls]


def sums_of_calls(hour: datetime) -> list[tuple[CallKey, CallSums]]:
    """The hour's calls by what they are of and the currency of their price."""
    sum_rows = named_rows(SUMS, {"from": hour, "to": hour + HOUR})
    key_of, sums_of = columns_as(CallKey), columns_as(CallSums)
    return [(key_of(row), sums_of(row)) for row in sum_rows]


def items_of_hour(hour: datetime, but_of: Collection[str]) -> list[CalledItem]:
    """Return the models that were called and for whom, but those of some vendors."""
    item_rows = rows(ITEMS, {"hour": hour, "but": list(but_of)})
    return [CalledItem(*row) for row in item_rows]


def hours_of_calls(
    starts_at: datetime | None, ends_at: datetime | None, vendor: str | None = None
) -> list[datetime]:
    """The hours of a span (None: without end) in which models were called."""
    params = {"from": starts_at, "to": ends_at, "vendor": vendor}
    return [hour for (hour,) in rows(HOURS, params)]


def vendors_with_calls() -> frozenset[str]:
    """Vendors of whose calls any was priced, or could not be."""
    return frozenset(vendor for (vendor,) in rows(VENDORS_CALLED, {}))


def _counted_call(row: Any) -> Counted:
    return Counted(
        vendor=row.vendor,
        model=row.model,
        tier=row.tier,
        outcome=row.outcome,
        at=row.at,
        input_tokens=row.input_tokens,
        cached_tokens=row.cached_tokens,
        cache_write_tokens=row.cache_write_tokens,
        output_tokens=row.output_tokens,
        reasoning_tokens=row.reasoning_tokens,
        detail={} if row.detail is None else dict(json.loads(row.detail)),
    )


VENDORS_CALLED: LiteralString = "SELECT DISTINCT vendor FROM ledger_apiitem"
CALLS: LiteralString = """
SELECT call.id, call.vendor, call.model, call.tier, call.outcome, call.at, call.input_tokens,
       call.cached_tokens, call.cache_write_tokens, call.output_tokens, call.reasoning_tokens,
       nullif(call.detail::text, '{}') AS detail
FROM workloads_usageevent_fact AS call
WHERE call.at >= %(from)s AND call.at < %(to)s AND call.id > %(after)s AND call.is_counted
  AND NOT EXISTS (SELECT 1 FROM ledger_apicost AS cost WHERE cost.event_id = call.id)
ORDER BY call.id
LIMIT %(limit)s
"""
SUMS: LiteralString = """
SELECT call.vendor, call.model, call.tier, call.team_id, call.workload_id, call.feature,
       count(*) AS requests,
       count(*) FILTER (WHERE call.outcome = 'rate_limited') AS rate_limited,
       count(*) FILTER (WHERE call.outcome = 'server_error') AS server_errors,
       count(*) FILTER (WHERE call.outcome IN ('refused', 'cancelled')) AS other_errors,
       count(*) FILTER (WHERE cost.amount IS NULL) AS unpriced,
       coalesce(sum(call.input_tokens), 0)::int8 AS input_tokens,
       coalesce(sum(call.cached_tokens), 0)::int8 AS cached_tokens,
       coalesce(sum(call.cache_write_tokens), 0)::int8 AS cache_write_tokens,
       coalesce(sum(call.output_tokens), 0)::int8 AS output_tokens,
       coalesce(sum(call.reasoning_tokens), 0)::int8 AS reasoning_tokens,
       cost.currency, sum(cost.amount) AS amount, sum(cost.list_amount) AS list_amount,
       count(*) FILTER (WHERE cost.amount IS NOT NULL AND cost.list_amount IS NULL)
           AS without_list,
       coalesce(max(cost.reason), '') AS reason,
       sum(said.stated) FILTER (WHERE cost.amount IS NOT NULL) AS stated,
       sum(cost.amount) FILTER (WHERE said.stated IS NOT NULL) AS against
FROM workloads_usageevent_fact AS call JOIN ledger_apicost AS cost ON cost.event_id = call.id
-- A gateway that knows no price says 0: of what cost something that is unknown.
CROSS JOIN LATERAL (
    SELECT CASE WHEN call.stated_cost > 0 THEN call.stated_cost
                WHEN call.response_id <> '' THEN (
                    SELECT max(other.stated_cost) FROM workloads_usageevent_fact AS other
                    WHERE other.response_id = call.response_id AND other.response_id <> ''
                      AND other.stated_cost > 0)
           END AS stated
) AS said
WHERE call.at >= %(from)s AND call.at < %(to)s AND call.is_counted
GROUP BY call.vendor, call.model, call.tier, call.team_id, call.workload_id, call.feature,
         cost.currency
ORDER BY 1, 2, 3, 4, 5, 6, cost.currency
"""
ITEMS: LiteralString = """
SELECT item.id, item.team_id, item.workload_id, sum(called.requests)::int8,
       sum(called.unpriced_requests)::int8, sum(called.micros)::int8,
       CASE WHEN bool_and(called.list_micros IS NOT NULL OR called.micros IS NULL)
            THEN sum(called.list_micros)::int8 END,
       max(called.reason)
FROM ledger_apihour AS called
JOIN ledger_apiitem AS item
  ON item.vendor = called.vendor AND item.model = called.model AND item.team_id = called.team_id
 AND item.workload_id IS NOT DISTINCT FROM called.workload_id
WHERE called.hour = %(hour)s AND called.vendor <> ALL(%(but)s)
GROUP BY item.id, item.team_id, item.workload_id
HAVING sum(called.micros) <> 0 OR sum(called.unpriced_requests) > 0
ORDER BY item.id
"""
HOURS: LiteralString = """
SELECT DISTINCT hour FROM ledger_apihour
WHERE (%(from)s::timestamptz IS NULL OR hour + interval '1 hour' > %(from)s)
  AND (%(to)s::timestamptz IS NULL OR hour < %(to)s)
  AND (%(vendor)s::text IS NULL OR vendor = %(vendor)s)
ORDER BY hour
"""
