"""The pass of calls to model APIs: each is priced once, and the hour summed by model and owner."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import partial
from itertools import groupby
from operator import itemgetter

from django.db import transaction

from apps.accounts.queries import organisation
from apps.economics.calls import Contract, Counted, Priced
from apps.economics.hours import HOUR
from apps.economics.rates import MICROS
from apps.economics.split import largest_remainder
from apps.ledger.actions.outcome import BUSY, NOTHING, Outcome
from apps.ledger.queries.api_calls import CallKey, CallSums, calls_without_price, sums_of_calls
from apps.ledger.queries.tables import Row, copy_values, run
from apps.logs.changes import logged_pass
from apps.marks.actions import (
    ALL_CALLS_ANEW,
    ORGANISATION,
    Mark,
    clear,
    expand_ranges,
    hour_key,
    log_deferred_hour,
    mark,
    try_lock,
)
from apps.marks.queries import Pass, hours_marked, marks_of_hour
from apps.pricing.queries import conversions
from apps.pricing.queries.api_prices import contracts

Book = Callable[[Sequence[Contract]], Callable[[Counted], Priced]]
"""What prices a call, made of the contracts that hold: a worker's, for it takes a library."""

PutOff = Callable[[datetime, Exception], object]
"""Hears of an hour that raised, which keeps its marks."""
PUT_OFF: PutOff = partial(log_deferred_hour, Pass.CALLS)

AT_ONCE = 100_000
PUBLIC_CURRENCY = "USD"
PLACES = Decimal(1).scaleb(-18)
EXACT = Context(prec=60, rounding=ROUND_HALF_EVEN)
FINEST = 10**18


@dataclass(frozen=True, slots=True)
class Worth:
    """The worth of currencies in the organisation's; None where nobody knows."""

    ours: str
    rates: Mapping[str, Fraction | None]

    def micros(self, amount: Decimal, currency: str) -> Fraction | None:
        """Unrounded micro-units of the organisation's currency."""
        rate = self.rates.get(currency)
        return None if rate is None else Fraction(amount) * rate * MICROS


@logged_pass("price_calls")
def price_waiting(
    *,
    before: datetime,
    book: Callable[[], Book],
    is_over: Callable[[], bool] = lambda: False,
    put_off: PutOff = PUT_OFF,
) -> int:
    """Price what waits of hours that begin before, newest first, until it is over; how many calls.

    `book` is asked for only where something waits. An hour that raises is told to `log_deferred_hour`, and the
    others go on.
    """
    while expand_ranges():
        pass
    hours = hours_marked(Pass.CALLS, before, AT_ONCE)[::-1]
    priced = 0
    price_book = book() if hours else None
    for hour in hours:
        if price_book is None or is_over():
            break
        try:
            priced += price_hour(hour=hour, book=price_book).changed
        except Exception as problem:  # noqa: BLE001  # told of, and the next hour's turn
            put_off(hour, problem)
    return priced


@transaction.atomic
def price_hour(*, hour: datetime, book: Book) -> Outcome:
    """Price the calls of `hour` that have no price yet, sum them, and have the hour charged.

    A call is priced once, unless prices changed. An hour of a closed month is priced too: what
    that moves in the ledger waits as any late fact does.
    """
    if not try_lock(Pass.CALLS, hour_key(hour)):
        return BUSY
    marks = marks_of_hour(Pass.CALLS, hour)
    if not marks:
        return NOTHING
    if any(waiting_mark.unit == ALL_CALLS_ANEW for waiting_mark in marks):
        run("DELETE FROM ledger_apicost WHERE hour = %(hour)s", {"hour": hour})
    hour_contracts = contracts(hour, hour + HOUR)
    worth = _hour_worth(hour, {contract.currency for contract in hour_contracts})
    price = book(hour_contracts)
    priced = 0
    for calls in calls_without_price(hour):
        copy_values(COSTS, (_cost_row(call, price(call[1]), hour, worth) for call in calls))
        priced += len(calls)
    _sum_hour(hour, worth)
    mark([Mark(Pass.CHARGE, ORGANISATION, hour)])
    clear(Pass.CALLS, {hour: marks})
    return Outcome(changed=priced)


def mark_calls(*, hours: Iterable[datetime]) -> None:
    """Have every call of these hours priced again; in the transaction of what changed."""
    mark(Mark(Pass.CALLS, ALL_CALLS_ANEW, hour) for hour in hours)


def _hour_worth(hour: datetime, currencies: set[str]) -> Worth:
    ours = organisation().currency
    conversions_by_currency = conversions(currencies | {PUBLIC_CURRENCY}, hour, hour + HOUR)
    rates = {code: conversion[0].rate for code, conversion in conversions_by_currency.items()}
    return Worth(ours, {**rates, ours: Fraction(1)})


def _cost_row(call: tuple[int, Counted], priced: Priced, hour: datetime, worth: Worth) -> Row:
    call_id = call[0]
    if priced.amounts is None:
        return (call_id, hour, None, None, priced.list_amount, "", "", priced.reason)
    (currency, amount), *others = priced.amounts.items()
    if others:
        return _mixed_row(call_id, priced, hour, worth)
    rate = worth.rates.get(currency)
    if rate is None:
        reason = _no_rate(currency, worth)
        return (call_id, hour, None, amount, priced.list_amount, currency, priced.price, reason)
    # A Decimal rounds half to even as a Fraction does, in a fortieth of the time.
    micros = round(amount * MICROS) if rate == 1 else round(Fraction(amount) * rate * MICROS)
    return (call_id, hour, micros, amount, priced.list_amount, currency, priced.price, "")


def _mixed_row(call_id: int, priced: Priced, hour: datetime, worth: Worth) -> Row:
    """Parts of it are priced in several currencies: the organisation's holds them together."""
    total = Fraction(0)
    for currency, amount in (priced.amounts or {}).items():
        part = worth.micros(amount, currency)
        if part is None:
            return (
                call_id,
                hour,
                None,
                None,
                priced.list_amount,
                "",
                "",
                _no_rate(currency, worth),
            )
        total += part
    amount = EXACT.divide(Decimal(total.numerator), Decimal(total.denominator * MICROS))
    rounded_amount = amount.quantize(PLACES, context=EXACT)
    return (
        call_id,
        hour,
        round(total),
        rounded_amount,
        priced.list_amount,
        worth.ours,
        priced.price,
        "",
    )


def _no_rate(currency: str, worth: Worth) -> str:
    return f"no rate of exchange from {currency} to {worth.ours} is known"


def _sum_hour(hour: datetime, worth: Worth) -> None:
    """Write the hour anew: rows of a model and owner sum to what is rounded once for all of them."""
    summed = sums_of_calls(hour)
    run("DELETE FROM ledger_apihour WHERE hour = %(hour)s", {"hour": hour})
    copy_values(HOURS, _hour_rows(hour, summed, worth))
    items = {(key.vendor, key.model, key.team_id, key.workload_id) for key, _ in summed}
    vendors, models, teams, workloads = zip(*items, strict=True) if items else ((), (), (), ())
    run(
        ITEMS,
        {
            "vendors": list(vendors),
            "models": list(models),
            "teams": list(teams),
            "workloads": list(workloads),
        },
    )


def _hour_rows(
    hour: datetime, summed: Sequence[tuple[CallKey, CallSums]], worth: Worth
) -> Iterator[Row]:
    by_item = sorted(summed, key=lambda row: _sort_key(row[0]))
    for _, group in groupby(by_item, key=lambda row: _item_key(row[0])):
        # A key's sums are one for each currency of its prices.
        parts = [
            (key, [sums for _, sums in same]) for key, same in groupby(group, key=itemgetter(0))
        ]
        costs = _divide_sum([_exact_cost(sums, worth) for _, sums in parts])
        listed = _divide_sum([_exact_list(sums, worth) for _, sums in parts])
        for (key, sums), micros, list_micros in zip(parts, costs, listed, strict=True):
            counts = _sum_counts(sums)
            unpriced = counts[0] if micros is None else counts[4]
            reason = max(call_sums.reason for call_sums in sums)
            amounts = (micros, list_micros, *_stated(sums, worth))
            yield (hour, *key, *counts[:4], unpriced, *counts[5:], *amounts, reason)


def _item_key(key: CallKey) -> tuple[str, str, int, int | None]:
    return key.vendor, key.model, key.team_id, key.workload_id


def _sort_key(key: CallKey) -> tuple[str, str, int, int, str, str]:
    return key.vendor, key.model, key.team_id, key.workload_id or 0, key.tier, key.feature


def _sum_counts(sums: Sequence[CallSums]) -> list[int]:
    return [sum(of_one) for of_one in zip(*(call_sums.counts for call_sums in sums), strict=True)]


def _exact_cost(sums: Sequence[CallSums], worth: Worth) -> Fraction | None:
    """Return the known part of the cost of calls; None where nothing is known."""
    converted = [
        worth.micros(call_sums.amount, call_sums.currency)
        for call_sums in sums
        if call_sums.amount is not None
    ]
    amounts = [amount for amount in converted if amount is not None]
    return sum(amounts, Fraction(0)) if amounts else None


def _exact_list(sums: Sequence[CallSums], worth: Worth) -> Fraction | None:
    """By public prices; None where a call that has a price has no public one."""
    if any(call_sums.without_list for call_sums in sums):
        return None
    amounts = [call_sums.list_amount for call_sums in sums if call_sums.list_amount is not None]
    return worth.micros(sum(amounts, Decimal(0)), PUBLIC_CURRENCY) if amounts else None


def _stated(sums: Sequence[CallSums], worth: Worth) -> tuple[int | None, int | None]:
    """Return the cost of these calls that tellers state, and ours of the same calls; None where nobody states any."""
    stated = [
        worth.micros(call_sums.stated, PUBLIC_CURRENCY)
        for call_sums in sums
        if call_sums.stated is not None
    ]
    against = [
        worth.micros(call_sums.against, call_sums.currency)
        for call_sums in sums
        if call_sums.against is not None
    ]
    if not stated or None in stated or None in against:
        return None, None
    return round(sum(filter(None, stated), Fraction(0))), round(
        sum(filter(None, against), Fraction(0))
    )


def _divide_sum(amounts: Sequence[Fraction | None]) -> list[int | None]:
    """The known amounts' sum, rounded once, over them; they keep to what they are within a unit."""
    known_amounts = [amount for amount in amounts if amount is not None]
    total = round(sum(known_amounts, Fraction(0)))
    weights = [int(amount * FINEST) for amount in known_amounts]
    shares = largest_remainder(total, weights) if any(weights) else [0] * len(known_amounts)
    left = iter(shares)
    return [None if amount is None else next(left) for amount in amounts]


COSTS = """
COPY ledger_apicost (event_id, hour, micros, amount, list_amount, currency, price, reason) FROM STDIN
"""
HOURS = """
COPY ledger_apihour
    (hour, vendor, model, tier, team_id, workload_id, feature, requests, rate_limited,
     server_errors, other_errors, unpriced_requests, input_tokens, cached_tokens,
     cache_write_tokens, output_tokens, reasoning_tokens, micros, list_micros, stated_micros,
     against_micros, reason)
FROM STDIN
"""
ITEMS = """
INSERT INTO ledger_apiitem (vendor, model, team_id, workload_id)
SELECT * FROM unnest(%(vendors)s::text[], %(models)s::text[], %(teams)s::int8[],
                     %(workloads)s::int8[]) AS item (vendor, model, team_id, workload_id)
ORDER BY vendor, model, team_id, workload_id
ON CONFLICT (vendor, model, team_id, workload_id) DO NOTHING
"""
