"""The offers of a book as one job meets them: which may take it, at which terms, and on what evidence."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import ceil
from typing import Any

from apps.economics.hours import DAY_HOURS
from apps.economics.money import MICROS
from apps.economics.placement.estimates import InterruptionRate, LikelyRange, PlacedTerms
from apps.economics.placement.wall_time import QueueWait
from apps.economics.purchase import PurchaseOption
from apps.placement.queries.asked import (
    INTERRUPTIBLE,
    SERVING,
    AskedQuote,
    WorkBasis,
    are_same_model,
)
from apps.placement.queries.book import BookFact
from apps.placement.queries.interruptions import OWN_JOBS
from apps.placement.queries.offer_facts import STALE_LIST_DAYS, OfferFact
from apps.placement.queries.places import EgressFact
from apps.placement.queries.spot_evidence import times_words

HOUR_MINUTES = 60
GIGABITS_A_GIGABYTE, HOUR_SECONDS = 8, 3600
PAID_ANYWAY = (PurchaseOption.OWNED, PurchaseOption.RESERVED)
THIN_WAITS = 10


@dataclass(frozen=True, slots=True)
class OfferTerms:
    """An offer that may take the job; `reasons` say how its figures came to be, `cautions` what is thin or old.

    `rates` are the price rows it is priced by, of what takes over from spot too.
    """

    offer: OfferFact
    terms: PlacedTerms
    rates: list[dict[str, Any]]
    reasons: list[str]
    cautions: list[str]


@dataclass(slots=True)
class MatchedOffers:
    """Offers that may take a job, and of the others how many for which reason."""

    matched: list[OfferTerms] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)


def match_offers(
    book: BookFact, asked: AskedQuote, basis: WorkBasis, egress: Mapping[str, EgressFact]
) -> MatchedOffers:
    """Every offer of the book, as this job meets it."""
    found = MatchedOffers()
    models = {offer.gpu_model for offer in book.offers.values()}
    allowed = {
        model
        for model in models
        if not asked.gpu_models or any(are_same_model(name, model) for name in asked.gpu_models)
    }
    work = {model: basis.on(model, asked.gpus) for model in allowed}
    on_demand = _cheapest_on_demand(book)
    for offer in book.offers.values():
        why = _why_not(offer, asked, allowed)
        if why:
            found.refused[why] += 1
        else:
            matched = _terms_of(book, offer, asked, (work[offer.gpu_model], on_demand), egress)
            found.matched.append(matched)
    return found


def _why_not(offer: OfferFact, asked: AskedQuote, allowed: set[str]) -> str:
    """Why this job cannot go there; empty: it can."""
    if offer.gpu_model not in allowed:
        return "another GPU model than those allowed"
    if asked.gpu_memory_gib and (offer.gpu_memory_gib or 0) < asked.gpu_memory_gib:
        return "less GPU memory than needed, or not known how much"
    if asked.residency and not any(offer.place.startswith(place) for place in asked.residency):
        return "outside the places that the data may be in"
    if offer.option == PurchaseOption.SPOT and asked.kind != INTERRUPTIBLE:
        return _why_not_on_spot(asked) or _why_too_few(offer, asked)
    return _why_too_few(offer, asked)


def _why_not_on_spot(asked: AskedQuote) -> str:
    if asked.kind != SERVING:
        return "spot, for work that may not be interrupted"
    return "" if asked.has_fallback else "spot, for serving without a fallback"


def _why_too_few(offer: OfferFact, asked: AskedQuote) -> str:
    if offer.there_gpus is not None and offer.there_gpus < asked.gpus:
        return "fewer GPUs there than asked for"
    is_bounded = offer.pool_id is None or offer.option not in PAID_ANYWAY
    if is_bounded and offer.free_gpus is not None and offer.free_gpus < asked.gpus:
        return "fewer GPUs left by the quota, or of the commitment, than asked for"
    return ""


def _terms_of(
    book: BookFact,
    offer: OfferFact,
    asked: AskedQuote,
    beside: tuple[tuple[LikelyRange | None, str], Mapping[tuple[str, str, str], OfferFact]],
    prices: Mapping[str, EgressFact],
) -> OfferTerms:
    (work, carried), on_demand = beside
    reasons = [*offer.notes, *filter(None, [carried])]
    cautions = _stale_words(offer.rates, "its price")
    rates, fallback = offer.rates, None
    wait = _wait_there(offer, asked, reasons, cautions)
    egress, transfer = _data_terms(book, offer, asked, prices, reasons, cautions)
    interruptions = None
    if offer.option == PurchaseOption.SPOT:
        interruptions = _interruptions_there(offer, asked, reasons, cautions)
        fallback = on_demand.get((offer.provider, offer.region, offer.gpu_model))
    if fallback is not None and asked.kind == SERVING:
        reasons.append(f"while spot is away, {fallback.name} takes over at its price on demand")
        cautions += _stale_words(fallback.rates, f"the price of {fallback.name}")
        rates = [*rates, *fallback.rates]
    terms = PlacedTerms(
        key=offer.key,
        option=offer.option,
        price=_price_range(offer),
        work=work,
        wait=wait,
        interruptions=interruptions,
        egress=egress,
        transfer=transfer,
        watts=offer.watts_per_gpu,
        fallback_price=None if fallback is None else fallback.micros,
    )
    return OfferTerms(offer, terms, rates, reasons, cautions)


def _stale_words(rates: Sequence[Mapping[str, Any]], what: str) -> list[str]:
    return [f"{what} was last said {row['age_days']} days ago" for row in rates if row["is_stale"]]


def _price_range(offer: OfferFact) -> LikelyRange | None:
    if offer.micros is None:
        return None
    low = offer.micros if offer.low_micros is None else min(offer.low_micros, offer.micros)
    high = offer.micros if offer.high_micros is None else max(offer.high_micros, offer.micros)
    return LikelyRange(low, offer.micros, high)


def _cheapest_on_demand(book: BookFact) -> dict[tuple[str, str, str], OfferFact]:
    """The offer of the lowest price on demand, of each model in each region."""
    found: dict[tuple[str, str, str], OfferFact] = {}
    for offer in book.offers.values():
        if offer.option == PurchaseOption.ON_DEMAND and offer.micros is not None:
            place = offer.provider, offer.region, offer.gpu_model
            known = found.setdefault(place, offer).micros
            if known is not None and offer.micros < known:
                found[place] = offer
    return found


def _wait_there(
    offer: OfferFact, asked: AskedQuote, reasons: list[str], cautions: list[str]
) -> QueueWait | None:
    """Idle GPUs of one's own at once; else as jobs waited there, else as the asker assumes."""
    is_own = offer.option in PAID_ANYWAY and offer.pool_id is not None
    if is_own and (offer.free_gpus or 0) >= asked.gpus:
        reasons.append("enough of its GPUs are idle now")
        return QueueWait(0.0, offer.ninth_wait_hours or 0.0)
    if offer.median_wait_hours is not None and offer.ninth_wait_hours is not None:
        reasons.append(f"waits are of {offer.waits_counted} jobs that started in the last 14 days")
        if offer.waits_counted < THIN_WAITS:
            cautions.append(f"waits are of {offer.waits_counted} jobs only")
        return QueueWait(offer.median_wait_hours, offer.ninth_wait_hours)
    if asked.assumed_wait_minutes is not None:
        reasons.append(f"a wait of {asked.assumed_wait_minutes:g} minutes is assumed by who asks")
        hours = asked.assumed_wait_minutes / HOUR_MINUTES
        return QueueWait(hours, hours)
    return None


def _data_terms(
    book: BookFact,
    offer: OfferFact,
    asked: AskedQuote,
    prices: Mapping[str, EgressFact],
    reasons: list[str],
    cautions: list[str],
) -> tuple[float | None, float | None]:
    """Micro-units of the organisation's currency and hours to bring the data there; None: not known."""
    data = asked.dataset
    if data is None:
        return 0.0, 0.0
    if data.place == offer.place:
        reasons.append("the data is there already")
        return 0.0, 0.0
    hours = None
    if data.gbps:
        hours = data.gigabytes * GIGABITS_A_GIGABYTE / data.gbps / HOUR_SECONDS
    price = prices.get(offer.place)
    if price is None or book.per_dollar is None:
        return None, hours
    source = f" ({price.source})" if price.source else ""
    reasons.append(
        f"egress is {price.usd_per_gb.normalize():f} USD per GB from {data.place}{source}"
    )
    age_days = (book.made_at - price.entered_at).days
    if age_days > STALE_LIST_DAYS:
        cautions.append(f"its price of egress was entered {age_days} days ago")
    dollars = Decimal(data.gigabytes) * price.usd_per_gb
    return float(dollars * book.per_dollar * MICROS), hours


def _interruptions_there(
    offer: OfferFact, asked: AskedQuote, reasons: list[str], cautions: list[str]
) -> InterruptionRate | None:
    """By the book's evidence, else as the asker assumes."""
    known = offer.interruptions
    if known is not None:
        reasons.append(known["words"])
        if known["is_thin"]:
            seen = known.get("interruptions")
            times = "" if seen is None else f": taken away {times_words(seen)}"
            cautions.append(f"the evidence of interruptions is thin{times}")
        if known.get("is_stale"):
            cautions.append(_stale_evidence_words(known))
        nodes = _nodes_counted(offer, asked, known, cautions)
        low, likely, high = (known[end] for end in ("low", "likely", "high"))
        return InterruptionRate(LikelyRange(low, nodes * likely, nodes * high), known["wait"])
    if asked.assumed_interruptions_per_day is None:
        return None
    per_day = asked.assumed_interruptions_per_day
    cautions.append(f"{per_day:g} interruptions a day are assumed by who asks: none was measured")
    rate = per_day / DAY_HOURS
    wait = (asked.assumed_wait_minutes or 0) / HOUR_MINUTES
    return InterruptionRate(LikelyRange(rate, rate, rate), wait)


def _stale_evidence_words(known: Mapping[str, Any]) -> str:
    names, age_days = ", ".join(known["names"]), known["age_days"]
    if age_days is None:
        return f"nobody says when interruptions of {names} were seen"
    return f"interruptions of {names} were last looked at {age_days} days ago"


def _nodes_counted(
    offer: OfferFact, asked: AskedQuote, known: Mapping[str, Any], cautions: list[str]
) -> int:
    """By how many the evidence's rate is taken: the job's nodes where it is of one of them."""
    nodes = ceil(asked.gpus / offer.gpus_per_node)
    if nodes == 1 or known.get("source") in (None, OWN_JOBS):
        return 1
    if not known["is_per_node"]:
        cautions.append(
            f"the series say when one node could be had: {nodes} are interrupted at least as often"
        )
        return 1
    cautions.append(
        f"the rate is of one node and the job needs {nodes}: {nodes} times as often is taken as likely,"
        " as if each went alone, and as often as one node at the low end"
    )
    return nodes
