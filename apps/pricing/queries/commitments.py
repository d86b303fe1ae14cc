"""Commitments bought ahead, as they were entered."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

from django.db.models import QuerySet

from apps.economics.hours import HOUR, HOUR_MS, MILLISECOND
from apps.pricing.models import Commitment


@dataclass(frozen=True, slots=True)
class CommitmentFact:
    """A commitment through `[starts_at, ends_at)`; `hours` are those its term as bought touches.

    One that was ended early holds no longer than `ends_at`, and its term stays as it was bought:
    `term_ms` long, in milliseconds.
    """

    id: int
    name: str
    kind: str
    provider: str
    region: str
    instance_type: str
    gpu_model: str
    pool_id: int | None
    units: int
    unit: str
    spend: Decimal
    prices: Mapping[str, Decimal]
    upfront: Decimal
    hourly: Decimal
    currency: str
    starts_at: datetime
    ends_at: datetime
    hours: int
    term_ms: int
    owner_id: int | None
    external_id: str
    platform: str
    tenancy: str
    account: str
    is_shared: bool
    source: str
    ended_at: datetime | None

    @property
    def price(self) -> Fraction:
        """Return the cost of the whole term, in the commitment's own currency."""
        return Fraction(self.upfront) + Fraction(self.hourly) * self.term_ms / HOUR_MS

    def elapsed_ms(self, moment: datetime) -> int:
        """How much of the term is over by then."""
        return min(self.term_ms, max(0, (moment - self.starts_at) // MILLISECOND))


def commitments_in(starts_at: datetime, ends_at: datetime) -> list[CommitmentFact]:
    """Those that hold at some time of `[starts_at, ends_at)`, by id."""
    overlapping_rows = Commitment.objects.filter(period__overlap=(starts_at, ends_at))
    facts = [_commitment_fact(row) for row in _in_order(overlapping_rows)]
    return [fact for fact in facts if fact.ends_at > starts_at]


def commitment_spans(starts_at: datetime, ends_at: datetime) -> list[tuple[datetime, datetime]]:
    """When each of them holds within `[starts_at, ends_at)`."""
    return [
        (max(starts_at, fact.starts_at), min(ends_at, fact.ends_at))
        for fact in commitments_in(starts_at, ends_at)
    ]


def commitments() -> list[CommitmentFact]:
    """Every commitment there ever was, by id."""
    return [_commitment_fact(row) for row in _in_order(Commitment.objects.all())]


def commitments_called(external_ids: Collection[str]) -> dict[str, CommitmentFact]:
    """Those that bills call so, by what they call them; of two of one name the one entered first."""
    names = [name for name in external_ids if name]
    rows = _in_order(Commitment.objects.filter(external_id__in=names)) if names else ()
    called: dict[str, CommitmentFact] = {}
    for row in rows:
        called.setdefault(row.external_id, _commitment_fact(row))
    return called


def commitment(commitment_id: int) -> CommitmentFact:
    """One commitment; refuses Commitment.DoesNotExist."""
    return _commitment_fact(Commitment.objects.get(pk=commitment_id))


def _in_order(rows: "QuerySet[Commitment]") -> "QuerySet[Commitment]":
    return rows.order_by("id")


def _commitment_fact(row: Commitment) -> CommitmentFact:
    starts_at, term_ends_at = row.period.lower, row.period.upper
    columns = {name: getattr(row, name) for name in CommitmentFact.__slots__ if hasattr(row, name)}
    return CommitmentFact(
        **columns
        | {"prices": {name: Decimal(price) for name, price in sorted(row.prices.items())}},
        starts_at=starts_at,
        ends_at=term_ends_at if row.ended_at is None else min(term_ends_at, row.ended_at),
        hours=-((starts_at - term_ends_at) // HOUR),
        term_ms=(term_ends_at - starts_at) // MILLISECOND,
    )
