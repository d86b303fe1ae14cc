"""Preview of another share of a node's price on its GPUs: what it would move, asked before it is set."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import LiteralString

from apps.accounts import queries as accounts
from apps.economics.states import Flag
from apps.fleet import queries as fleet
from apps.ledger.models import ChargePart
from apps.ledger.queries.calendar import HourSpan
from apps.ledger.queries.closed_months import closed_months
from apps.ledger.queries.tables import rows
from apps.pricing.queries.price_policies import policies_of_pool


@dataclass(frozen=True, slots=True)
class TeamMove:
    """The cost of the pool's node-hours that a team carries, now and then, in micro-units."""

    team_id: int
    before_micros: int
    after_micros: int


@dataclass(frozen=True, slots=True)
class GpuShareMoves:
    """Costs that would move in open months: about, for every piece is rounded by itself.

    `ends_at` is where a later policy takes over, else None. `to_owner_micros` is what the pool's
    owner carries more, as the host's part, than now. Hours that closed months keep are not in.
    """

    hours: int
    starts_at: datetime
    ends_at: datetime | None
    owner_id: int
    to_owner_micros: int
    teams: tuple[TeamMove, ...]


@dataclass(frozen=True, slots=True)
class _Sum:
    """The lines of a team in the hours of one policy: the host's part, or what rides on GPUs."""

    hours: HourSpan
    team_id: int
    is_host: bool
    micros: int
    unit_ms: int


LINES: LiteralString = """
SELECT line.team_id, charge.part = %(host)s, coalesce(sum(line.effective_micros), 0)::int8,
       sum(line.unit_milliseconds)::int8
FROM ledger_line AS line JOIN ledger_charge AS charge ON charge.id = line.charge_id
WHERE line.posting_month = ANY(%(months)s) AND line.hour >= %(from)s AND line.hour < %(to)s
  AND line.pool_id = %(pool)s AND charge.kind = 'node_hour' AND charge.corrects_id IS NULL
  AND charge.effective_micros IS NOT NULL AND line.flags & %(shared_idle)s = 0
GROUP BY 1, 2 ORDER BY 1, 2
"""
MONTHS: LiteralString = """
SELECT posting_month, count(DISTINCT hour) FROM ledger_charge
WHERE pool_id = %(pool)s AND kind = 'node_hour' AND corrects_id IS NULL
  AND hour >= %(from)s AND hour < %(to)s
GROUP BY posting_month
"""


def gpu_share_preview(
    *, pool_id: int, gpu_share: Decimal, starts_at: datetime, at: datetime
) -> GpuShareMoves:
    """Return what the share would move from teams to the pool's owner, or back, in hours before `at`."""
    policies = policies_of_pool(pool_id)
    later = [
        policy.starts_at for policy in policies if policy.starts_at and policy.starts_at > starts_at
    ]
    ends_at = min(later, default=None)
    until = at if ends_at is None else min(at, ends_at)
    months = _open_months(pool_id, starts_at, until)
    share = Fraction(gpu_share)
    owner_id = fleet.pools()[pool_id].owner_team_id or accounts.special_teams().platform_id
    before: dict[int, Fraction] = {}
    after: dict[int, Fraction] = {}
    moved = Fraction(0)
    for span in _policy_spans(pool_id, starts_at, until):
        sums = _team_sums(pool_id, span, list(months))
        for team_sum in sums:
            before[team_sum.team_id] = before.get(team_sum.team_id, Fraction(0)) + team_sum.micros
        total_micros = sum(line_sum.micros for line_sum in sums)
        host = total_micros * (1 - share)
        moved += host - sum(line_sum.micros for line_sum in sums if line_sum.is_host)
        after[owner_id] = after.get(owner_id, Fraction(0)) + host
        for team_id, part in _by_gpus(sums).items():
            after[team_id] = after.get(team_id, Fraction(0)) + part * total_micros * share
    teams = [
        TeamMove(team_id, round(before.get(team_id, 0)), round(after.get(team_id, 0)))
        for team_id in sorted({*before, *after})
    ]
    return GpuShareMoves(
        hours=sum(months.values()),
        starts_at=starts_at,
        ends_at=ends_at,
        owner_id=owner_id,
        to_owner_micros=round(moved),
        teams=tuple(team for team in teams if team.before_micros or team.after_micros),
    )


def _by_gpus(sums: Sequence[_Sum]) -> dict[int, Fraction]:
    """Each team's part of what rides on GPUs: by what it carries of it now, else by its time."""
    of_gpus = [line_sum for line_sum in sums if not line_sum.is_host]
    weights = [of_gpu.micros for of_gpu in of_gpus]
    if not any(weights):
        weights = [of_gpu.unit_ms for of_gpu in of_gpus]
    total_weight = sum(weights)
    return {
        of_gpu.team_id: Fraction(weight, total_weight)
        for of_gpu, weight in zip(of_gpus, weights, strict=True)
        if total_weight
    }


def _open_months(pool_id: int, starts_at: datetime, until: datetime) -> dict[date, int]:
    """Months that are not closed, with how many hours of the pool in them would change."""
    month_rows = rows(MONTHS, {"pool": pool_id, "from": starts_at, "to": until})
    closed = closed_months()
    return {month: hours for month, hours in month_rows if month not in closed}


def _policy_spans(pool_id: int, starts_at: datetime, until: datetime) -> list[HourSpan]:
    """The span cut where the share that holds now changes."""
    cuts = {starts_at, until}
    for policy in policies_of_pool(pool_id):
        ends = (policy.starts_at, policy.ends_at)
        cuts |= {moment for moment in ends if moment and starts_at < moment < until}
    moments = sorted(cuts)
    return [HourSpan(*pair) for pair in pairwise(moments)]


def _team_sums(pool_id: int, span: HourSpan, months: list[date]) -> list[_Sum]:
    params = {"from": span.starts_at, "to": span.ends_at, "pool": pool_id, "months": months}
    sum_rows = rows(
        LINES, params | {"host": int(ChargePart.HOST), "shared_idle": int(Flag.SHARED_IDLE)}
    )
    return [_Sum(span, *row) for row in sum_rows]
