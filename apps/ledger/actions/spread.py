"""The spread pass: an hour's shared charges over its lines, and idle cost over holders."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime

from apps.accounts import queries as accounts
from apps.economics.bases import BilledCosts
from apps.economics.hours import HOUR, first_hour
from apps.economics.spread import shared_idle
from apps.economics.states import Flag
from apps.fleet import queries as fleet
from apps.ledger.actions.charge.values import NOT_STATED
from apps.ledger.actions.marked import Done, redo_marked
from apps.ledger.actions.outcome import Outcome
from apps.ledger.actions.partitions import ensure_month
from apps.ledger.actions.sharing import HourSharing
from apps.ledger.queries.calendar import local_day, posting_month
from apps.ledger.queries.spreading import (
    SPREAD,
    CostOwnerTotals,
    SpreadLine,
    bearers_of_hour,
    idle_of_hour,
    shared_charges_of_hour,
    spread_lines_of_hour,
)
from apps.ledger.queries.tables import copy_in, run
from apps.logs.changes import field_of, logged_pass
from apps.marks.actions import Mark, hour_key
from apps.marks.queries import Pass

SAY = "UPDATE ledger_charge SET spread_method = %(said)s WHERE id = %(id)s"


@logged_pass("spread", count=field_of("changed"))
def spread_hour(*, hour: datetime) -> Outcome:
    """Write the *shared* and *shared_idle* lines of `hour`, where they are not as they should be.

    They carry no device time, and *shared_idle* sums to 0 in each charge.
    """
    zone = accounts.organisation().zone
    month = posting_month(hour, zone)
    ensure_month(month=month)
    return redo_marked(
        Pass.SPREAD,
        hour,
        month=month,
        key=hour_key(hour),
        work=lambda _: _spread_all(hour, month, zone),
        # It replaces the lines that this pass reads.
        also=(Pass.SPLIT,),
    )


def _spread_all(hour: datetime, month: date, zone: str) -> Done:
    before = spread_lines_of_hour(hour)
    bearers = bearers_of_hour(hour)
    wanted = {*_shared_lines(hour, bearers), *_idle_lines(hour, bearers)}
    if wanted != before:
        _replace_lines(hour, month, wanted)
    day = first_hour(local_day(hour, zone), zone)
    pools = {line.pool_id or 0 for line in before | wanted}
    outcome = Outcome(changed=len(wanted ^ before), lines=len(wanted))
    return outcome, [Mark(Pass.ROLLUP, pool_id, day) for pool_id in pools]


def _shared_lines(hour: datetime, bearers: Sequence[CostOwnerTotals]) -> Iterable[SpreadLine]:
    """The lines of shared charges; each charge says by what it was really spread."""
    sharing = HourSharing(hour, bearers)
    for charge in shared_charges_of_hour(hour, hour + HOUR):
        shares, explanation = sharing.shares(charge)
        if charge.reason == NOT_STATED:
            explanation = f"{explanation}; {NOT_STATED}"
        if explanation != charge.spread_method:
            run(SAY, {"id": charge.id, "said": explanation})
        for bearer, costs in shares:
            yield _spread_line(charge.id, bearer, Flag.SHARED, costs)


def _idle_lines(hour: datetime, bearers: Sequence[CostOwnerTotals]) -> Iterable[SpreadLine]:
    sharing = [pool.id for pool in fleet.pools().values() if pool.idle_sharing != "keep"]
    for pool_id, idle in (idle_of_hour(hour, sharing) if sharing else {}).items():
        owner = CostOwnerTotals(pool_id, idle.team_id, None, None, None)
        held_times = {
            place: bearer.held_ms
            for place, bearer in enumerate(bearers)
            if bearer.pool_id == pool_id and bearer.held_ms
        }
        for charge, place, amounts in shared_idle(idle.costs, held_times):
            bearer = owner if place is None else bearers[place]
            yield _spread_line(charge, bearer, Flag.SHARED_IDLE, BilledCosts(*amounts, None))


def _spread_line(
    charge_id: int, bearer: CostOwnerTotals, flag: Flag, costs: BilledCosts
) -> SpreadLine:
    return SpreadLine(
        charge_id=charge_id,
        pool_id=bearer.pool_id,
        team_id=bearer.team_id,
        workload_id=bearer.workload_id,
        job_id=bearer.job_id,
        holder_key_id=bearer.holder_key_id,
        flags=int(flag),
        costs=costs,
    )


def _replace_lines(hour: datetime, month: date, wanted: Iterable[SpreadLine]) -> None:
    run(
        "DELETE FROM ledger_line AS line USING ledger_charge AS charge"
        " WHERE line.posting_month = %(month)s AND line.hour = %(hour)s"
        " AND line.settlement_id IS NULL AND line.flags & %(spread)s <> 0"
        " AND charge.id = line.charge_id AND charge.corrects_id IS NULL",
        {"month": month, "hour": hour, "spread": SPREAD},
    )
    copy_in(
        "COPY ledger_line (charge_id, hour, posting_month, pool_id, team_id, workload_id, job_id,"
        " holder_key_id, flags, evidence, unit_milliseconds, list_micros, contracted_micros,"
        " effective_micros, billed_micros) FROM STDIN",
        [
            (
                line.charge_id,
                hour,
                month,
                line.pool_id,
                line.team_id,
                line.workload_id,
                line.job_id,
                line.holder_key_id,
                line.flags,
                0,
                0,
                *line.costs,
            )
            for line in wanted
        ],
    )
    # What was billed stays with whom the split gave it: lines of shared-out idle move none of it.
    run(
        "UPDATE ledger_line AS line SET billed_micros = 0 FROM ledger_charge AS charge"
        " WHERE line.posting_month = %(month)s AND line.hour = %(hour)s"
        " AND line.settlement_id IS NULL AND line.flags & %(idle)s <> 0"
        " AND charge.id = line.charge_id AND charge.billed_micros IS NOT NULL"
        " AND charge.corrects_id IS NULL",
        {"month": month, "hour": hour, "idle": int(Flag.SHARED_IDLE)},
    )
