"""What another share of a node's price on its GPUs would move, asked before it is set."""

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
    """What a team carries of the pool's node-hours, now and then, in micro-units."""

    team_id: int
    before_micros: int
    after_micros: int


@dataclass(frozen=True, slots=True)
class GpuShareMoves:
    """What would move in open months: about, for every piece is rounded by itself.

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
    """What the share would move from teams to the pool's owner, or back, in hours before `at`."""
    policies = policies_of_pool(pool_id)
    later = [each.starts_at for each in policies if each.starts_at and each.starts_at > starts_at]
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
        for each in sums:
            before[each.team_id] = before.get(each.team_id, Fraction(0)) + each.micros
        whole = sum(each.micros for each in sums)
        host = whole * (1 - share)
        moved += host - sum(each.micros for each in sums if each.is_host)
        after[owner_id] = after.get(owner_id, Fraction(0)) + host
        for team_id, part in _by_gpus(sums).items():
            after[team_id] = after.get(team_id, Fraction(0)) + part * whole * share
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
        teams=tuple(each for each in teams if each.before_micros or each.after_micros),
    )


def _by_gpus(sums: Sequence[_Sum]) -> dict[int, Fraction]:
    """Each team's part of what rides on GPUs: by what it carries of it now, else by its time."""
    of_gpus = [each for each in sums if not each.is_host]
    weights = [each.micros for each in of_gpus]
    if not any(weights):
        weights = [each.unit_ms for each in of_gpus]
    whole = sum(weights)
    return {
        each.team_id: Fraction(weight, whole)
        for each, weight in zip(of_gpus, weights, strict=True)
        if whole
    }


def _open_months(pool_id: int, starts_at: datetime, until: datetime) -> dict[date, int]:
    """Months that are not closed, with how many hours of the pool in them would change."""
    found = rows(MONTHS, {"pool": pool_id, "from": starts_at, "to": until})
    closed = closed_months()
    return {month: hours for month, hours in found if month not in closed}


def _policy_spans(pool_id: int, starts_at: datetime, until: datetime) -> list[HourSpan]:
    """The span cut where the share that holds now changes."""
    cuts = {starts_at, until}
    for each in policies_of_pool(pool_id):
        ends = (each.starts_at, each.ends_at)
        cuts |= {moment for moment in ends if moment and starts_at < moment < until}
    moments = sorted(cuts)
    return [HourSpan(*pair) for pair in pairwise(moments)]


def _team_sums(pool_id: int, span: HourSpan, months: list[date]) -> list[_Sum]:
    asked = {"from": span.starts_at, "to": span.ends_at, "pool": pool_id, "months": months}
    found = rows(
        LINES, asked | {"host": int(ChargePart.HOST), "shared_idle": int(Flag.SHARED_IDLE)}
    )
    return [_Sum(span, *row) for row in found]
