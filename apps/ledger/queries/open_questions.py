"""Usage and cost that the ledger cannot place: pools without a price, work that no job claims."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from apps.fleet import queries as fleet
from apps.ledger.queries.tables import rows
from apps.ledger.queries.windows import Window
from apps.telemetry import queries as telemetry


@dataclass(frozen=True, slots=True)
class UnpricedPool:
    """A pool with device time that no rate covers, and the first day of it in the window."""

    pool: fleet.PoolFact
    unit_milliseconds: int
    first_day: date


@dataclass(frozen=True, slots=True)
class UnclaimedWork:
    """Work that processes of one key did in a pool and no job explains; null where unpriced."""

    key: str
    pool_name: str
    gpu_milliseconds: int
    micros: int | None
    last_hour: datetime


def unpriced_pools(
    window: Window, pools: Mapping[int, fleet.PoolFact] | None = None
) -> list[UnpricedPool]:
    """Of the window's days, the largest first; `pools` where the caller has read them."""
    pool_rows = rows(
        """
        SELECT pool_id, sum(unit_milliseconds)::int8, min(day) FROM ledger_ledgerday
        WHERE day >= %(first_day)s AND day < %(end_day)s AND effective_micros IS NULL
          AND pool_id IS NOT NULL AND unit_milliseconds > 0
        GROUP BY 1 ORDER BY 2 DESC, 1
        """,
        {"first_day": window.first_day, "end_day": window.end_day},
    )
    pools_by_id = fleet.pools() if pool_rows and pools is None else pools or {}
    return [UnpricedPool(pools_by_id[pool_id], time, first) for pool_id, time, first in pool_rows]


def unclaimed_work(
    window: Window, pools: Mapping[int, fleet.PoolFact] | None = None
) -> list[UnclaimedWork]:
    """By key and pool in the window's hours, the largest first; `pools` as above."""
    work_rows = rows(
        """
        SELECT holder_key_id, pool_id, sum(unit_milliseconds)::int8, sum(effective_micros)::int8,
               max(hour)
        FROM ledger_line
        WHERE posting_month >= %(month)s AND hour >= %(from)s AND hour < %(to)s
          AND holder_key_id IS NOT NULL AND unit_milliseconds > 0
        GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2
        """,
        {
            "month": window.first_day.replace(day=1),
            "from": window.starts_at,
            "to": window.ends_at,
        },
    )
    if not work_rows:
        return []
    keys = telemetry.holder_keys([row[0] for row in work_rows])
    pools_by_id = fleet.pools() if pools is None else pools
    return [
        UnclaimedWork(keys.get(key_id, ""), pools_by_id[pool_id].name, *sums)
        for key_id, pool_id, *sums in work_rows
    ]
