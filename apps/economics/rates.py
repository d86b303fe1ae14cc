"""What a span of an hour costs: quoted rates, applied exactly, rounded once per piece."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from apps.economics.tiers import Tier

MICROS = 1_000_000
MS_PER_SECOND = 1_000
BETWEEN_DETAILS = "; "


class RatesOverlap(ValueError):
    """Two rates of equal priority hold at one moment: nobody can say which is meant."""


class Per(StrEnum):
    """What one quantity of time is quoted for."""

    NODE = "node"
    GPU = "gpu"


@dataclass(frozen=True, slots=True)
class Rate:
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
class RateSpan:
    """A rate and when it holds, in milliseconds of the hour; the highest priority wins."""

    start_ms: int
    end_ms: int
    rate: Rate
    priority: int = 0


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
    lived_ms: tuple[int, int],
    list_rates: Sequence[RateSpan],
    contract_rates: Sequence[RateSpan],
    gpus: int,
) -> list[Piece]:
    """Cut a lived span `[from, to)` of an hour at every change of rate, in order of time.

    Contracted is the contract's amount, else the list's; effective is contracted, until a
    commitment says otherwise. Refuses RatesOverlap. `gpus` multiplies rates quoted per GPU.
    """
    lived_from, lived_to = lived_ms
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
    return [
        _piece(start, end, quoted, agreed, gpus) for start, end, quoted, agreed in _joined(spans)
    ]


@lru_cache(maxsize=4096)
def amount_micros(rate: Rate, duration_ms: int, gpus: int) -> int | None:
    """What `duration_ms` costs at `rate`, in micro-units, rounded once and half-even.

    None where nobody knows what its currency is worth.
    """
    if rate.exchange is None:
        return None
    count = gpus if rate.per is Per.GPU else 1
    return round(
        Fraction(rate.amount)
        * (MICROS * duration_ms * count * rate.exchange)
        / (rate.quantity_seconds * MS_PER_SECOND)
    )


_Spanned = tuple[int, int, Rate | None, Rate | None]


def _rate_at(moment_ms: int, spans: Sequence[RateSpan]) -> Rate | None:
    holding = [span for span in spans if span.start_ms <= moment_ms < span.end_ms]
    if not holding:
        return None
    best = max(span.priority for span in holding)
    winners = {span.rate.id: span.rate for span in holding if span.priority == best}
    if len(winners) > 1:
        raise RatesOverlap(f"rates {sorted(winners)} hold at once, with equal priority")
    return next(iter(winners.values()))


def _joined(spans: list[_Spanned]) -> list[_Spanned]:
    # A rate of lower priority may end unnoticed: rounding there would cost a micro-unit for nothing.
    joined = spans[:1]
    for start, end, quoted, agreed in spans[1:]:
        if joined[-1][2:] == (quoted, agreed):
            joined[-1] = (joined[-1][0], end, quoted, agreed)
        else:
            joined.append((start, end, quoted, agreed))
    return joined


def _piece(start: int, end: int, quoted: Rate | None, agreed: Rate | None, gpus: int) -> Piece:
    """What cannot be paid in money that is known is unpriced: the list price does not stand in."""
    duration = end - start
    listed = None if quoted is None else amount_micros(quoted, duration, gpus)
    contracted = listed if agreed is None else amount_micros(agreed, duration, gpus)
    told = dict.fromkeys(rate.detail for rate in (quoted, agreed) if rate and rate.detail)
    return Piece(
        start_ms=start,
        end_ms=end,
        list_micros=None if contracted is None else listed,
        contracted_micros=contracted,
        effective_micros=contracted,
        list_rate_id=None if quoted is None else quoted.id,
        contract_rate_id=None if agreed is None else agreed.id,
        detail=BETWEEN_DETAILS.join(told),
    )
