"""The audit and the ledger's own checks: plain SQL that proves the ledger's sums and shares nothing with what made them.

Numbers of states, flags and passes are written out here on purpose: an audit that imported them
would repeat a mistake in them. docs/concepts/audit.md says what it proves and what it cannot.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from django.db import connection, transaction

from apps.ledger.models import Close
from apps.ledger.queries.audit_bills import BILLED_CHARGES, BILLED_HOURS, DELIVERIES, RESIDUALS
from apps.ledger.queries.audit_calls import (
    CALL_AMOUNTS,
    CALL_CHARGES,
    CALL_COSTS,
    CALL_HOURS,
    CALL_STATED,
    VENDOR_REPORTS,
)
from apps.ledger.queries.audit_cells import MONTHS, NODE_DAYS, POOL_DAYS, USER_DAYS
from apps.ledger.queries.audit_closed import CLOSES, CORRECTIONS, STATEMENTS, TOLD, WHERE_POSTED
from apps.ledger.queries.audit_compare import Check
from apps.ledger.queries.audit_lines import CHARGE_FACTS, LINE_FACTS, PIECE_FACTS, SETTLEMENTS
from apps.ledger.queries.audit_rollups import JOB_DAYS, ROLLUPS, TEAM_DAYS
from apps.ledger.queries.audit_sql import (
    BOUNDS,
    CAPACITY,
    COUNTS,
    COVERAGE,
    LINES,
    MISSING,
    PENDING_DAYS,
    PIECES,
    SHARED_IDLE,
    STRAYS,
)
from apps.ledger.queries.closes.contents import digest_of_month
from apps.ledger.queries.closes.month_digests import (
    DigestFact,
    are_late_bills_undigested,
    bills_without_digest,
    current_digests,
    digest_again,
    digests_taken_away,
    is_of_all_bills,
)

Span = dict[str, datetime | str | int | None]

PLACES_SHOWN = 20
DIGEST = "the lines of a closed month are those it was closed with"
TABLES = "every table of a closed month is what it was closed with"


@dataclass(frozen=True, slots=True)
class AuditPlace:
    """Somewhere it does not add up: what was expected of which charge, node, hour and basis.

    A sum is a whole number; of anything else (a month, a settlement) it is the text.
    """

    check: str
    charge: int | None
    node: str | None
    hour: str | None
    basis: str | None
    expected: int | str | None
    found: int | str | None
    difference: int


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of an audit of `[starts_at, ends_at)`; it adds up when `places` is empty.

    `residual_micros` is Σ |charge − its lines| over all bases, `missing` the node-hours lived
    without a charge, `not_yet_swept` those whose hour waits to be charged, `undigested_months` closed months of which the tables have no digest yet, `corrections_where_posted`
    corrections on the day on which they were posted, in months that were closed before they stood on their own. Places beyond the first 20 of each check are counted, not listed.
    """

    starts_at: datetime | None
    ends_at: datetime | None
    node_hours: int
    charges: int
    lines: int
    residual_micros: int
    missing: int
    not_yet_swept: int
    pending_days: tuple[date, ...]
    closed_months: tuple[date, ...]
    undigested_months: tuple[date, ...]
    corrections_where_posted: int
    places: tuple[AuditPlace, ...]
    failures: int

    @property
    def adds_up(self) -> bool:
        """Whether everything that was to be proved is."""
        return not self.failures


@dataclass(frozen=True, slots=True)
class Probe:
    """A check of these tables that no SQL says: `places` are where it does not hold."""

    tables: tuple[str, ...]
    places: Callable[[], Iterable[AuditPlace]]


CHECKS: tuple[Check, ...] = (
    Check("a node-hour lived has a charge", MISSING),
    Check("a charge has a node that lived then", STRAYS),
    Check("pieces cover the lived time once", COVERAGE),
    Check("pieces sum to their charge", PIECES),
    Check("lines sum to their charge", LINES),
    Check("lines have the time of the node's capacity", CAPACITY),
    Check("shared-out idle sums to 0 and has no time", SHARED_IDLE),
    Check("a charge is what it is of", CHARGE_FACTS),
    Check("pieces are by what held then", PIECE_FACTS),
    Check("lines are of their charge's hour, month and settlement", LINE_FACTS),
    Check("settlements are what their lines come to", SETTLEMENTS),
    Check("roll-ups sum to the lines", ROLLUPS),
    Check("roll-ups by job sum to the lines", JOB_DAYS),
    Check("roll-ups by user sum to the lines", USER_DAYS),
    Check("roll-ups by node sum to the lines", NODE_DAYS),
    Check("roll-ups by team sum to the roll-ups", TEAM_DAYS),
    Check("roll-ups by pool sum to the roll-ups", POOL_DAYS),
    Check("roll-ups by month sum to the roll-ups", MONTHS),
    Check("a billed node-hour is charged as billed", BILLED_HOURS),
    Check("billed rows of no node are charged as billed", BILLED_CHARGES),
    Check("a bill's rows are its charges and its residual", RESIDUALS),
    Check("a bill's file sums to its rows", DELIVERIES),
    Check("a call costs its amount", CALL_COSTS),
    Check("hours of calls count their calls", CALL_HOURS),
    Check("hours of calls sum to what their calls cost", CALL_AMOUNTS),
    Check("hours of calls sum to what gateways state", CALL_STATED),
    Check("charges of calls sum to their hours", CALL_CHARGES),
    Check("a vendor's report is in micro-units what it says", VENDOR_REPORTS),
    Check("a closed month is what its statements say", TOLD),
    Check("statements of a closed month are its lines", STATEMENTS),
    Check("a correction is of a closed month", CORRECTIONS),
)
"""Of the ledger's own tables; apps above have further ones."""


def audit(
    checks: Sequence[Check],
    starts_at: datetime | None,
    ends_at: datetime | None,
    probes: Sequence[Probe] = (),
) -> Audit:
    """Audit a span by these checks (None: from the first node or charge; to the end of what is charged).

    Probes are of everything, whatever the span is. Call it outside a transaction: it reads everything from one snapshot and writes nothing.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return audit_in_transaction(checks, starts_at, ends_at, probes)


def audit_in_transaction(
    checks: Sequence[Check],
    starts_at: datetime | None,
    ends_at: datetime | None,
    probes: Sequence[Probe] = (),
) -> Audit:
    """Audit a span by these checks inside the caller's transaction, as far as that sees one moment."""
    with connection.cursor() as cursor:
        cursor.execute(BOUNDS, {"from": starts_at, "to": ends_at})
        since, until, zone = cursor.fetchone()
        span: Span = {"from": since, "to": until, "zone": zone, "shown": PLACES_SHOWN}
        places_by_check = {check.name: _find_places(span, check) for check in checks}
        cursor.execute(COUNTS.text, span)
        node_hours, not_yet_swept, charges, lines = cursor.fetchone()
        cursor.execute(PENDING_DAYS.text, span)
        pending = tuple(day for (day,) in cursor.fetchall())
        closed = _closed_months(span)
        probed = [place for probe in probes for place in probe.places()]
        cursor.execute(WHERE_POSTED, span)
        (where_posted,) = cursor.fetchone()
    return Audit(
        starts_at=since,
        ends_at=until,
        node_hours=node_hours,
        charges=charges,
        lines=lines,
        residual_micros=places_by_check.get("lines sum to their charge", NOTHING).total,
        missing=places_by_check.get("a node-hour lived has a charge", NOTHING).count,
        not_yet_swept=not_yet_swept,
        pending_days=pending,
        closed_months=closed.months,
        undigested_months=closed.undigested,
        corrections_where_posted=where_posted,
        places=(
            *(place for finding in places_by_check.values() for place in finding.places),
            *closed.places,
            *probed,
        ),
        failures=sum(finding.count for finding in places_by_check.values())
        + len(closed.places)
        + len(probed),
    )


@dataclass(frozen=True, slots=True)
class _AuditFindings:
    places: Sequence[AuditPlace]
    count: int
    total: int


NOTHING = _AuditFindings((), 0, 0)


def _find_places(span: Span, check: Check) -> _AuditFindings:
    """The first places of a check, how many there are, and the sum of their differences."""
    with connection.cursor() as cursor:
        cursor.execute(check.query.text, span)
        records = cursor.fetchall()
    places = [
        AuditPlace(
            check=check.name,
            charge=charge,
            node=node,
            hour=_iso_text(hour),
            basis=basis,
            expected=_integer_or_text(expected),
            found=_integer_or_text(actual),
            difference=int(off),
        )
        for charge, node, hour, basis, expected, actual, off, _, _ in records
    ]
    return (
        _AuditFindings(places, int(records[0][-2]), int(records[0][-1]))
        if records
        else _AuditFindings((), 0, 0)
    )


@dataclass(frozen=True, slots=True)
class _ClosedMonths:
    """The closed months, where they are not what they were closed with, and those without digests."""

    months: tuple[date, ...]
    undigested: tuple[date, ...]
    places: tuple[AuditPlace, ...]


def _closed_months(span: Span) -> _ClosedMonths:
    with connection.cursor() as cursor:
        cursor.execute(CLOSES, span)
        close_rows = cursor.fetchall()
    closes = {
        close.pk: close for close in Close.objects.filter(id__in=[row[0] for row in close_rows])
    }
    places: list[AuditPlace] = []
    undigested = []
    for close_id, month, version, _, _, versions in close_rows:
        close = closes[close_id]
        places += _moved_lines(close, str(span["zone"]), is_last=versions == version)
        digests = current_digests(close_id)
        lost = digests_taken_away(close, digests)
        places += [_without_digest(close, table) for table in lost]
        if not (digests or lost) or are_late_bills_undigested(close, digests):
            undigested.append(month)
            digests = [digest for digest in digests if not is_of_all_bills(digest)]
        else:
            places += _bills_of_nobody(close, digests)
        places += [place for digest in digests for place in _moved_table(close, digest)]
    return _ClosedMonths(tuple(row[1] for row in close_rows), tuple(undigested), tuple(places))


def _moved_lines(close: Close, zone: str, *, is_last: bool) -> Iterator[AuditPlace]:
    digest, count = digest_of_month(close.month, zone)
    if (digest, count) != (close.digest, close.lines) or not is_last:
        about = f"close {close.version}, digest {close.digest[:12]}, now {digest[:12]}"
        yield _place_in_close(close, DIGEST, about, "lines", close.lines, count)


def _moved_table(close: Close, digest: DigestFact) -> Iterator[AuditPlace]:
    now = digest_again(close, digest)
    if now != digest:
        which = "columns that may name a person" if digest.is_personal else "columns"
        bill = f"bill {digest.bill_id}, " if digest.bill_id else ""
        about = f"{digest.table}, {bill}{which}, close {close.version}, digest {digest.digest[:12]}, now {now.digest[:12]}"
        yield _place_in_close(close, TABLES, about, "rows", digest.rows, now.rows)


def _bills_of_nobody(close: Close, digests: Sequence[DigestFact]) -> Iterator[AuditPlace]:
    for bill_id in bills_without_digest(close, digests):
        yield _without_digest(close, f"ledger_bill, bill {bill_id}")


def _without_digest(close: Close, of: str) -> AuditPlace:
    about = f"{of}, close {close.version}, without a digest"
    return _place_in_close(close, TABLES, about, "rows", 0, 1)


def _place_in_close(
    close: Close, check: str, about: str, basis: str, expected: int, actual: int
) -> AuditPlace:
    return AuditPlace(
        check=check,
        charge=None,
        node=about,
        hour=_iso_text(close.month),
        basis=basis,
        expected=expected,
        found=actual,
        difference=actual - expected,
    )


def _iso_text(moment: datetime | date | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _integer_or_text(value: object) -> int | str | None:
    if value is None or isinstance(value, int):
        return value
    text = str(value)
    return int(text) if text.lstrip("-").isdigit() else text
