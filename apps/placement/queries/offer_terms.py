"""The offers of a book as one job meets them: which may take it, at which terms, and on what evidence."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import ceil
from typing import Any

from apps.economics.hours import DAY_HOURS, HOUR
from apps.economics.placement.estimates import InterruptionRate, LikelyRange, PlacedTerms
from apps.economics.purchase import PurchaseOption
from apps.economics.spot.evidence import factor_between
from apps.placement.queries.book import BookFact
from apps.placement.queries.interruptions import OWN_JOBS
from apps.placement.queries.offer_facts import STALE_LIST_DAYS, OfferFact
from apps.placement.queries.offer_waits import HOUR_MINUTES, wait_there
from apps.placement.queries.places import EgressFact, egress_micros
from apps.placement.queries.quote_request import (
    INTERRUPTIBLE,
    SERVING,
    QuoteRequest,
    WorkBasis,
    are_same_model,
    lies_within,
)
from apps.placement.queries.spot_evidence import times_words

GIGABITS_A_GIGABYTE, HOUR_SECONDS = 8, 3600
PAID_ANYWAY = (PurchaseOption.OWNED, PurchaseOption.RESERVED)


@dataclass(frozen=True, slots=True)
class OfferTerms:
    """An offer that may take the job; `reasons` say how its figures came to be, `cautions` what is thin or old.

    `rates` are the price rows it is priced by, of what takes over from spot too.
    `energy_words` say by which power its energy is counted.
    """

    offer: OfferFact
    terms: PlacedTerms
    rates: list[dict[str, Any]]
    reasons: list[str]
    cautions: list[str]
    energy_words: str


@dataclass(slots=True)
class MatchedOffers:
    """Offers that may take a job, and of the others how many for which reason."""

    matched: list[OfferTerms] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class JobSurroundings:
    """Facts around a job beside its offer: when it is asked, the book, the data's way, and GPUs promised to others."""

    at: datetime
    book: BookFact
    basis: WorkBasis
    egress: Mapping[str, EgressFact]
    promised: Mapping[str, Sequence[int]]
    work: Mapping[str, tuple[LikelyRange | None, str]]


def match_offers(
    book: BookFact,
    question: QuoteRequest,
    basis: WorkBasis,
    egress: Mapping[str, EgressFact],
    promised: Mapping[str, Sequence[int]],
    at: datetime,
) -> MatchedOffers:
    """Every offer of the book, as this job meets it. `promised` are GPUs of offers that were just taken, by key."""
    outcome = MatchedOffers()
    allowed = {
        model
        for model in book.models
        if not question.gpu_models
        or any(are_same_model(name, model) for name in question.gpu_models)
    }
    work = {model: basis.on(model, question.gpus) for model in allowed}
    around = JobSurroundings(at, book, basis, egress, promised, work)
    for offer in book.offers.values():
        why = _why_not(offer, question, allowed)
        if why:
            outcome.refused[why] += 1
        else:
            outcome.matched.append(_terms_of(offer, question, around))
    return outcome


def _why_not(offer: OfferFact, question: QuoteRequest, allowed: set[str]) -> str:
    """Why this job cannot go there; empty: it can."""
    if offer.gpu_model not in allowed:
        return "another GPU model than those allowed"
    if question.gpu_memory_gib and (offer.gpu_memory_gib or 0) < question.gpu_memory_gib:
        return "less GPU memory than needed, or not known how much"
    if question.residency and not lies_within(offer.place, question.residency):
        return "outside the places that the data may be in"
    if offer.option == PurchaseOption.SPOT and question.kind != INTERRUPTIBLE:
        return _why_not_on_spot(question) or _why_too_few(offer, question)
    return _why_too_few(offer, question)


def _why_not_on_spot(question: QuoteRequest) -> str:
    if question.kind != SERVING:
        return "spot, for work that may not be interrupted"
    return "" if question.has_fallback else "spot, for serving without a fallback"


def _why_too_few(offer: OfferFact, question: QuoteRequest) -> str:
    if offer.there_gpus is not None and offer.there_gpus < question.gpus:
        return "fewer GPUs there than asked for"
    is_bounded = offer.pool_id is None or offer.option not in PAID_ANYWAY
    if is_bounded and offer.free_gpus is not None and offer.free_gpus < question.gpus:
        return "fewer GPUs left by the quota, or of the commitment, than asked for"
    return ""


def _terms_of(offer: OfferFact, question: QuoteRequest, around: JobSurroundings) -> OfferTerms:
    work, carried = around.work[offer.gpu_model]
    reasons = [*offer.notes, *filter(None, [carried])]
    cautions = _stale_words(offer.rates, "its price")
    _say_calibration(offer, around.book, reasons)
    wait = wait_there(offer, question, around.promised.get(offer.key, ()), reasons, cautions)
    egress, transfer = _data_terms(around, offer, question, reasons, cautions)
    interruptions, fallback = None, None
    if offer.option == PurchaseOption.SPOT:
        begins = around.at + HOUR * (wait.mean if wait else 0.0)
        interruptions = _at_that_hour(
            offer, _interruptions_there(offer, question, reasons, cautions), begins, work, reasons
        )
        fallback = _fallback_there(offer, question, around)
    rates = offer.rates
    if fallback is not None:
        reasons.append(f"while spot is away, {fallback.name} takes over at its price on demand")
        cautions += _stale_words(fallback.rates, f"the price of {fallback.name}")
        rates = [*rates, *fallback.rates]
    rented = _rented_gpus(offer, question, cautions)
    _doubt_room(offer, question, cautions)
    watts, energy_words = _power_of(offer, around.basis)
    terms = PlacedTerms(
        key=offer.key,
        option=offer.option,
        price=offer.price_range,
        work=work,
        wait=wait,
        interruptions=interruptions,
        egress=egress,
        transfer=transfer,
        watts=watts,
        fallback_price=None if fallback is None else fallback.micros,
        rented_gpus=rented,
    )
    return OfferTerms(offer, terms, rates, reasons, cautions, energy_words)


def _stale_words(rates: Sequence[Mapping[str, Any]], what: str) -> list[str]:
    return [f"{what} was last said {row['age_days']} days ago" for row in rates if row["is_stale"]]


def _rented_gpus(offer: OfferFact, question: QuoteRequest, cautions: list[str]) -> int | None:
    """Machines of the market are rented whole and nothing else runs on them; a pool's are shared with other jobs."""
    if offer.pool_id is not None or offer.option in PAID_ANYWAY:
        return None
    rented = ceil(question.gpus / offer.gpus_per_node) * offer.gpus_per_node
    if rented > question.gpus:
        cautions.append(
            f"machines are rented whole: {rented} GPUs are paid for {question.gpus} that are used"
        )
    return rented


def _doubt_room(offer: OfferFact, question: QuoteRequest, cautions: list[str]) -> None:
    """Where no quota bounds what is rented, say how much of it was ever had."""
    if offer.option in PAID_ANYWAY or offer.free_gpus is not None:
        return
    most = offer.most_held_gpus
    if most is not None and question.gpus > most:
        ever = f"{most} GPUs at once are the most that" if most else "no GPU of this model"
        cautions.append(
            f"no quota is entered here and {ever} was ever rented there: whether {question.gpus} can be had is not known"
        )


def _say_calibration(offer: OfferFact, book: BookFact, reasons: list[str]) -> None:
    """How well earlier quotes of this way of buying said what came."""
    for row in book.calibration:
        if row["option"] == offer.option and row["cost_ratio"] is not None:
            time = row["finish_ratio"]
            took = "" if time is None else f" and {time:.2f} of the time"
            reasons.append(
                f"jobs that ended on such offers came to {row['cost_ratio']:.2f} of the cost{took} that was said"
                f" (median of {row['count']})"
            )


def _power_of(offer: OfferFact, basis: WorkBasis) -> tuple[float | None, str]:
    """Watts of a GPU at the meter of the hall, and how they are known: as like work drew, else as it is rated."""
    if basis.watts is not None and are_same_model(basis.of_model, offer.gpu_model):
        watts, words = basis.watts, "as the GPUs of the run that it is like drew"
    elif offer.measured_watts is not None:
        watts, words = (
            offer.measured_watts,
            f"as GPUs of {offer.gpu_model} drew in runs of the last 60 days",
        )
    elif offer.watts_per_gpu is not None:
        watts, words = offer.watts_per_gpu, "at the GPUs' rated power, so at most"
    else:
        return None, "what such GPUs draw is not known"
    if offer.pue is None:
        return watts, f"{words}; of the GPUs alone: the overhead of the hall (PUE) is not known"
    return watts * offer.pue, f"{words}, times a PUE of {offer.pue:g}"


def _fallback_there(
    offer: OfferFact, question: QuoteRequest, around: JobSurroundings
) -> OfferFact | None:
    """Return the offer that takes over when spot is lost, of serving; None where nothing can."""
    if question.kind != SERVING:
        return None
    fallback = around.book.on_demand.get(offer.model_place)
    return None if fallback is None or _why_too_few(fallback, question) else fallback


def _data_terms(
    around: JobSurroundings,
    offer: OfferFact,
    question: QuoteRequest,
    reasons: list[str],
    cautions: list[str],
) -> tuple[float | None, float | None]:
    """Micro-units of the organisation's currency and hours to bring the data there; None: not known."""
    data = question.dataset
    if data is None:
        return 0.0, 0.0
    if data.place == offer.place:
        reasons.append("the data is there already")
        return 0.0, 0.0
    hours = None
    if data.gbps:
        hours = data.gigabytes * GIGABITS_A_GIGABYTE / data.gbps / HOUR_SECONDS
    price, per_dollar = around.egress.get(offer.place), around.book.per_dollar
    if price is None or per_dollar is None:
        return None, hours
    source = f" ({price.source})" if price.source else ""
    reasons.append(
        f"egress is {price.usd_per_gb.normalize():f} USD per GB from {data.place}{source}"
    )
    age_days = (around.book.made_at - price.entered_at).days
    if age_days > STALE_LIST_DAYS:
        cautions.append(f"its price of egress was entered {age_days} days ago")
    return egress_micros(data.gigabytes, price, per_dollar), hours


def _interruptions_there(
    offer: OfferFact, question: QuoteRequest, reasons: list[str], cautions: list[str]
) -> InterruptionRate | None:
    """By the book's evidence, else as the asker assumes."""
    evidence = offer.interruptions
    if evidence is not None:
        reasons.append(evidence["words"])
        if evidence["is_thin"]:
            count = evidence.get("interruptions")
            times = "" if count is None else f": taken away {times_words(count)}"
            cautions.append(f"the evidence of interruptions is thin{times}")
        cautions.extend(
            _stale_evidence_words(source)
            for source in (evidence, evidence.get("joined"))
            if source and source.get("is_stale")
        )
        nodes = _nodes_counted(offer, question, evidence, cautions)
        low, likely, high = (evidence[end] for end in ("low", "likely", "high"))
        return InterruptionRate(LikelyRange(low, nodes * likely, nodes * high), evidence["wait"])
    if question.assumed_interruptions_per_day is None:
        return None
    per_day = question.assumed_interruptions_per_day
    cautions.append(f"{per_day:g} interruptions a day are assumed by who asks: none was measured")
    rate = per_day / DAY_HOURS
    wait = (question.assumed_wait_minutes or 0) / HOUR_MINUTES
    return InterruptionRate(LikelyRange(rate, rate, rate), wait)


def _stale_evidence_words(evidence: Mapping[str, Any]) -> str:
    names, age_days = ", ".join(evidence["names"]), evidence["age_days"]
    if age_days is None:
        return f"nobody says when interruptions of {names} were seen"
    return f"interruptions of {names} were last looked at {age_days} days ago"


def _at_that_hour(
    offer: OfferFact,
    interruptions: InterruptionRate | None,
    begins: datetime,
    work: LikelyRange | None,
    reasons: list[str],
) -> InterruptionRate | None:
    """The rate of the hours of the day in which the work would run, where its evidence tells them apart."""
    factors = (offer.interruptions or {}).get("hour_factors")
    if interruptions is None or work is None or not factors:
        return interruptions
    day_hour = begins.astimezone(UTC)
    factor = factor_between(factors, day_hour.hour + day_hour.minute / HOUR_MINUTES, work.likely)
    reasons.append(
        f"interruptions differ by the hour of the day there: {factor:.2f} of the usual from {day_hour:%H:%M} UTC on"
    )
    return InterruptionRate(interruptions.rate.times(factor), interruptions.wait)


def _nodes_counted(
    offer: OfferFact, question: QuoteRequest, evidence: Mapping[str, Any], cautions: list[str]
) -> int:
    """By how many the evidence's rate is taken: the job's nodes where it is of one of them."""
    nodes = ceil(question.gpus / offer.gpus_per_node)
    if nodes == 1 or evidence.get("source") in (None, OWN_JOBS):
        return 1
    if not evidence["is_per_node"]:
        cautions.append(
            f"the series say when one node could be had: {nodes} are interrupted at least as often"
        )
        return 1
    cautions.append(
        f"the rate is of one node and the job needs {nodes}: {nodes} times as often is taken as likely,"
        " as if each went alone, and as often as one node at the low end"
    )
    return nodes
