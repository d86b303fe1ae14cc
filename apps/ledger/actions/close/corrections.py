"""What came late for a closed month, posted in an open one as the difference it makes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from hashlib import blake2b

from django.db import transaction

from apps.accounts import queries as accounts
from apps.fleet.actions.marks import Mark, clear, expand_ranges, mark
from apps.fleet.queries import Pass, hours_marked, marks_of_hour
from apps.ledger.actions.charge import charge_hour
from apps.ledger.actions.close.closing import MonthNotClosed
from apps.ledger.actions.closed import lock_month
from apps.ledger.actions.partitions import ensure_month
from apps.ledger.actions.split import split_hour
from apps.ledger.actions.spread import spread_hour
from apps.ledger.models import Charge, ChargeKind, Close, Part, Status
from apps.ledger.queries.calendar import (
    HOUR,
    first_hour,
    local_day,
    month_span,
    next_month,
    posting_month,
)
from apps.ledger.queries.closes.differences import (
    LineKey,
    Sums,
    corrected_sums_of_hour,
    sums_of_hour,
)
from apps.ledger.queries.closes.months import closed_months
from apps.ledger.queries.tables import Row, copy_in

AT_ONCE = 100_000
NUMBERED_BY = {
    ChargeKind.NODE_HOUR: "node_id",
    ChargeKind.SHARED: "shared_cost_id",
    ChargeKind.COMMITMENT_UNUSED: "commitment_id",
    ChargeKind.OWNED_UNUSED: "owned_plan_id",
}
SOON = timedelta(hours=3)
"""Past the moment at which an hour is no longer provisional."""
LINES = """
COPY ledger_line
    (charge_id, hour, posting_month, pool_id, team_id, workload_id, job_id, holder_key_id, state,
     flags, evidence, policy_version, unit_milliseconds, list_micros, contracted_micros,
     effective_micros, billed_micros)
FROM STDIN
"""


class NoOpenMonth(Exception):
    """Every month up to now is closed: there is none in which a correction could be posted."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """What was posted: corrections of how many hours, and what they sum to on the effective basis."""

    hours: int
    charges: int
    effective_micros: int


def post_corrections(*, month: date, at: datetime) -> Corrected:
    """Post what changed in a closed month since; its own lines stay as they were told.

    Each hour is settled anew inside a savepoint that is taken back, and what would differ is
    posted as correction charges in the hour of `at`, which carry no device time. A closed month's
    corrections count in: doing it again posts nothing. Refuses MonthNotClosed and NoOpenMonth.
    """
    if month not in closed_months():
        raise MonthNotClosed(f"{month:%Y-%m} is open")
    while expand_ranges():
        pass
    span = month_span(month, accounts.organisation().zone)
    hours = charges = effective = 0
    for hour in _late_hours(span.starts_at, span.ends_at):
        posted = _correct_hour(month, hour, at)
        hours += bool(posted.charges)
        charges += posted.charges
        effective += posted.effective_micros
    return Corrected(hours, charges, effective)


def _late_hours(starts_at: datetime, ends_at: datetime) -> list[datetime]:
    found = {
        hour
        for pass_ in (Pass.CHARGE, Pass.SPLIT, Pass.SPREAD)
        for hour in hours_marked(pass_, ends_at, AT_ONCE)
    }
    return sorted(hour for hour in found if hour >= starts_at)


@transaction.atomic
def _correct_hour(month: date, hour: datetime, at: datetime) -> Corrected:
    lock_month(month)
    zone = accounts.organisation().zone
    into, posted_month = _posting(at, zone)
    marks = {pass_: marks_of_hour(pass_, hour) for pass_ in (Pass.CHARGE, Pass.SPLIT, Pass.SPREAD)}
    before = corrected_sums_of_hour(hour)
    with _taken_back():
        Close.objects.filter(month=month, reopened_at=None).update(reopened_at=at)
        charge_hour(hour=hour, at=max(at, hour + SOON))
        split_hour(hour=hour, at=at)
        spread_hour(hour=hour)
        after = sums_of_hour(hour)
    differences = _differences(before, after)
    charges = _post(differences, hour, into, posted_month)
    for pass_, of_pass in marks.items():
        clear(pass_, hour, of_pass)
    pools = {key.pool_id or 0 for key in differences}
    day = first_hour(local_day(into, zone), zone)
    mark(Mark(Pass.ROLLUP, pool_id, day) for pool_id in pools)
    effective = sum(each.effective_micros or 0 for each in differences.values())
    return Corrected(1, charges, effective)


def _posting(at: datetime, zone: str) -> tuple[datetime, date]:
    """The hour and month that a correction is posted in: now, or the first open hour after."""
    hour = at.replace(minute=0, second=0, microsecond=0)
    closed = closed_months()
    month = posting_month(hour, zone)
    while month in closed:
        if month >= posting_month(at, zone):
            raise NoOpenMonth(f"{month:%Y-%m} is closed too")
        month = next_month(month)
    return hour, month


class _TakenBack(Exception):
    """Ends a savepoint without keeping anything of it."""


@contextmanager
def _taken_back() -> Iterator[None]:
    try:
        with transaction.atomic():
            yield
            raise _TakenBack
    except _TakenBack:
        pass


def _differences(
    before: Mapping[LineKey, Sums], after: Mapping[LineKey, Sums]
) -> dict[LineKey, Sums]:
    """What each line's sum moves by; a basis that is unknown on a side counts as nothing there."""
    nothing = Sums(None, None, None, None)
    moved: dict[LineKey, Sums] = {}
    for key in sorted({*before, *after}, key=repr):
        was, now = before.get(key, nothing), after.get(key, nothing)
        difference = Sums(
            *(
                None if old is None and new is None else (new or 0) - (old or 0)
                for old, new in zip(was, now, strict=True)
            )
        )
        if any(difference):
            moved[key] = difference
    return moved


def _post(differences: Mapping[LineKey, Sums], hour: datetime, into: datetime, month: date) -> int:
    """A correction charge for each charge that moved, with a line for each part of it that did."""
    if not differences:
        return 0
    ensure_month(month=month)
    by_charge: dict[tuple[str, int, int, int | None, int | None], dict[LineKey, Sums]] = {}
    for key, sums in differences.items():
        of = (key.kind, key.number, key.part, key.node_id, key.pool_id)
        by_charge.setdefault(of, {})[key] = sums
    lines: list[Row] = []
    for (kind, number, part, node_id, pool_id), parts in by_charge.items():
        corrected = _original(kind, number, part, hour)
        whole = _together(list(parts.values()))
        made = Charge.objects.create(
            kind=kind,
            node_id=node_id,
            pool_id=pool_id,
            part=part,
            hour=into,
            through=into + HOUR,
            posting_month=month,
            list_micros=whole.list_micros,
            contracted_micros=whole.contracted_micros,
            effective_micros=whole.effective_micros,
            billed_micros=whole.billed_micros,
            currency=accounts.organisation().currency,
            status=Status.RESTATED,
            reason=f"came after {hour:%Y-%m} was closed",
            corrects=corrected,
            digest=blake2b(repr((hour, parts)).encode(), digest_size=16).digest(),
        )
        lines += [_line(made.id, key, sums, into, month) for key, sums in parts.items()]
    copy_in(LINES, lines)
    return len(by_charge)


def _original(kind: str, number: int, part: int, hour: datetime) -> Charge:
    """The charge that is corrected; one that the month never had stands there empty from now on."""
    known = {"kind": kind, "hour": hour, "part": part, "corrects": None}
    known[_numbered_by(kind, part)] = number
    found = Charge.objects.filter(**known).first()
    if found is not None:
        return found
    month = posting_month(hour, accounts.organisation().zone)
    return Charge.objects.create(
        **known,
        through=hour + HOUR,
        posting_month=month,
        currency=accounts.organisation().currency,
        status=Status.RESTATED,
        reason="not on record when the month was closed",
        digest=b"",
    )


def _numbered_by(kind: str, part: int) -> str:
    """The column in which a charge says what it is of."""
    if kind == ChargeKind.COMMITMENT_UNUSED and part != Part.COMMITTED:
        return "billed_charge_id"
    return NUMBERED_BY.get(kind, "billed_charge_id")


def _together(parts: list[Sums]) -> Sums:
    return Sums(
        *(
            None if all(amount is None for amount in of_basis) else sum(a or 0 for a in of_basis)
            for of_basis in zip(*parts, strict=True)
        )
    )


def _line(charge_id: int, key: LineKey, sums: Sums, hour: datetime, month: date) -> Row:
    return (
        *(charge_id, hour, month, key.pool_id, key.team_id, key.workload_id, key.job_id),
        *(key.holder_key_id, key.state, key.flags, 0, None, 0),
        *sums,
    )
