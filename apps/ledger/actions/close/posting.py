"""Differences posted as correction charges: on the day that they are of, in the month that is open."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from apps.accounts import queries as accounts
from apps.economics.hours import HOUR, first_hour, hour_of
from apps.economics.money import sum_of_known
from apps.ledger.actions.charge.values import digest_of
from apps.ledger.actions.closed import hold_month
from apps.ledger.actions.partitions import ensure_month
from apps.ledger.models import Charge, ChargeKind, ChargePart, Status
from apps.ledger.queries.calendar import local_day, posting_month
from apps.ledger.queries.closed_months import closed_months
from apps.ledger.queries.closes.differences import BasisSums, LineKey
from apps.ledger.queries.tables import Row, copy_in
from apps.marks.actions import Mark, mark
from apps.marks.queries import Pass

NUMBERED_BY: dict[str, str] = {
    ChargeKind.NODE_HOUR: "node_id",
    ChargeKind.SHARED: "shared_cost_id",
    ChargeKind.COMMITMENT_UNUSED: "commitment_id",
    ChargeKind.OWNED_UNUSED: "owned_plan_id",
}
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
class PostingPlace:
    """The month in which corrections are posted, and the words that say why."""

    month: date
    reason: str


def place_of(at: datetime, reason: str) -> PostingPlace:
    """The month of `at`, which stays open until the transaction ends. Refuses NoOpenMonth."""
    month = posting_month(hour_of(at), accounts.organisation().zone)
    hold_month(month)
    if month in closed_months():
        raise NoOpenMonth(f"{month:%Y-%m} is closed too")
    return PostingPlace(month, reason)


def post(*, differences: Mapping[LineKey, BasisSums], hour: datetime, place: PostingPlace) -> int:
    """A correction charge for each charge of `hour` that moved, with a line for each part of it.

    They stand in that hour, and in the books of the open month. How many charges; what the roll-ups
    have of the day's corrections is marked.
    """
    if not differences:
        return 0
    ensure_month(month=place.month)
    by_charge: dict[LineKey, dict[LineKey, BasisSums]] = {}
    for key, sums in differences.items():
        by_charge.setdefault(_of_charge(key), {})[key] = sums
    lines: list[Row] = []
    for of, parts in by_charge.items():
        moved = _align_unknown_bases(parts)
        charge = _correction_of(of, moved, hour, place)
        lines += [_line_row(charge, key, sums) for key, sums in moved.items()]
    copy_in(LINES, lines)
    zone = accounts.organisation().zone
    day = first_hour(local_day(hour, zone), zone)
    pool_ids = {key.pool_id or 0 for key in differences}
    mark(Mark(Pass.ROLLUP_CORRECTIONS, pool_id, day) for pool_id in pool_ids)
    return len(by_charge)


def _of_charge(key: LineKey) -> LineKey:
    """Return the key that lines of one correction charge have in common."""
    return key._replace(
        team_id=0, workload_id=None, job_id=None, holder_key_id=None, state=None, flags=0
    )


def _align_unknown_bases(parts: Mapping[LineKey, BasisSums]) -> dict[LineKey, BasisSums]:
    """The parts of one correction charge, of which each basis is known throughout, or unknown.

    A charge knows a basis in all its lines or in none. Where some of them say that it moves, the
    others had, or have, none of it: it moves by 0 in them. What no line knows stays unknown.
    """
    known_bases = [
        any(amount is not None for amount in of_basis)
        for of_basis in zip(*parts.values(), strict=True)
    ]
    return {
        key: BasisSums(
            *(
                0 if amount is None and is_known else amount
                for amount, is_known in zip(sums, known_bases, strict=True)
            )
        )
        for key, sums in parts.items()
    }


def _correction_of(
    of: LineKey, parts: Mapping[LineKey, BasisSums], hour: datetime, place: PostingPlace
) -> Charge:
    total = _add_sums(list(parts.values()))
    return Charge.objects.create(
        kind=of.kind,
        node_id=of.node_id,
        pool_id=of.pool_id,
        part=of.part,
        hour=hour,
        through=hour + HOUR,
        posting_month=place.month,
        list_micros=total.list_micros,
        contracted_micros=total.contracted_micros,
        effective_micros=total.effective_micros,
        billed_micros=total.billed_micros,
        currency=accounts.organisation().currency,
        status=Status.RESTATED,
        reason=place.reason,
        corrects=_original_charge(of, hour),
        digest=digest_of((hour, parts)),
    )


def _original_charge(of: LineKey, hour: datetime) -> Charge:
    """The charge that is corrected; one that the month never had stands there empty from now on."""
    lookup = {"kind": of.kind, "hour": hour, "part": of.part, "corrects": None}
    lookup[_numbered_by(of.kind, of.part)] = of.number
    original = Charge.objects.filter(**lookup).first()
    if original is not None:
        return original
    month = posting_month(hour, accounts.organisation().zone)
    # A billed charge is numbered by its row and may be of a node all the same.
    place = {"node_id": of.node_id, "pool_id": of.pool_id}
    return Charge.objects.create(
        **{**place, **lookup},
        through=hour + HOUR,
        posting_month=month,
        currency=accounts.organisation().currency,
        status=Status.RESTATED,
        reason="not on record when the month was closed",
        digest=b"",
    )


def _numbered_by(kind: str, part: int) -> str:
    """The column in which a charge says what it is of."""
    if kind == ChargeKind.COMMITMENT_UNUSED and part != ChargePart.COMMITTED:
        return "billed_charge_id"
    if part == ChargePart.SHARED_BY_BILL:
        return "billed_charge_id"
    if part == ChargePart.CALLS:
        return "api_item_id"
    return NUMBERED_BY.get(kind, "billed_charge_id")


def _add_sums(parts: list[BasisSums]) -> BasisSums:
    return BasisSums(*(sum_of_known(of_basis) for of_basis in zip(*parts, strict=True)))


def _line_row(charge: Charge, key: LineKey, sums: BasisSums) -> Row:
    return (
        *(charge.id, charge.hour, charge.posting_month, key.pool_id, key.team_id, key.workload_id),
        *(key.job_id, key.holder_key_id, key.state, key.flags, 0, None, 0),
        *sums,
    )
