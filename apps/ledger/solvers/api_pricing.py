"""Prices of calls to a model API: the vendor's public price at its own date and tier, or a contract's.

Public prices are genai-prices' table as it was packed; nothing is asked of the network. Importing
it takes most of a second, hence never in a web process.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from importlib.metadata import version

from genai_prices import data_snapshot
from genai_prices.types import (
    ModelInfo,
    ModelPrice,
    Provider,
    TieredPrices,
    TimeOfDateConstraint,
    Usage,
)

from apps.economics.calls import Contract, Counted, Priced
from apps.economics.model_names import model_of_arn, unpriced_reason

PUBLIC_CURRENCY = "USD"
TABLE = f"genai-prices {version('genai-prices')}"
NOTHING = Decimal(0)
MILLION = 1_000_000
NO_COUNTS = "the call told no token counts"
CONTRADICTION = "its counts contradict each other"
KINDS_OF_INPUT = tuple(f"input_{kind}_tokens" for kind in ("text", "audio", "image", "video"))
ANSWERED = frozenset({"ok", "cancelled"})
"""Outcomes of calls that a vendor bills; one that failed is billed for what it told, if anything."""
UNITS = ("input", "cached", "cache_write", "output", "request")


@dataclass(frozen=True, slots=True)
class _Rates:
    """The public price of one token of a kind, and of a request, where this many are sent."""

    input: Decimal
    cached: Decimal
    cache_write: Decimal
    output: Decimal
    reasoning: Decimal
    request: Decimal


@dataclass(frozen=True, slots=True)
class _Public:
    """A model's public price at a moment and tier; `starts` are where its steps of size begin."""

    provider: Provider
    model: ModelInfo
    price: ModelPrice
    context: Mapping[str, str] | None
    name: str
    starts: tuple[int, ...]
    rates: dict[int, _Rates] = field(default_factory=dict)


def books() -> Callable[[Sequence[Contract]], Callable[[Counted], Priced]]:
    """Makes price books of contracts that all look up each public price once."""
    public = PublicPrices()
    return lambda contracts: PriceBook(public, contracts).price


class PublicPrices:
    """Public prices that were looked up, kept for further calls."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str, object], _Public | str] = {}
        self._by_the_clock: set[tuple[str, str]] = set()

    def of(self, call: Counted) -> _Public | str:
        """The price of a call's model at its moment and tier, or why there is none."""
        # Prices change with the day of UTC, some also at minutes of it.
        by_minute = (call.vendor, call.model) in self._by_the_clock
        when = call.at.replace(second=0, microsecond=0) if by_minute else call.at.date()
        key = (call.vendor, call.model, call.tier, when)
        price = self._found.get(key)
        if price is None:
            price = _find_public_price(call)
            if by_minute or isinstance(price, str) or not _goes_by_the_clock(price.model):
                self._found[key] = price
            else:
                self._by_the_clock.add((call.vendor, call.model))
        return price


class PriceBook:
    """Prices calls by contracts and public prices."""

    def __init__(self, public: PublicPrices, contracts: Sequence[Contract] = ()) -> None:
        self._public = public
        self._contracts = contracts

    def price(self, call: Counted) -> Priced:
        """Return what the call costs, or why nobody knows. A call that failed without tokens costs nothing."""
        if not (call.input_tokens or call.output_tokens or call.detail):
            is_told = call.input_tokens is not None or call.output_tokens is not None
            if is_told or call.outcome != "ok":
                return Priced({PUBLIC_CURRENCY: NOTHING}, NOTHING, price="nothing was used")
            return Priced(None, None, reason=NO_COUNTS)
        public_price = self._public.of(call)
        by_contract = self._contracts_of(call)
        try:
            parts = None if isinstance(public_price, str) else _public_parts(public_price, call)
        except ValueError as refused:
            return Priced(None, None, reason=f"{CONTRADICTION}: {refused}")
        if (unit := _count_left_out(call, by_contract, public_price)) and call.outcome in ANSWERED:
            return Priced(
                None, None, reason=f"the call told no {unit} tokens, which cost something"
            )
        if by_contract:
            return _by_contract(call, by_contract, parts, public_price)
        if parts is None or isinstance(public_price, str):
            return Priced(None, None, reason=str(public_price))
        if reason := _missing_input_kind(public_price, call):
            return Priced(None, None, reason=reason)
        total = sum(parts.values(), NOTHING)
        return Priced({PUBLIC_CURRENCY: total}, total, price=public_price.name)

    def _contracts_of(self, call: Counted) -> dict[str, Contract]:
        """By unit, the one that names the call most closely."""
        contracts_by_unit: dict[str, Contract] = {}
        for contract in self._contracts:
            if _is_of_call(contract, call):
                current = contracts_by_unit.get(contract.unit)
                if current is None or _contract_rank(contract) > _contract_rank(current):
                    contracts_by_unit[contract.unit] = contract
        return contracts_by_unit


def _count_left_out(
    call: Counted, contracts: Mapping[str, Contract], public_price: _Public | str
) -> str:
    """Return which of input and output has a price and was not told: it is not known to be nothing."""
    rates = (
        None
        if isinstance(public_price, str)
        else _rates_of_step(public_price, call.input_tokens or 0)
    )
    for unit, count in (("input", call.input_tokens), ("output", call.output_tokens)):
        is_agreed = unit in contracts or "all" in contracts
        is_public = rates is not None and getattr(rates, unit) > 0
        if count is None and (is_agreed or is_public):
            return unit
    return ""


def _find_public_price(call: Counted) -> _Public | str:
    if reason := unpriced_reason(call.model, call.tier):
        return reason
    table = data_snapshot.get_snapshot()
    # By its own id alone: the table's looser match has OpenAI's prices for any "openai-compatible".
    if not any(provider.id == call.vendor for provider in table.providers):
        return (
            f"no price of {call.model} by {call.vendor} is known: no price list of that vendor is"
        )
    name = model_of_arn(call.model.removeprefix("models/"))
    try:
        provider, model = table.find_provider_model(name, None, call.vendor, None)
    except LookupError:
        return f"no price of {call.model} by {call.vendor} is known"
    context = _tier_context(call, provider, model)
    if context is None and call.tier not in ("", "default"):
        return f"no price of {call.model} in the tier {call.tier!r} is known"
    price = model.get_prices(call.at, context)
    starts = {
        tier.start
        for value in vars(price).values()
        if isinstance(value, TieredPrices)
        for tier in value.tiers
    }
    if not any(value is not None for value in vars(price).values()):
        return f"no price of {call.model} by {call.vendor} is known"
    tier = f", {call.tier}" if context else ""
    name = f"{TABLE}: {provider.id}/{model.id}{tier}"
    return _Public(provider, model, price, context, name, tuple(sorted(starts)))


def _missing_input_kind(public: _Public, call: Counted) -> str:
    """Why the input of a call cannot be priced: images have a price of their own, and it tells none."""
    if vars(public.price).get("input_image_mtok") is None or not call.input_tokens:
        return ""
    if any(name in call.detail for name in KINDS_OF_INPUT):
        return ""
    return f"the call does not tell how much of its input was images, which {public.model.id} prices apart"


def _goes_by_the_clock(model: ModelInfo) -> bool:
    priced = model.prices if isinstance(model.prices, list) else []
    return any(
        isinstance(price.constraint, TimeOfDateConstraint)
        for price in (*priced, *(model.price_variants or ()))
    )


def _tier_context(call: Counted, provider: Provider, model: ModelInfo) -> Mapping[str, str] | None:
    """How the table calls the call's tier; None where it has no price of its own for that."""
    if not call.tier or not any(model is candidate for candidate in provider.models):
        return None
    for key in ("processing", "service_tier", "speed"):
        wanted = {key: call.tier}
        for variant in model.price_variants or ():
            is_active = variant.constraint is None or variant.constraint.active(call.at)
            if is_active and variant.when == wanted:
                return wanted
    return None


def _public_parts(public: _Public, call: Counted) -> dict[str, Decimal]:
    """Return the cost of each unit of the call by the public price; `other` is what has a price of its own.

    Refuses a ValueError where the counts cannot be.
    """
    rates = _rates_of_step(public, call.input_tokens or 0)
    parts = _unit_costs(rates, call)
    if call.detail:
        total = public.model.calc_price(
            _usage_of(call),
            public.provider,
            genai_request_timestamp=call.at,
            price_context=public.context,
        ).total_price
        parts["other"] = total - sum(parts.values(), NOTHING)
    return parts


def _unit_costs(rates: _Rates, call: Counted) -> dict[str, Decimal]:
    quantities = _priced_quantities(call)
    reasoning = min(call.reasoning_tokens or 0, quantities["output"])
    return {
        "input": quantities["input"] * rates.input,
        "cached": quantities["cached"] * rates.cached,
        "cache_write": quantities["cache_write"] * rates.cache_write,
        "output": (quantities["output"] - reasoning) * rates.output + reasoning * rates.reasoning,
        "request": rates.request,
    }


def _priced_quantities(call: Counted) -> dict[str, int]:
    """The call in units that a contract may price; refuses a ValueError where they cannot be."""
    cached, written = call.cached_tokens or 0, call.cache_write_tokens or 0
    plain = (call.input_tokens or 0) - cached - written
    if plain < 0:
        raise ValueError(f"{cached + written} cached of {call.input_tokens or 0} input tokens")
    return {
        "input": plain,
        "cached": cached,
        "cache_write": written,
        "output": call.output_tokens or 0,
        "request": 1,
    }


def _rates_of_step(public: _Public, input_tokens: int) -> _Rates:
    """The rates of the step of size that so many tokens are in, as the table itself works them out."""
    step = sum(1 for start in public.starts if input_tokens > start)
    rates = public.rates.get(step)
    if rates is None:
        sent = public.starts[step - 1] + 1 if step else 1
        rates = public.rates[step] = _probe_rates(public.price, sent)
    return rates


def _probe_rates(price: ModelPrice, sent: int) -> _Rates:
    def cost(**counts: int) -> Decimal:
        return price.calc_price(Usage(**counts))["total_price"]

    request = cost()
    plain = cost(input_tokens=sent)
    output = cost(input_tokens=sent, output_tokens=MILLION)
    thought = cost(input_tokens=sent, output_tokens=MILLION, output_reasoning_tokens=MILLION)
    return _Rates(
        input=(plain - request) / sent,
        cached=(cost(input_tokens=sent, cache_read_tokens=sent) - request) / sent,
        cache_write=(cost(input_tokens=sent, cache_write_tokens=sent) - request) / sent,
        output=(output - plain) / MILLION,
        reasoning=(thought - plain) / MILLION,
        request=request,
    )


def _usage_of(call: Counted) -> Usage:
    counts = {
        "input_tokens": call.input_tokens,
        "cache_read_tokens": call.cached_tokens,
        "cache_write_tokens": call.cache_write_tokens,
        "output_tokens": call.output_tokens,
        "output_reasoning_tokens": call.reasoning_tokens,
    }
    known_counts = {name: count for name, count in counts.items() if count is not None}
    return Usage(**known_counts, **call.detail)


def _is_of_call(contract: Contract, call: Counted) -> bool:
    """One for no tier in particular: an amount is of the ordinary tier, a share off of every."""
    if contract.vendor != call.vendor:
        return False
    if contract.tier != call.tier and (contract.tier or contract.discount_ratio is None):
        return False
    since, until = contract.starts_at, contract.ends_at
    if (since is not None and call.at < since) or (until is not None and call.at >= until):
        return False
    if contract.model.endswith("*"):
        return call.model.startswith(contract.model[:-1])
    return contract.model == call.model


def _contract_rank(contract: Contract) -> tuple[bool, int, bool, int]:
    is_whole = not contract.model.endswith("*")
    return is_whole, len(contract.model), bool(contract.tier), contract.id


def _by_contract(
    call: Counted,
    contracts: Mapping[str, Contract],
    public: Mapping[str, Decimal] | None,
    public_price: _Public | str,
) -> Priced:
    """Each unit by its contract, by the one for everything, or by the public price."""
    try:
        quantities = _priced_quantities(call)
    except ValueError as refused:
        return Priced(None, None, reason=f"{CONTRADICTION}: {refused}")
    list_amount = None if public is None else sum(public.values(), NOTHING)
    amounts: dict[str, Decimal] = {}
    used: dict[int, None] = {}
    for unit, quantity in (*quantities.items(), ("other", 0)):
        contract = _contract_of(unit, contracts, has_public=public is not None)
        part = None if public is None else public.get(unit, NOTHING)
        cost = _unit_cost(contract, unit, quantity, part)
        if cost is None:
            return Priced(
                None, list_amount, reason=f"{public_price}; no contract prices its {unit}"
            )
        currency, amount = cost
        amounts[currency] = amounts.get(currency, NOTHING) + amount
        if contract is not None and quantity:
            used[contract.id] = None
    nonzero_amounts = {currency: amount for currency, amount in amounts.items() if amount}
    contract_labels = [f"contract price {contract_id}" for contract_id in sorted(used)]
    public_labels = [] if isinstance(public_price, str) else [public_price.name]
    return Priced(
        nonzero_amounts or {PUBLIC_CURRENCY: NOTHING},
        list_amount,
        price=", ".join((*contract_labels, *public_labels)),
    )


def _contract_of(
    unit: str, contracts: Mapping[str, Contract], *, has_public: bool
) -> Contract | None:
    """Cached tokens of a model without a public price are input tokens like others."""
    names: Iterable[str] = (unit, "all")
    if not has_public and unit in ("cached", "cache_write"):
        names = (unit, "input", "all")
    return next((contracts[name] for name in names if name in contracts), None)


def _unit_cost(
    contract: Contract | None, unit: str, quantity: int, public: Decimal | None
) -> tuple[str, Decimal] | None:
    if contract is not None and contract.amount is not None:
        # One for everything counts tokens; a request is none.
        counted = 0 if contract.unit == "all" and unit == "request" else quantity
        return contract.currency, counted * contract.amount / contract.per_quantity
    if public is None:
        is_nothing = not quantity or unit == "request"
        return (PUBLIC_CURRENCY, NOTHING) if is_nothing else None
    if contract is None or contract.discount_ratio is None:
        return PUBLIC_CURRENCY, public
    return PUBLIC_CURRENCY, public * (1 - contract.discount_ratio)
