"""The tables that the cube reads, and under which name each dimension stands in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import LiteralString

from apps.ledger.queries.windows import Window

LONGEST_BY_DAY = 100
THIRTEEN_MONTHS = 13 * 31
LONGEST_OF_ONE = 35
TAG = "tag"
FINE = frozenset({"day", "week"})
"""Dimensions that a month cannot tell."""


@dataclass(frozen=True, slots=True)
class Source:
    """A table of sums (`day` in SQL), and what it can be asked.

    `columns` gives each dimension's SQL. `longest` is in days, None for any; by `day` and `week`
    it is `longest_by_day`. `of_months` answers whole months alone. `of` is the dimension that it
    is for: it is many times as long as others and answers only where that is asked. One that is a
    part holds only lines that have this dimension: the rest is what others have beyond it.
    """

    table: LiteralString
    columns: Mapping[str, LiteralString]
    longest: int | None = LONGEST_BY_DAY
    longest_by_day: int | None = LONGEST_BY_DAY
    of_months: bool = False
    needs_filter: bool = False
    of: str = ""
    is_part: bool = False
    joins: Mapping[str, LiteralString] = field(default_factory=dict)

    def has(self, dimensions: frozenset[str]) -> bool:
        """Whether it tells all of these apart, and is for them."""
        return dimensions <= self.columns.keys() and (not self.of or self.of in dimensions)

    def covers(self, window: Window, dimensions: frozenset[str]) -> bool:
        """Whether it answers about a window of this length and place."""
        if self.of_months:
            return window.is_whole_months
        days = (window.end_day - window.first_day).days
        most = self.longest_by_day if dimensions & FINE else self.longest
        return most is None or days <= most


TIMES: dict[str, LiteralString] = {
    "day": "day.day",
    "week": "day.day - mod(7 + extract(isodow FROM day.day)::int - %(week_starts_on)s, 7)",
    "month": "date_trunc('month', day.day)::date",
    "posting_month": "day.posting_month",
}
"""When it was, and in whose books it is: what was corrected later counts on the day that it is of."""
OF_TEAMS: dict[str, LiteralString] = {
    "team": "day.team_id",
    "cost_centre": "nullif(team.cost_centre, '')",
    "state": "day.state",
}
OF_POOLS: dict[str, LiteralString] = {
    "pool": "day.pool_id",
    "cluster": "pool.cluster_id",
    "provider": "nullif(pool.provider, '')",
    "region": "nullif(pool.region, '')",
}
KIND: dict[str, LiteralString] = {"kind": "day.kind"}
STATUS: dict[str, LiteralString] = {
    "status": "day.status",
    "flags": "day.flags",
    "unit": "nullif(day.unit, '')",
}
"""Of these only status is asked for by people: flags and units are for pages that say them aloud."""
KEPT_OF_POOLS: dict[str, LiteralString] = {
    "gpu_model": "nullif(day.gpu_model, '')",
    "purchase_option": "nullif(day.purchase_option, '')",
}
LOOKED_UP: dict[str, LiteralString] = {
    "gpu_model": "nullif(pool.gpu_model, '')",
    "purchase_option": "nullif(pool.purchase_option, '')",
}
WORKLOAD: dict[str, LiteralString] = {"workload": "day.workload_id"}
TAGS: dict[str, LiteralString] = {TAG: "day.tags"}
OF_A_JOB: dict[str, LiteralString] = {"is_of_job": "day.is_of_job"}
MONTH: dict[str, LiteralString] = {"month": "day.month", "posting_month": "day.posting_month"}
CELLS: dict[str, LiteralString] = {
    **OF_TEAMS,
    **OF_POOLS,
    **KIND,
    **STATUS,
    **KEPT_OF_POOLS,
    **WORKLOAD,
}
TEXTS = frozenset({"gpu_model", "purchase_option"})
"""Dimensions of which REST tells what has none as an empty text."""
OF_PARTS: dict[str, LiteralString] = {**TIMES, **OF_TEAMS, **OF_POOLS, **LOOKED_UP, **WORKLOAD}
OF_ONE_JOB: dict[str, LiteralString] = {
    "job": "day.job_id",
    "user": 'job."user"',
    TAG: "job.labels",
}

TEAM_DAYS = Source(
    "ledger_ledgerteamday",
    {**TIMES, **OF_TEAMS, **KIND, **STATUS},
    longest=None,
    longest_by_day=None,
)
POOL_DAYS = Source(
    "ledger_ledgerpoolday",
    {**TIMES, **OF_TEAMS, **OF_POOLS, **KIND, **STATUS, **KEPT_OF_POOLS},
)
MONTHS = Source("ledger_ledgermonth", {**MONTH, **CELLS, **TAGS, **OF_A_JOB}, of_months=True)
DAYS = Source("ledger_ledgerday", {**TIMES, **CELLS, **TAGS, **OF_A_JOB})
USER_DAYS = Source(
    "ledger_ledgeruserday",
    {**TIMES, **CELLS, **OF_A_JOB, "user": "CASE WHEN day.is_of_job THEN day.user_name END"},
    longest=THIRTEEN_MONTHS,
    of="user",
)
NODE_DAYS = Source(
    "ledger_ledgernodeday",
    {**TIMES, **CELLS, "node": "day.node_id"},
    longest=LONGEST_OF_ONE,
    longest_by_day=LONGEST_OF_ONE,
    needs_filter=True,
    of="node",
)
OF_JOB: LiteralString = "JOIN workloads_job_fact AS job ON job.id = day.job_id"
JOB_DAYS = Source(
    "ledger_ledgerjobday",
    {**OF_PARTS, **OF_ONE_JOB},
    longest=LONGEST_OF_ONE,
    longest_by_day=LONGEST_OF_ONE,
    needs_filter=True,
    of="job",
    is_part=True,
    joins={"user": OF_JOB, TAG: OF_JOB},
)

METER_DAYS = Source(
    "ledger_meterday",
    {
        **{name: TIMES[name] for name in ("day", "week")},
        **{name: OF_TEAMS[name] for name in ("team", "cost_centre")},
        **OF_POOLS,
        **LOOKED_UP,
        **WORKLOAD,
        **OF_ONE_JOB,
    },
    joins={"user": OF_JOB, TAG: OF_JOB},
)
"""What meters told of held GPUs: no money, so none of SOURCES."""

HELD_DAYS = replace(JOB_DAYS, columns={**JOB_DAYS.columns, "held": "1::int8"}, of="held")
"""The same, for whether a job held it at all: `held` is 1, and null beyond them."""

NO_WORKLOAD = 0
"""Stands for the jobs whose workload no rule names: not for time that no job held."""

SOURCES: list[Source] = [
    *(TEAM_DAYS, MONTHS, POOL_DAYS, DAYS, USER_DAYS, NODE_DAYS, JOB_DAYS, HELD_DAYS)
]
"""The smallest first: a question is answered by the first that can."""


def add_source(source: Source) -> None:
    """Let the cube answer from another table; for apps above the ledger, by their registration."""
    SOURCES.append(source)


def name_of(dimension: str) -> str:
    """The name of a dimension in `Source.columns`: every tag is one."""
    return TAG if dimension.startswith(f"{TAG}.") else dimension
