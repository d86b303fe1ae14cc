"""Commitments bought ahead, as they were entered."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Annotated

from django.db.models import QuerySet

from apps.accounts.queries.facts import field_names
from apps.economics.currencies import CURRENCY_CODE
from apps.economics.hours import HOUR, HOUR_MS, MILLISECOND
from apps.pricing.models import Commitment, RateUnit
from apps.show.entries import Entry

MOST_UNITS = 2**31 - 1


KINDS = {
    "capacity_block": "Capacity block",
    "reserved": "Reservation",
    "committed_use": "Committed use",
    "savings_plan": "Savings plan",
}
"""In the order in which they are applied."""
UNITS = {"node": "Nodes", "gpu": "GPUs"}
SHARED = {"yes": "yes, as far as its cloud shares", "no": "no, its account alone"}
EXAMPLE_AMOUNT = "98.32"


@dataclass(frozen=True, slots=True)
class EnteredCommitment:
    """`units` nodes or GPUs, or `spend` an hour at `prices` (a node's hour by instance type).

    It costs `upfront` once and `hourly` for each hour of `[starts_at, ends_at)`, whole seconds both.
    What is empty of its scope does not matter; nobody's unused part is Platform's. It covers machines of
    `platform` and `tenancy`, as their cloud spells them, and where it is not `is_shared` of `account` alone.
    """

    name: Annotated[str, Entry("Name")]
    kind: Annotated[str, Entry("Kind", choices=KINDS, initial="reserved")]
    currency: Annotated[str, Entry("In", pattern=CURRENCY_CODE, longest=3)]
    starts_at: Annotated[datetime, Entry("From", "A moment, to the second.", is_now=True)]
    ends_at: Annotated[datetime, Entry("To", "The end of its term.")]
    provider: Annotated[str, Entry("Provider", "As pools say it. What is empty is any.")] = ""
    region: Annotated[str, Entry("Region")] = ""
    instance_type: Annotated[str, Entry("Instance type")] = ""
    gpu_model: Annotated[str, Entry("GPU model")] = ""
    pool_id: int | None = None
    units: Annotated[
        int, Entry("How many", "Or the spend below, not both.", least=0, most=MOST_UNITS)
    ] = 0
    unit: Annotated[str, Entry("Of", choices=UNITS, initial="node")] = RateUnit.NODE
    spend: Annotated[
        Decimal,
        Entry(
            "Or a spend an hour", "What a savings plan is for, each hour.", example=EXAMPLE_AMOUNT
        ),
    ] = Decimal(0)
    prices: Mapping[str, Decimal] = field(default_factory=dict)
    upfront: Annotated[
        Decimal, Entry("Paid upfront", "Once, for the whole term.", example=EXAMPLE_AMOUNT)
    ] = Decimal(0)
    hourly: Annotated[
        Decimal,
        Entry(
            "Paid by the hour", "For each hour of the term, used or not.", example=EXAMPLE_AMOUNT
        ),
    ] = Decimal(0)
    owner_id: int | None = None
    external_id: Annotated[str, Entry("What the provider calls it", "Bills name it so.")] = ""
    platform: Annotated[
        str,
        Entry(
            help="what runs on machines that it covers, as its cloud spells it; none: any, "
            "of AWS's reservations Linux"
        ),
    ] = ""
    tenancy: Annotated[str, Entry(help="default, dedicated or host; as platform")] = ""
    account: Annotated[
        str,
        Entry(
            "Account it is of",
            "Account, project, or subscription and resource group as sub/group.",
            "account, project, or subscription and resource group (sub/group) that it is of",
        ),
    ] = ""
    is_shared: Annotated[
        bool,
        Entry(
            "Shared with other accounts",
            help="whether it covers use of other accounts too",
            choices=SHARED,
            initial="yes",
        ),
    ] = True
    source: Annotated[str, Entry("Where this comes from")] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitmentFact(EnteredCommitment):
    """A commitment through `[starts_at, ends_at)`; `hours` are those its term as bought touches.

    One that was ended early holds no longer than `ends_at`, and its term stays as it was bought:
    `term_ms` long, in milliseconds.
    """

    id: int
    hours: int
    term_ms: int
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
    columns = {
        name: getattr(row, name) for name in field_names(CommitmentFact) if hasattr(row, name)
    }
    return CommitmentFact(
        **columns
        | {"prices": {name: Decimal(price) for name, price in sorted(row.prices.items())}},
        starts_at=starts_at,
        ends_at=term_ends_at if row.ended_at is None else min(term_ends_at, row.ended_at),
        hours=-((starts_at - term_ends_at) // HOUR),
        term_ms=(term_ends_at - starts_at) // MILLISECOND,
    )
