"""What was bought ahead, applied to the node-hours of an hour, and what of it nobody used."""

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
    commitments_of_hour,
    told_by_bills,
)
from apps.ledger.queries.offered_use import known_terms, use_of

NO_RATE = "no rate of exchange is known for its currency"
Parts = list[tuple[ChargePart, Price]]


def cover(
    this: Hour, pools: Mapping[int, fleet.PoolFact], estimates: Sequence[Estimate]
) -> tuple[Sequence[Estimate], list[WantedCharge]]:
    """The node-hours with what commitments cover as a part of its own, and what is left unused.

    Of a commitment that a bill of the hour names the bill tells what was not used.
    """
    held = commitments_of_hour(this.starts_at, this.through)
    if not held:
        return estimates, []
    blocks = {each.applied.terms.reservation for each in held if each.applied.terms.is_block}
    terms = known_terms(blocks, [node.id for node, _ in estimates]).by_node
    uses = [use for estimate in estimates for use in _uses_of(pools, terms, estimate)]
    applied = apply([each.applied for each in held], uses)
    unknown = {each.id for each in held if each.is_unconverted}
    by_node: dict[int, list[Covered]] = {}
    for part in applied.covered:
        by_node.setdefault(part.node_id, []).append(part)
    covered = [
        (node, _with_covered(this, (node, parts), by_node[node.id], unknown))
        if node.id in by_node
        else (node, parts)
        for node, parts in estimates
    ]
    told = told_by_bills(this.starts_at, held)
    left = zip(held, applied.unused, strict=True)  # both by id
    return covered, [_left_unused(this, one, over) for one, over in left if one.id not in told]


def _uses_of(
    pools: Mapping[int, fleet.PoolFact], terms: Mapping[int, UseTerms], estimate: Estimate
) -> Iterable[CommitmentUse]:
    node, parts = estimate
    known = terms.get(node.id, ON_DEMAND)
    use = use_of(pools[node.pool_id], node.kind, node.units, None, known)
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
    told = [
        replace(one, effective_micros=None) if one.commitment_id in unknown else one
        for one in bought
    ]
    return [*left, (ChargePart.COMMITTED, price_of(about, _known_alike(told)))]


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
    """What no commitment covers of a piece: its end, for they cover it from its start."""
    starts_at = max((each.end_ms for each in covered), default=piece.start_ms)
    if starts_at == piece.end_ms:
        return []
    contracted = _less_parts(piece.contracted_micros, [each.contracted_micros for each in covered])
    return [
        replace(
            piece,
            start_ms=starts_at,
            list_micros=_less_parts(piece.list_micros, [each.list_micros for each in covered]),
            contracted_micros=contracted,
            effective_micros=contracted,
        )
    ]


def _less_parts(whole: int | None, parts: Sequence[int | None]) -> int | None:
    return None if whole is None else whole - sum(part or 0 for part in parts)


def _known_alike(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """A basis that one of the pieces does not know is unknown of them all, as of their charge."""
    listed = all(piece.list_micros is not None for piece in pieces)
    agreed = all(piece.contracted_micros is not None for piece in pieces)
    told = all(piece.effective_micros is not None for piece in pieces)
    return tuple(
        replace(
            piece,
            list_micros=piece.list_micros if listed else None,
            contracted_micros=piece.contracted_micros if agreed else None,
            effective_micros=piece.effective_micros if told else None,
        )
        for piece in pieces
    )


def _left_unused(this: Hour, held: CommitmentInForce, over: Unused) -> WantedCharge:
    """Nobody would have paid list for what nobody used: its list and contracted amounts are 0."""
    micros = None if held.is_unconverted else over.micros
    team_id = held.owner_id or accounts.special_teams().platform_id
    about = (held.id, team_id, held.pool_id, this.through_ms, micros, over.capacity, over.of)
    digest = digest_of(about)
    return WantedCharge(
        key=(ChargeKind.COMMITMENT_UNUSED, held.id, ChargePart.COMMITTED),
        pool_id=held.pool_id,
        price=Price((), 0, 0, micros, digest),
        status=Status.PROVISIONAL if held.is_provisional else None,
        reason=_unused_reason(held, over),
        team_id=team_id,
    )


def _unused_reason(held: CommitmentInForce, over: Unused) -> str:
    said = f"{held.name}: {100 * (over.of - over.capacity) / over.of:.1f} % of the hour used"
    if held.is_unconverted:
        return f"{said}; {NO_RATE}"
    return f"{said}; {NOT_STATED}" if held.is_provisional else said
