"""Commitments applied to the node-hours of an hour, and the part of what was bought ahead that nobody used."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from apps.accounts import queries as accounts
from apps.economics.commitments import CommitmentUse, Covered, Unused, apply
from apps.economics.eligibility import ON_DEMAND, UseTerms
from apps.economics.rates import Piece
from apps.fleet import queries as fleet
from apps.ledger.actions.charge.values import (
    NOT_STATED,
    Estimate,
    Hour,
    Price,
    WantedCharge,
    digest_of,
    price_of,
)
from apps.ledger.models import ChargeKind, ChargePart, Status
from apps.ledger.queries.commitments_of_hour import (
    CommitmentInForce,
    billed_commitment_ids,
    commitments_of_hour,
)
from apps.ledger.queries.offered_use import use_of, use_terms_index

NO_RATE = "no rate of exchange is known for its currency"
Parts = list[tuple[ChargePart, Price]]


def cover(
    this: Hour, pools: Mapping[int, fleet.PoolFact], estimates: Sequence[Estimate]
) -> tuple[Sequence[Estimate], list[WantedCharge]]:
    """The node-hours with what commitments cover as a part of its own, and what is left unused.

    Of a commitment that a bill of the hour names the bill tells what was not used.
    """
    commitments = commitments_of_hour(this.starts_at, this.through)
    if not commitments:
        return estimates, []
    blocks = {
        commitment.applied.terms.reservation
        for commitment in commitments
        if commitment.applied.terms.is_block
    }
    terms = use_terms_index(blocks, [node.id for node, _ in estimates]).by_node
    uses = [use for estimate in estimates for use in _uses_of(pools, terms, estimate)]
    applied = apply([commitment.applied for commitment in commitments], uses)
    unknown = {commitment.id for commitment in commitments if commitment.is_unconverted}
    by_node: dict[int, list[Covered]] = {}
    for part in applied.covered:
        by_node.setdefault(part.node_id, []).append(part)
    covered = [
        (node, _with_covered(this, (node, parts), by_node[node.id], unknown))
        if node.id in by_node
        else (node, parts)
        for node, parts in estimates
    ]
    billed_ids = billed_commitment_ids(this.starts_at, commitments)
    left = zip(commitments, applied.unused, strict=True)  # both by id
    return covered, [
        _left_unused(this, one, over) for one, over in left if one.id not in billed_ids
    ]


def _uses_of(
    pools: Mapping[int, fleet.PoolFact], terms: Mapping[int, UseTerms], estimate: Estimate
) -> Iterable[CommitmentUse]:
    node, parts = estimate
    use_terms = terms.get(node.id, ON_DEMAND)
    use = use_of(pools[node.pool_id], node.kind, node.units, None, use_terms)
    for _, price in parts:
        for piece in price.pieces:
            yield replace(
                use,
                node_id=node.id,
                start_ms=piece.start_ms,
                end_ms=piece.end_ms,
                list_micros=piece.list_micros,
                contracted_micros=piece.contracted_micros,
            )


def _with_covered(
    this: Hour, estimate: Estimate, covered: Sequence[Covered], unknown: Collection[int]
) -> Parts:
    """A node's parts without what is covered, and that as one more; `unknown` have no known cost."""
    node, parts = estimate
    about = (node.pool_id, this.through_ms)
    left: Parts = []
    bought: list[Piece] = []
    for part, price in parts:
        over: list[Piece] = []
        for piece in price.pieces:
            mine = [one for one in covered if piece.start_ms <= one.start_ms < piece.end_ms]
            bought += [_covered_piece(piece, one) for one in mine]
            over += _left_over(piece, mine)
        if over:
            left.append((part, price_of(about, tuple(over))))
    known_pieces = [
        replace(one, effective_micros=None) if one.commitment_id in unknown else one
        for one in bought
    ]
    return [*left, (ChargePart.COMMITTED, price_of(about, _align_unknown_bases(known_pieces)))]


def _covered_piece(piece: Piece, part: Covered) -> Piece:
    return replace(
        piece,
        start_ms=part.start_ms,
        end_ms=part.end_ms,
        list_micros=part.list_micros,
        contracted_micros=part.contracted_micros,
        effective_micros=part.effective_micros,
        commitment_id=part.commitment_id,
    )


def _left_over(piece: Piece, covered: Sequence[Covered]) -> list[Piece]:
    """Return the part of a piece that no commitment covers: its end, for they cover it from its start."""
    starts_at = max((part.end_ms for part in covered), default=piece.start_ms)
    if starts_at == piece.end_ms:
        return []
    contracted = _less_parts(piece.contracted_micros, [part.contracted_micros for part in covered])
    return [
        replace(
            piece,
            start_ms=starts_at,
            list_micros=_less_parts(piece.list_micros, [part.list_micros for part in covered]),
            contracted_micros=contracted,
            effective_micros=contracted,
        )
    ]


def _less_parts(total: int | None, parts: Sequence[int | None]) -> int | None:
    return None if total is None else total - sum(part or 0 for part in parts)


def _align_unknown_bases(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """A basis that one of the pieces does not know is unknown of them all, as of their charge."""
    listed = all(piece.list_micros is not None for piece in pieces)
    agreed = all(piece.contracted_micros is not None for piece in pieces)
    has_effective = all(piece.effective_micros is not None for piece in pieces)
    return tuple(
        replace(
            piece,
            list_micros=piece.list_micros if listed else None,
            contracted_micros=piece.contracted_micros if agreed else None,
            effective_micros=piece.effective_micros if has_effective else None,
        )
        for piece in pieces
    )


def _left_unused(this: Hour, commitment: CommitmentInForce, over: Unused) -> WantedCharge:
    """Nobody would have paid list for what nobody used: its list and contracted amounts are 0."""
    micros = None if commitment.is_unconverted else over.micros
    team_id = commitment.owner_id or accounts.special_teams().platform_id
    about = (
        commitment.id,
        team_id,
        commitment.pool_id,
        this.through_ms,
        micros,
        over.capacity,
        over.of,
    )
    digest = digest_of(about)
    return WantedCharge(
        key=(ChargeKind.COMMITMENT_UNUSED, commitment.id, ChargePart.COMMITTED),
        pool_id=commitment.pool_id,
        price=Price((), 0, 0, micros, digest),
        status=Status.PROVISIONAL if commitment.is_provisional else None,
        reason=_unused_reason(commitment, over),
        team_id=team_id,
    )


def _unused_reason(commitment: CommitmentInForce, over: Unused) -> str:
    sentence = (
        f"{commitment.name}: {100 * (over.of - over.capacity) / over.of:.1f} % of the hour used"
    )
    if commitment.is_unconverted:
        return f"{sentence}; {NO_RATE}"
    return f"{sentence}; {NOT_STATED}" if commitment.is_provisional else sentence
