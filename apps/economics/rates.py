"""The cost of a span of an hour: quoted rates, applied exactly, rounded once however it is cut."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import floor

from apps.economics.tiers import Tier

MICROS = 1_000_000
MS_PER_SECOND = 1_000
BETWEEN_DETAILS = "; "


class RatesOverlap(ValueError):
    """Two rates of equal priority hold at one moment: nobody can say which is meant."""


class Per(StrEnum):
    """The unit that one quantity of time is quoted for."""

    NODE = "node"
    GPU = "gpu"


@dataclass(frozen=True, slots=True)
class QuotedRate:
    """`amount` as quoted, for `quantity_seconds` of one node or one GPU; never converted.

    `exchange` is what one unit of its currency is worth; None: nobody knows, and neither what it
    costs. `tiers` are what holds beyond quantities of a month; `amount` may then be the blend of an
    hour. `detail` says in words what made the amounts besides the quoted one. Of a provisional rate
    that may still change.
    """

    id: int
    amount: Decimal | Fraction
    quantity_seconds: int
    per: Per
    exchange: Fraction | int | None = 1
    tiers: tuple[Tier, ...] = ()
    detail: str = ""
    is_provisional: bool = False


@dataclass(frozen=True, slots=True)
class RateInHour:
    """A rate and when it holds, in milliseconds of the hour; the highest priority wins."""

    start_ms: int
    end_ms: int
    rate: QuotedRate
    priority: int = 0


_Spanned = tuple[int, int, QuotedRate | None, QuotedRate | None]
"""From, to, the list price and the contract's, of one stretch in which neither changes."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A span of an hour in which one rate holds on each basis; amounts in micro-units.

    None is an unknown price, never a price of nothing. `contract_rate_id` is None where the
    contracted amount is the list amount. `commitment_id` is of the one that covers it; `detail`
    says in words what else made its amounts.
    """

    start_ms: int
    end_ms: int
    list_micros: int | None
    contracted_micros: int | None
    effective_micros: int | None
    list_rate_id: int | None = None
    contract_rate_id: int | None = None
    commitment_id: int | None = None
    detail: str = ""


def pieces_of_hour(
    lived_spans: Sequence[tuple[int, int, int]],
    list_rates: Sequence[RateInHour],
    contract_rates: Sequence[RateInHour],
) -> list[Piece]:
    """Cut what was lived of an hour at every change of rate, in order of time.

    `node_lifetime_spans` has spans `[from, to)` with the GPUs there were, which multiply rates quoted per GPU.
    Contracted is the contract's amount, else the list's; effective is contracted, until a
    commitment says otherwise. On each basis the pieces sum to what all of them cost exactly,
    rounded once and half-even. Refuses RatesOverlap.
    """
    spanned = [
        (*span, gpus)
        for start, end, gpus in lived_spans
        for span in _rated_spans(start, end, list_rates, contract_rates)
    ]
    pieces = [_piece_of_span(*span) for span in spanned]
    return pieces if len(pieces) <= 1 else _rounded_once(pieces, spanned)


def _rated_spans(
    lived_from: int,
    lived_to: int,
    list_rates: Sequence[RateInHour],
    contract_rates: Sequence[RateInHour],
) -> list[_Spanned]:
    if lived_from >= lived_to:
        return []
    cuts = {lived_from, lived_to}
    for span in (*list_rates, *contract_rates):
        cuts.update(cut for cut in (span.start_ms, span.end_ms) if lived_from < cut < lived_to)
    moments = sorted(cuts)
    spans = [
        (start, end, _rate_at(start, list_rates), _rate_at(start, contract_rates))
        for start, end in pairwise(moments)
    ]
    return _join_spans(spans)


@lru_cache(maxsize=4096)
def amount_micros(rate: QuotedRate, duration_ms: int, gpus: int) -> int | None:
    """Return the cost of `duration_ms` at `rate`, in micro-units, rounded once and half-even.

    None where nobody knows what its currency is worth.
    """
    exact = _exact_micros(rate, duration_ms, gpus)
    return None if exact is None else round(exact)


def _exact_micros(rate: QuotedRate, duration_ms: int, gpus: int) -> Fraction | None:
    if rate.exchange is None:
        return None
    count = gpus if rate.per is Per.GPU else 1
    return (
        Fraction(rate.amount)
        * (MICROS * duration_ms * count * rate.exchange)
        / (rate.quantity_seconds * MS_PER_SECOND)
    )


def _rate_at(moment_ms: int, spans: Sequence[RateInHour]) -> QuotedRate | None:
    holding = [span for span in spans if span.start_ms <= moment_ms < span.end_ms]
    if not holding:
        return None
    best = max(span.priority for span in holding)
    winners = {span.rate.id: span.rate for span in holding if span.priority == best}
    if len(winners) > 1:
        raise RatesOverlap(f"rates {sorted(winners)} hold at once, with equal priority")
    return next(iter(winners.values()))


def _join_spans(spans: list[_Spanned]) -> list[_Spanned]:
    # A rate of lower priority may end unnoticed: rounding there would cost a micro-unit for nothing.
    joined = spans[:1]
    for start, end, quoted, agreed in spans[1:]:
        if joined[-1][2:] == (quoted, agreed):
            joined[-1] = (joined[-1][0], end, quoted, agreed)
        else:
            joined.append((start, end, quoted, agreed))
    return joined


def _piece_of_span(
    start: int, end: int, quoted: QuotedRate | None, agreed: QuotedRate | None, gpus: int
) -> Piece:
    """Return the priced piece of a span; unpriced where no known money can pay it: the list price does not stand in."""
    duration = end - start
    listed = None if quoted is None else amount_micros(quoted, duration, gpus)
    contracted = listed if agreed is None else amount_micros(agreed, duration, gpus)
    details = dict.fromkeys(rate.detail for rate in (quoted, agreed) if rate and rate.detail)
    return Piece(
        start_ms=start,
        end_ms=end,
        list_micros=None if contracted is None else listed,
        contracted_micros=contracted,
        effective_micros=contracted,
        list_rate_id=None if quoted is None else quoted.id,
        contract_rate_id=None if agreed is None else agreed.id,
        detail=BETWEEN_DETAILS.join(details),
    )


def _rounded_once(
    pieces: list[Piece], spans: Sequence[tuple[int, int, QuotedRate | None, QuotedRate | None, int]]
) -> list[Piece]:
    """The pieces so that they sum to the exact amount of all of them, rounded once.

    What is contracted is divided, then what lies between it and list, so that no piece changes the
    order of the two. Those without a list amount are rounded by themselves.
    """
    rounded = list(pieces)
    for is_listed in (True, False):
        places = [
            place
            for place, piece in enumerate(pieces)
            if piece.contracted_micros is not None and (piece.list_micros is not None) == is_listed
        ]
        agreed, listed = [], []
        for place in places:
            start, end, quoted, contract, gpus = spans[place]
            listed.append(_exact_micros(quoted, end - start, gpus) or 0 if quoted else 0)
            agreed.append(
                listed[-1] if contract is None else _exact_micros(contract, end - start, gpus) or 0
            )
        paid = _apportion_total(agreed, round(sum(agreed)))
        above = _apportion_total(
            [full - part for full, part in zip(listed, agreed, strict=True)],
            round(sum(listed)) - sum(paid),
        )
        for place, amount, more in zip(places, paid, above, strict=True):
            rounded[place] = replace(
                pieces[place],
                list_micros=amount + more if is_listed else None,
                contracted_micros=amount,
                effective_micros=amount,
            )
    return rounded


def _apportion_total(amounts: Sequence[Fraction | int], total: int) -> list[int]:
    """Each amount down or up to a whole number so that they sum to `total`, largest remainders up.

    `total` lies within one of their sum, so whole amounts stay what they are.
    """
    parts = [floor(amount) for amount in amounts]
    by_remainder = sorted(range(len(parts)), key=lambda place: parts[place] - amounts[place])
    for place in by_remainder[: total - sum(parts)]:
        parts[place] += 1
    return parts
