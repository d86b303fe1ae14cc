"""The contents of a month: sums as statements tell them, and a digest of every line."""

import hashlib
from collections.abc import Iterator
from datetime import date, datetime, timedelta

from apps.ledger.queries.calendar import month_span
from apps.ledger.queries.tables import Row, rows

DAY = timedelta(days=1)
# Every amount and owner of every line, in an order of their own: ids do not matter. Sorted by the
# text itself, in bytes, so that any server agrees.
LINES_OF_DAY = """
SELECT count(*), coalesce(string_agg(said, E'\\n' ORDER BY said COLLATE "C"), '')
FROM (
    SELECT concat_ws('|', charge.kind, coalesce(charge.node_id, 0), charge.part, charge.status,
               extract(epoch FROM line.hour)::int8, line.team_id, coalesce(line.workload_id, 0),
               coalesce(line.pool_id, 0), coalesce(line.job_id, 0),
               coalesce(line.holder_key_id, 0), coalesce(line.state, 0), line.flags,
               line.unit_milliseconds, coalesce(line.list_micros::text, '-'),
               coalesce(line.contracted_micros::text, '-'),
               coalesce(line.effective_micros::text, '-'),
               coalesce(line.billed_micros::text, '-')) AS said
    FROM ledger_line AS line JOIN ledger_charge AS charge ON charge.id = line.charge_id
    WHERE line.posting_month = %(month)s AND line.hour >= %(from)s AND line.hour < %(to)s
) AS told
"""
BOUNDS = """
SELECT min(hour), max(hour) FROM ledger_line WHERE posting_month = %(month)s
"""
STATEMENT = """
SELECT line.team_id, line.workload_id, line.pool_id, charge.kind, charge.status, line.state,
       line.flags, original.posting_month, coalesce(pool.unit, ''),
       sum(line.unit_milliseconds)::int8,
       coalesce(sum(line.unit_milliseconds) FILTER (WHERE line.effective_micros IS NULL), 0)::int8,
       sum(line.list_micros)::int8, sum(line.contracted_micros)::int8,
       sum(line.effective_micros)::int8, sum(line.billed_micros)::int8
FROM ledger_line AS line
JOIN ledger_charge AS charge ON charge.id = line.charge_id
LEFT JOIN ledger_charge AS original ON original.id = charge.corrects_id
LEFT JOIN fleet_pool_fact AS pool ON pool.id = line.pool_id
WHERE line.posting_month = %(month)s
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, line.effective_micros IS NULL
ORDER BY 1, 2 NULLS FIRST, 3 NULLS FIRST, 4, 5, 6 NULLS FIRST, 7, 8 NULLS FIRST
"""


def digest_of_month(month: date, zone: str) -> tuple[str, int]:
    """A SHA-256 of all lines posted in `month`, and how many they are; equal lines, equal digest."""
    digest, lines = hashlib.sha256(), 0
    for starts_at, ends_at in _days_posted(month, zone):
        params = {"month": month, "from": starts_at, "to": ends_at}
        ((count, content),) = rows(LINES_OF_DAY, params)
        if count:
            digest.update(f"{starts_at:%Y-%m-%dT%H}\n{content}\n".encode())
            lines += count
    return digest.hexdigest(), lines


def statement_rows(month: date) -> list[Row]:
    """The sums of a month by team, workload, pool, kind, status, state, flags and corrected month."""
    return rows(STATEMENT, {"month": month})


def _days_posted(month: date, zone: str) -> Iterator[tuple[datetime, datetime]]:
    """Spans of a day that hold every line posted in the month: rows of bills begin where they do."""
    span = month_span(month, zone)
    ((first, last),) = rows(BOUNDS, {"month": month})
    starts_at = min(span.starts_at, first or span.starts_at)
    ends_at = max(span.ends_at, (last or span.starts_at) + timedelta(hours=1))
    while starts_at < ends_at:
        yield starts_at, starts_at + DAY
        starts_at += DAY
