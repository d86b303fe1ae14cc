"""Shared costs that teams carry, and what a change of one would move in open months."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import blake2b

from django.core.cache import caches

from apps.accounts import queries as accounts
from apps.economics.hours import HOUR, first_hour
from apps.economics.split import largest_remainder
from apps.economics.states import State
from apps.ledger.queries.calendar import HourSpan, month_span, next_month, posting_month
from apps.ledger.queries.closed_months import closed_months
from apps.ledger.queries.tables import rows
from apps.pricing.queries.shared import Sharing

KEPT_SECONDS = 24 * 3600
BY_TIME, EXACT = "by_unit_time", frozenset({"weighted"})


@dataclass(frozen=True, slots=True)
class MonthShare:
    """The part of a monthly amount that falls in the past hours of an open or closed month."""

    month: date
    hours: int
    micros: int
    is_closed: bool


@dataclass(frozen=True, slots=True)
class ShareWhatIf:
    """A preview of sharing an amount: what would move, by month, and by team in open months.

    Micro-units of the cost's currency; below 0: carried less. `is_rough`: teams are told by the
    sums of their days, not hour by hour; `teams` is empty where nothing is known to divide by.
    """

    months: tuple[MonthShare, ...]
    teams: Mapping[int, int]
    is_rough: bool

    @property
    def open_micros(self) -> int:
        """The amount that moves at once; closed months get corrections, when somebody posts them."""
        return sum(month.micros for month in self.months if not month.is_closed)


def carried(months: Sequence[date]) -> dict[int | str, dict[date, dict[int, int]]]:
    """Effective micro-units by shared cost, month and team; corrections count where posted.

    What a rule shares of bills stands under what it is called.
    """
    micros_by_cost: dict[int | str, dict[date, dict[int, int]]] = {}
    zone = accounts.organisation().zone
    for month in months:
        for cost_id, called, team_id, micros in _carried_in(month, zone):
            key = called if cost_id is None else cost_id
            micros_by_cost.setdefault(key, {}).setdefault(month, {})[team_id] = micros
    return micros_by_cost


def if_shared(of: Sharing, at: datetime) -> ShareWhatIf:
    """Return what the past hours of this span would carry, were it entered."""
    months = tuple(_month_shares(of, at))
    total = sum(month.micros for month in months if not month.is_closed)
    by_team = _team_weights(of, [month.month for month in months if not month.is_closed])
    keys = sorted(by_team)
    parts = (
        largest_remainder(total, [by_team[key] for key in keys]) if any(by_team.values()) else ()
    )
    teams = {key: part for key, part in zip(keys, parts, strict=False) if part}
    return ShareWhatIf(months, teams, is_rough=of.method not in EXACT)


def if_ended(of: Sharing, cost_id: int, at: datetime) -> ShareWhatIf:
    """Return what would be carried no longer: `of` is the rest of the cost's span."""
    months = tuple(
        MonthShare(month_share.month, month_share.hours, -month_share.micros, month_share.is_closed)
        for month_share in _month_shares(of, at)
    )
    return ShareWhatIf(months, _less_carried(cost_id, of.starts_at), is_rough=False)


def if_weighed(of: Sharing, cost_id: int, at: datetime) -> ShareWhatIf:
    """Return what would go from team to team, were the rest of the cost's span shared by these weights."""
    after, teams = if_shared(of, at), _less_carried(cost_id, of.starts_at)
    for team_id, micros in after.teams.items():
        teams[team_id] = teams.get(team_id, 0) + micros
    still = tuple(
        MonthShare(month.month, month.hours, 0, month.is_closed) for month in after.months
    )
    return ShareWhatIf(still, {key: part for key, part in teams.items() if part}, is_rough=False)


def _month_shares(of: Sharing, at: datetime) -> Iterator[MonthShare]:
    """Month by month what is owed for the hours that are past."""
    zone, closed = accounts.organisation().zone, closed_months()
    until = at if of.ends_at is None else min(at, of.ends_at)
    monthly = int(of.amount * 1_000_000)
    month = posting_month(of.starts_at, zone)
    while first_hour(month, zone) < until:
        span = month_span(month, zone)
        hours = _hours_within(span, of.starts_at, until)
        if hours:
            yield MonthShare(month, hours, monthly * hours // span.hours, month in closed)
        month = next_month(month)


def _hours_within(span: HourSpan, starts_at: datetime, until: datetime) -> int:
    seconds = (min(span.ends_at, until) - max(span.starts_at, starts_at)).total_seconds()
    return max(0, round(seconds / HOUR.total_seconds()))


def _team_weights(of: Sharing, months: Sequence[date]) -> dict[int, int]:
    """Return the weights of teams by these months' sums; by time where the method has none."""
    if of.method == "weighted":
        return {team_id: int(weight * 1_000_000) for team_id, weight in of.weights.items()}
    team_rows = rows(
        BY_TEAM,
        {"months": list(months), "active": int(State.ACTIVE), "unseen": int(State.UNOBSERVED)},
    )
    sums = {
        "by_cost": {team_id: max(0, cost) for team_id, cost, _, _ in team_rows},
        "by_active_time": {team_id: active for team_id, _, _, active in team_rows},
        BY_TIME: {team_id: time for team_id, _, time, _ in team_rows},
    }
    by = sums.get(of.method, sums[BY_TIME])
    return by if any(by.values()) else sums[BY_TIME]


def _less_carried(cost_id: int, since: datetime) -> dict[int, int]:
    """By team, what open months' lines of the cost carry from then on, as less."""
    closed = closed_months()
    cost_rows = rows(SINCE, {"cost": cost_id, "since": since})
    teams: dict[int, int] = {}
    for month, team_id, micros in cost_rows:
        if month not in closed:
            teams[team_id] = teams.get(team_id, 0) - micros
    return teams


def _carried_in(month: date, zone: str) -> Sequence[tuple[int | None, str, int, int]]:
    """By cost and team. A fleet's month has millions of such lines: they are summed anew only
    where the sums by cost, or by team, are other than before.
    """
    span = month_span(month, zone)
    days = rows(OF_TEAMS, {"month": month})
    costs = rows(OF_COSTS, {"from": span.starts_at, "to": span.ends_at})
    if not days:
        return ()
    digest = blake2b(repr((month, days, costs)).encode(), digest_size=16).hexdigest()
    cached_rows = caches["process"].get(f"shared-carried-{digest}")
    if cached_rows is None:
        cached_rows = tuple(rows(CARRIED, {"month": month}))
        caches["process"].set(f"shared-carried-{digest}", cached_rows, KEPT_SECONDS)
    cost_rows: Sequence[tuple[int | None, str, int, int]] = cached_rows
    return cost_rows


OF_COSTS = """
SELECT shared_cost_id, count(*), sum(effective_micros)::int8, sum(billed_charge_id)::int8
FROM ledger_charge
WHERE kind = 'shared' AND corrects_id IS NULL AND hour >= %(from)s AND hour < %(to)s
GROUP BY 1 ORDER BY 1
"""
OF_TEAMS = """
SELECT team_id, sum(effective_micros)::int8, count(*) FROM ledger_ledgerteamday
WHERE posting_month = %(month)s AND kind = 'shared' GROUP BY team_id ORDER BY team_id
"""
CARRIED = """
SELECT charge.shared_cost_id, coalesce(billed.label, ''), line.team_id,
       sum(line.effective_micros)::int8
FROM ledger_charge AS charge JOIN ledger_line AS line ON line.charge_id = charge.id
LEFT JOIN ledger_billedcharge AS billed ON billed.id = charge.billed_charge_id
WHERE charge.kind = 'shared' AND charge.posting_month = %(month)s
  AND line.posting_month = %(month)s AND line.effective_micros IS NOT NULL
  AND num_nonnulls(charge.shared_cost_id, charge.billed_charge_id) = 1
GROUP BY 1, 2, 3 ORDER BY 1, 2, 4 DESC, 3
"""
SINCE = """
SELECT line.posting_month, line.team_id, sum(line.effective_micros)::int8
FROM ledger_charge AS charge JOIN ledger_line AS line ON line.charge_id = charge.id
WHERE charge.kind = 'shared' AND charge.shared_cost_id = %(cost)s AND charge.hour >= %(since)s
  AND charge.corrects_id IS NULL AND line.posting_month = charge.posting_month
  AND line.effective_micros IS NOT NULL
GROUP BY 1, 2 ORDER BY 1, 2
"""
BY_TEAM = """
SELECT team_id, coalesce(sum(effective_micros) FILTER (WHERE kind = 'node_hour'), 0)::int8,
       coalesce(sum(unit_milliseconds) FILTER (WHERE unit <> 'core'), 0)::int8,
       coalesce(sum(unit_milliseconds) FILTER (
           WHERE unit <> 'core' AND state IN (%(active)s, %(unseen)s)), 0)::int8
FROM ledger_ledgerteamday WHERE date_trunc('month', day)::date = ANY(%(months)s)
GROUP BY team_id ORDER BY team_id
"""
