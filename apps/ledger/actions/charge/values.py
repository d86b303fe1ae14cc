"""Values that the charge pass works on: an hour, prices and charges as they ought to stand."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from hashlib import blake2b

from apps.economics.money import sum_or_unknown
from apps.economics.rates import Piece
from apps.fleet import queries as fleet
from apps.ledger.models import ChargeKind, ChargePart, Status
from apps.ledger.queries.charges import ChargeKey

SETTLES_AFTER = timedelta(hours=2)
NOT_STATED = "this month's rate of exchange is not stated yet"


@dataclass(frozen=True, slots=True)
class Hour:
    """An hour as far as it has come, and where it is posted."""

    starts_at: datetime
    through: datetime
    month: date
    zone: str
    currency: str
    status: Status

    @property
    def through_ms(self) -> int:
        """How far the hour has come."""
        return (self.through - self.starts_at) // timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a charge, piece by piece; nodes of one pool share it.

    Of owned hardware it says by which plan, and what the hour adds to what is owed anyway.
    """

    pieces: tuple[Piece, ...]
    list_micros: int | None
    contracted_micros: int | None
    effective_micros: int | None
    digest: bytes
    billed_micros: int | None = None
    estimated_micros: int | None = None
    marginal_micros: int | None = None
    owned_plan_id: int | None = None


@dataclass(frozen=True, slots=True)
class WantedCharge:
    """A charge as it ought to stand.

    `status` and `reason` where the hour alone does not tell them; `through` where it is not the
    hour's. `team_id` and `workload_id` are whose the one line of a charge without a node is;
    `commitment_id` which commitment a bill's charge is of, `node_id` the node whose lines it follows.
    """

    key: ChargeKey
    pool_id: int | None
    price: Price
    status: Status | None = None
    reason: str = ""
    through: datetime | None = None
    team_id: int | None = None
    workload_id: int | None = None
    commitment_id: int | None = None
    node_id: int | None = None

    @property
    def of_node(self) -> int | None:
        """The node on whose lines it is."""
        kind, number, _ = self.key
        return number if kind == ChargeKind.NODE_HOUR else self.node_id


Estimate = tuple[fleet.NodeFact, list[tuple[ChargePart, Price]]]
"""A node and what its hour costs, by which of its bases are known."""


def digest_of(about: object) -> bytes:
    """Return the digest of what a charge was made from, so that a change of it shows."""
    return blake2b(repr(about).encode(), digest_size=16).digest()


def price_of(about: tuple[int, ...], pieces: tuple[Piece, ...]) -> Price:
    """The sum of some pieces; `about` is what else a change of the charge would show in."""
    return Price(
        pieces=pieces,
        list_micros=sum_or_unknown(piece.list_micros for piece in pieces),
        contracted_micros=sum_or_unknown(piece.contracted_micros for piece in pieces),
        effective_micros=sum_or_unknown(piece.effective_micros for piece in pieces),
        digest=digest_of((about, pieces)),
    )
