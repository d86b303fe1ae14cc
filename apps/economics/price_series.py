"""A price that was told at moments, in any order, as the spans that it held for."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

Price = TypeVar("Price")


@dataclass(frozen=True, slots=True)
class PriceSpan(Generic[Price]):
    """One price in `[starts_at, ends_at)`, None: further on; told again at `repeated_at`."""

    starts_at: datetime
    ends_at: datetime | None
    price: Price
    repeated_at: tuple[datetime, ...] = ()


def spans_of(prices_by_moment: Mapping[datetime, Price | None]) -> list[PriceSpan[Price]]:
    """Each price holds until the moment at which another, or none (None), was told.

    Spans come in order, do not overlap, and two that touch differ; the order of `prices_by_moment` is nothing.
    """
    spans: list[PriceSpan[Price]] = []
    for moment in sorted(prices_by_moment):
        price = prices_by_moment[moment]
        last = spans[-1] if spans and spans[-1].ends_at is None else None
        if last is not None and last.price == price:
            spans[-1] = PriceSpan(last.starts_at, None, last.price, (*last.repeated_at, moment))
            continue
        if last is not None:
            spans[-1] = PriceSpan(last.starts_at, moment, last.price, last.repeated_at)
        if price is not None:
            spans.append(PriceSpan(moment, None, price))
    return spans


def changed_spans(
    before: Mapping[datetime, Price | None], after: Mapping[datetime, Price | None]
) -> list[tuple[datetime, datetime | None]]:
    """Where the price differs between two tellings: `[from, to)`, None: for good; in order.

    Spans that touch are one.
    """
    changed: list[tuple[datetime, datetime | None]] = []
    moments = sorted({*before, *after})
    held_before: Price | None = None
    held_after: Price | None = None
    for index, moment in enumerate(moments):
        held_before = before.get(moment, held_before)
        held_after = after.get(moment, held_after)
        if held_before == held_after:
            continue
        until = moments[index + 1] if index + 1 < len(moments) else None
        if changed and changed[-1][1] == moment:
            changed[-1] = (changed[-1][0], until)
        else:
            changed.append((moment, until))
    return changed
