"""Over random books and jobs: what a job may not have is never offered to it, and all else is counted."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.placement.estimates import LikelyRange, estimate_offer, ranked_offers
from apps.economics.purchase import PurchaseOption
from apps.placement.queries.book import BookFact, cheapest_on_demand
from apps.placement.queries.offer_facts import OfferFact
from apps.placement.queries.offer_terms import match_offers
from apps.placement.queries.quote_request import (
    INTERRUPTIBLE,
    JOB_KINDS,
    SERVING,
    UNINTERRUPTED,
    QuoteRequest,
    RequestedDataset,
    RequestedWork,
    WorkBasis,
)

AT = datetime(2026, 3, 2, 14, tzinfo=UTC)
MODELS = {"NVIDIA H100 80GB HBM3": 80.0, "NVIDIA A100-SXM4-40GB": 40.0, "NVIDIA L4": 24.0}
PLACES = (("aws", "us-east-1"), ("aws", "us-east-10"), ("aws", "eu-west-1"), ("gcp", "eu-west1"))
RESIDENCIES = ("aws:us-east-1", "aws:eu-", "gcp:", "aws:")
EVIDENCE = {
    "low": 0.01, "likely": 0.05, "high": 0.2, "wait": 0.2, "words": "seen", "is_thin": False,
    "source": "own_jobs", "names": [], "exposure_hours": 100.0, "interruptions": 5, "is_per_node": False,
}  # fmt: skip
MONEY = st.none() | st.integers(0, 20_000_000)


@st.composite
def offers(draw: st.DrawFn) -> OfferFact:
    model = draw(st.sampled_from(sorted(MODELS)))
    provider, region = draw(st.sampled_from(PLACES))
    option = draw(st.sampled_from(list(PurchaseOption)))
    is_pool = draw(st.booleans())
    idle = draw(st.lists(st.integers(1, 8), max_size=4))
    is_paid = option in (PurchaseOption.OWNED, PurchaseOption.RESERVED)
    return OfferFact(
        key=f"offer:{draw(st.integers(0, 10**9))}",
        name=f"{provider} {region} {option}",
        option=str(option),
        provider=provider,
        region=region,
        instance_type="",
        gpu_model=model,
        gpus_per_node=8,
        gpu_memory_gib=draw(st.sampled_from((MODELS[model], None))),
        watts_per_gpu=700.0,
        pool_id=7 if is_pool else None,
        micros=0 if is_paid else draw(MONEY),
        paid_micros=draw(MONEY),
        there_gpus=draw(st.integers(1, 64)) if is_paid else None,
        free_gpus=draw(st.integers(0, 64) | st.none()),
        idle_by_node=sorted(idle, reverse=True) if is_pool else [],
        median_wait_hours=1.0 if is_pool else None,
        ninth_wait_hours=3.0 if is_pool else None,
        interruptions=draw(st.sampled_from((EVIDENCE, None))) if option == "spot" else None,
    )


JOBS = st.builds(
    QuoteRequest,
    gpus=st.integers(1, 40),
    work=st.just(RequestedWork(gpu_hours=100)),
    gpu_models=st.lists(st.sampled_from(["H100", "A100", "L4"]), unique=True, max_size=2).map(
        tuple
    ),
    gpu_memory_gib=st.none() | st.sampled_from([24.0, 40.0, 60.0, 80.0]),
    write_seconds=st.none() | st.floats(0, 600),
    kind=st.sampled_from(JOB_KINDS),
    has_fallback=st.booleans(),
    dataset=st.none() | st.just(RequestedDataset("aws:us-east-1", 100.0, 10.0)),
    residency=st.lists(st.sampled_from(RESIDENCIES), unique=True, max_size=2).map(tuple),
    assumed_wait_minutes=st.none() | st.floats(0, 600),
    assumed_interruptions_per_day=st.none() | st.floats(0, 12),
)


def book_of(found: list[OfferFact]) -> BookFact:
    told: dict[str, Any] = {"left_out": [], "budgets": [], "calibration": [], "per_dollar": None}
    by_key = {each.key: each for each in found}
    models = frozenset(each.gpu_model for each in by_key.values())
    prices = cheapest_on_demand(by_key.values())
    return BookFact(1, AT, AT, "d", offers=by_key, models=models, on_demand=prices, **told)


@given(st.lists(offers(), max_size=12), JOBS)
def test_no_job_is_offered_what_it_may_not_have(
    found: list[OfferFact], asked: QuoteRequest
) -> None:
    book = book_of(found)
    basis = WorkBasis("100 GPU-hours", LikelyRange(80, 100, 120))
    matched = match_offers(book, asked, basis, {}, {}, AT)

    assert len(matched.matched) + sum(matched.refused.values()) == len(book.offers)
    for each in matched.matched:
        offer = each.offer
        if asked.gpu_models:
            assert any(name in offer.gpu_model for name in asked.gpu_models)
        if asked.gpu_memory_gib:
            assert (offer.gpu_memory_gib or 0) >= asked.gpu_memory_gib
        if asked.residency:
            assert "us-east-10" not in offer.region or asked.residency != ("aws:us-east-1",)
            assert any(offer.place.startswith(place) for place in asked.residency)
        if offer.option == "spot":
            assert asked.kind != UNINTERRUPTED
            assert asked.kind == INTERRUPTIBLE or asked.has_fallback
        if offer.there_gpus is not None:
            assert offer.there_gpus >= asked.gpus
        assert each.terms.rented_gpus is None or each.terms.rented_gpus >= asked.gpus


@given(st.lists(offers(), max_size=12), JOBS)
def test_every_answer_says_why_a_figure_is_not_there(
    found: list[OfferFact], asked: QuoteRequest
) -> None:
    basis = WorkBasis("100 GPU-hours", LikelyRange(80, 100, 120))
    matched = match_offers(book_of(found), asked, basis, {}, {}, AT)
    job = asked.placed_job(AT)
    for each in ranked_offers([estimate_offer(job, one.terms) for one in matched.matched]):
        assert (each.cost is not None and each.finish is not None) or each.unknown
        terms = next(one for one in matched.matched if one.terms.key == each.key)
        if asked.dataset and terms.offer.place != asked.dataset.place:
            # Nobody entered what it costs to bring the data there.
            assert each.cost is None
        if asked.kind == SERVING and terms.offer.option == "spot" and each.cost is not None:
            assert terms.terms.fallback_price is not None
