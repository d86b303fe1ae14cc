"""Costs of owned hardware: by month, by GPU-hour, and what another plan would move."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction

from apps.accounts import queries as accounts
from apps.economics.hours import HOUR, HOUR_MS, hour_of
from apps.economics.owned import JOULES_PER_KWH
from apps.economics.owned_time import tariffs_of_hour
from apps.fleet import queries as fleet
from apps.ledger.models import ChargePart
from apps.ledger.queries.calendar import HourSpan, month_span, posting_month
from apps.ledger.queries.closes.months import closed_spans
from apps.ledger.queries.tables import rows
from apps.pricing.queries.owned import Owed, OwnedPlanFact, owed, owned_plans, written_off

MEASURED = "power: measured "
"""What the words of a piece say where every GPU's meter told all of its hour."""
MONTHS_SHOWN = 13
DAY = timedelta(days=1)
MICROS = 1_000_000


@dataclass(frozen=True, slots=True)
class PlanMonth:
    """A plan in a month as far as it is charged: micro-units, and its nodes' GPU milliseconds.

    `owed` is depreciation and monthly costs by the plan, `unused` what of them no node carries.
    """

    month: date
    owed: Owed
    loaded_micros: int
    marginal_micros: int
    unused_micros: int
    unit_ms: int

    @property
    def loaded_per_gpu_hour(self) -> Fraction | None:
        """Everything ÷ GPU-hours, in micro-units; None where no GPU was there."""
        return Fraction(self.loaded_micros * HOUR_MS, self.unit_ms) if self.unit_ms else None

    @property
    def marginal_per_gpu_hour(self) -> Fraction | None:
        """Return what one more GPU-hour adds: its power; None where no GPU was there."""
        return Fraction(self.marginal_micros * HOUR_MS, self.unit_ms) if self.unit_ms else None


@dataclass(frozen=True, slots=True)
class PlanStatus:
    """A plan as it stands: its pool, what is written off, this month, and whose power is metered.

    `measured_hours` of `node_hours` of the last day had every GPU's meter tell all of the hour.
    """

    plan: OwnedPlanFact
    pool: str
    written_off_micros: int
    left_micros: int
    this_month: PlanMonth
    measured_hours: int
    node_hours: int


@dataclass(frozen=True, slots=True)
class OwnedWhatIf:
    """The past hours of open months that a plan would charge anew, in micro-units.

    `before_micros` leaves out `unpriced_hours` node-hours without a price. Power is by the plates:
    nothing was measured for a price nobody had entered. `over` node-hours are beyond the plan.
    """

    hours: int
    closed_hours: int
    node_hours: float
    before_micros: int
    unpriced_hours: int
    owed_micros: int
    power_micros: int
    over: float

    @property
    def after_micros(self) -> int:
        """Return the cost that the hours would have, fully loaded."""
        return self.owed_micros + self.power_micros


@dataclass(frozen=True, slots=True)
class ChangedWhatIf:
    """The charged hours of open months that a change of a plan would reach, in micro-units."""

    hours: int
    closed_hours: int
    before_micros: int
    after_micros: int


def plan_standings(at: datetime) -> list[PlanStatus]:
    """Every plan, by name."""
    plans = owned_plans()
    if not plans:
        return []
    zone, pools = accounts.organisation().zone, fleet.pools()
    month = posting_month(at, zone)
    charged = _charged_months([plan.id for plan in plans], month_span(month, zone))
    used = _unit_ms([plan.pool_id for plan in plans], [month])
    measured = {
        plan_id: (hours, of)
        for plan_id, hours, of in rows(
            METERED, {"from": at - DAY, "to": at, "measured": f"%{MEASURED}%"}
        )
    }
    standings = []
    for plan in plans:
        off = written_off(plan, hour_of(at), zone)
        measured_hours, of = measured.get(plan.id, (0, 0))
        standings.append(
            PlanStatus(
                plan=plan,
                pool=pools[plan.pool_id].name,
                written_off_micros=off,
                left_micros=int(plan.purchase * MICROS) - off,
                this_month=_plan_month(plan, month, charged, used, at),
                measured_hours=measured_hours,
                node_hours=of,
            )
        )
    return standings


def plan_months(plan: OwnedPlanFact, at: datetime) -> list[PlanMonth]:
    """The plan's last thirteen months that have begun, the newest first."""
    zone = accounts.organisation().zone
    last = at if plan.ends_at is None else min(at, plan.ends_at - HOUR)
    if last < plan.starts_at:
        return []
    months: list[date] = []
    month, first = posting_month(last, zone), posting_month(plan.starts_at, zone)
    while month >= first and len(months) < MONTHS_SHOWN:
        months.append(month)
        month = (month - DAY).replace(day=1)
    span = HourSpan(month_span(months[-1], zone).starts_at, month_span(months[0], zone).ends_at)
    charged = _charged_months([plan.id], span)
    used = _unit_ms([plan.pool_id], months)
    return [_plan_month(plan, month, charged, used, at) for month in months]


def if_plan_entered(plan: OwnedPlanFact, at: datetime) -> OwnedWhatIf:
    """Return what entering this plan would move in hours before `at`; nothing is entered."""
    zone, since = accounts.organisation().zone, fleet.first_node_started_at()
    starts_at = plan.starts_at if since is None else max(plan.starts_at, hour_of(since))
    ends_at = hour_of(at) if plan.ends_at is None else min(plan.ends_at, hour_of(at))
    if since is None or ends_at <= starts_at:
        return OwnedWhatIf(0, 0, 0.0, 0, 0, 0, 0, 0.0)
    closed = closed_spans()
    every = [starts_at + k * HOUR for k in range((ends_at - starts_at) // HOUR)]
    hours = [hour for hour in every if not any(span.holds(hour) for span in closed)]
    ((before, unpriced),) = rows(BEFORE, {"pool": plan.pool_id, "hours": hours})
    params = {"pool": plan.pool_id, "hours": hours, "host": int(ChargePart.HOST)}
    ms_by_hour: dict[datetime, int] = dict(rows(LIVED, params))
    nodes_by_hour = {
        hour: min(Fraction(ms, HOUR_MS), Fraction(plan.nodes)) for hour, ms in ms_by_hour.items()
    }
    total_ms = sum(ms_by_hour.values())
    power = sum(
        _kwh_price(plan, hour, zone) * plan.watts * 3_600 * Fraction(plan.pue) * nodes
        for hour, nodes in nodes_by_hour.items()
    )
    return OwnedWhatIf(
        hours=len(hours),
        closed_hours=len(every) - len(hours),
        node_hours=total_ms / HOUR_MS,
        before_micros=before or 0,
        unpriced_hours=unpriced,
        owed_micros=sum(owed(plan, hour, hour + HOUR, zone).micros for hour in hours),
        power_micros=round(power / JOULES_PER_KWH),
        over=float(Fraction(total_ms, HOUR_MS) - sum(nodes_by_hour.values())),
    )


def if_plan_changed(
    before: OwnedPlanFact, after: OwnedPlanFact | None, since: datetime, at: datetime
) -> ChangedWhatIf:
    """Return what a plan's hours from `since` to `at` would come to as `after`; None: it ends then.

    What was drawn stays what it was, at the new tariff.
    """
    zone = accounts.organisation().zone
    params = {"plans": [before.id], "from": hour_of(since), "to": at}
    hour_rows = rows(BY_HOUR, params)
    closed = closed_spans()
    open_ = [row for row in hour_rows if not any(span.holds(row[0]) for span in closed)]
    total_micros = Fraction(0)
    if after is not None:
        for hour, _, marginal in open_:
            priced = _kwh_price(before, hour, zone)
            power = Fraction(marginal) * _kwh_price(after, hour, zone) / priced if priced else 0
            total_micros += owed(after, hour, hour + HOUR, zone).micros + power
    return ChangedWhatIf(
        hours=len(open_),
        closed_hours=len(hour_rows) - len(open_),
        before_micros=sum(effective for _, effective, _ in open_),
        after_micros=round(total_micros),
    )


def _plan_month(
    plan: OwnedPlanFact,
    month: date,
    charged: Mapping[tuple[int, date], tuple[int, int, int]],
    used: Mapping[tuple[int, date], int],
    at: datetime,
) -> PlanMonth:
    zone = accounts.organisation().zone
    span = month_span(month, zone)
    loaded, marginal, unused = charged.get((plan.id, month), (0, 0, 0))
    return PlanMonth(
        month=month,
        owed=owed(plan, span.starts_at, min(span.ends_at, hour_of(at)), zone),
        loaded_micros=loaded,
        marginal_micros=marginal,
        unused_micros=unused,
        unit_ms=used.get((plan.pool_id, month), 0),
    )


def _charged_months(
    plan_ids: Collection[int], span: HourSpan
) -> dict[tuple[int, date], tuple[int, int, int]]:
    charge_rows = rows(
        CHARGED, {"plans": list(plan_ids), "from": span.starts_at, "to": span.ends_at}
    )
    return {
        (plan_id, month): (loaded, marginal, unused)
        for plan_id, month, loaded, marginal, unused in charge_rows
    }


def _unit_ms(pool_ids: Collection[int], months: Collection[date]) -> dict[tuple[int, date], int]:
    usage_rows = rows(USED, {"pools": list(pool_ids), "months": list(months)})
    return {(pool_id, month): unit_ms for pool_id, month, unit_ms in usage_rows}


def _kwh_price(plan: OwnedPlanFact, hour: datetime, zone: str) -> Fraction:
    """The mean of the hour's tariffs by time, in micro-units per kilowatt-hour."""
    spans = tariffs_of_hour(plan.tariffs_at(hour), hour, zone)
    weighted_sum = sum(span.micros * (span.end_ms - span.start_ms) for span in spans)
    return Fraction(weighted_sum, HOUR_MS)


CHARGED = """
SELECT owned_plan_id, posting_month, coalesce(sum(effective_micros), 0)::int8,
       coalesce(sum(marginal_micros), 0)::int8,
       coalesce(sum(effective_micros) FILTER (WHERE kind = 'owned_unused'), 0)::int8
FROM ledger_charge
WHERE hour >= %(from)s AND hour < %(to)s AND owned_plan_id = ANY(%(plans)s)
GROUP BY owned_plan_id, posting_month
"""
BY_HOUR = """
SELECT hour, coalesce(sum(effective_micros), 0)::int8, coalesce(sum(marginal_micros), 0)::int8
FROM ledger_charge
WHERE hour >= %(from)s AND hour < %(to)s AND owned_plan_id = ANY(%(plans)s) AND corrects_id IS NULL
GROUP BY hour ORDER BY hour
"""
USED = """
SELECT pool_id, posting_month, sum(unit_milliseconds)::int8
FROM ledger_ledgerday
WHERE pool_id = ANY(%(pools)s) AND posting_month = ANY(%(months)s) AND kind = 'node_hour'
GROUP BY pool_id, posting_month
"""
METERED = """
SELECT charge.owned_plan_id, count(*) FILTER (WHERE piece.detail LIKE %(measured)s), count(*)
FROM ledger_charge AS charge JOIN ledger_chargepiece AS piece ON piece.charge_id = charge.id
WHERE charge.hour >= %(from)s AND charge.hour < %(to)s AND charge.kind = 'node_hour'
  AND charge.owned_plan_id IS NOT NULL
GROUP BY charge.owned_plan_id
"""
BEFORE = """
SELECT sum(effective_micros)::int8, count(*) FILTER (WHERE effective_micros IS NULL)
FROM ledger_charge
WHERE kind = 'node_hour' AND pool_id = %(pool)s AND hour = ANY(%(hours)s::timestamptz[])
  AND corrects_id IS NULL
"""
LIVED = """
SELECT charge.hour, sum(piece.end_ms - piece.start_ms)::int8
FROM ledger_charge AS charge JOIN ledger_chargepiece AS piece ON piece.charge_id = charge.id
WHERE charge.kind = 'node_hour' AND charge.pool_id = %(pool)s AND charge.corrects_id IS NULL
  AND charge.part <> %(host)s AND charge.hour = ANY(%(hours)s::timestamptz[])
GROUP BY charge.hour ORDER BY charge.hour
"""
