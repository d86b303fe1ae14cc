"""Prompts that are read anew call by call, where other work on the same model reads most of them from a cache."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from django.urls import reverse

from apps.economics.moves.disruption import DisruptionClass
from apps.economics.moves.saving import SavingRange
from apps.economics.token_prices import TokenPrices
from apps.ledger.queries.api_spend import Spend
from apps.review.queries.recommendation_evidence import RecommendationEvidence
from apps.review.queries.recommending.called_models import (
    CALLS,
    FEWEST_CALLS,
    CalledFor,
    CalledModel,
    CalledWeeks,
    called_weeks,
    month_of_weeks,
    unknown_reason,
)
from apps.review.queries.recommending.proposal import (
    DetectedKind,
    RecommendationProposal,
    api_cell,
    effort_cost,
)
from apps.workloads.queries import WorkloadFact, workloads

KIND = "prompt_caching"
EFFORT_HOURS = 8
"""To put what stays the same first, and to mark it: ours, not measured."""
ALIKE = 4.0
"""Prompts within this factor of each other's length are alike."""
WORTH_MORE = 0.1
"""Of its prompts; so much more has to be read from a cache by others."""
ENOUGH_PEERS = 3
COMPUTED = (
    "Prompt tokens of a month × the share more that other work with prompts alike on the same model reads from a cache (the least, the median and the most of them) × what"
    " reading one from a cache costs less, and what writing them there costs, by what was charged"
)


@dataclass(frozen=True, slots=True)
class CachedShare:
    """The part of prompts that is read from a cache, and of those read what is written there."""

    read: float
    written: float


@dataclass(frozen=True, slots=True)
class UncachedPrompts:
    """Calls of a workload to a model, what others on it cache of prompts alike, and what its tokens cost."""

    workload: WorkloadFact
    feature: str
    model: CalledModel
    called: Spend
    peers: Sequence[CachedShare]
    price: TokenPrices

    @property
    def name(self) -> str:
        """Of what it is for."""
        return f"{self.workload.name}, {self.feature}" if self.feature else self.workload.name

    def saved_as(self, peer: CachedShare) -> float:
        """Of four weeks, in micro-units, with as much of it cached and written as the peer has."""
        more = max(0.0, peer.read - _share_of(self.called).read) * self.called.input_tokens
        plain, cached = self.price.plain or 0.0, self.price.cached or 0.0
        written = self.price.written if self.price.written is not None else plain
        return more * (plain - cached) - more * peer.written * max(0.0, written - plain)


def detect_uncached_prompts(at: datetime) -> DetectedKind:
    """Look at what calls are for, by model; where others on that model cache more of prompts alike, propose to do so too."""
    detected = DetectedKind(KIND, CALLS)
    weeks, workloads_by_id = called_weeks(at), workloads()
    for what, models in weeks.uses.items():
        for model, called in models.items():
            key = ":".join((str(what.workload_id), what.feature, *model))
            peers = _peers_of(what, model, called, weeks)
            price = weeks.prices.get(model)
            if why := unknown_reason(what, called) or _why_not(called, peers, price):
                detected.pass_over(why, key)
            elif what.workload_id in workloads_by_id and price is not None:
                workload = workloads_by_id[what.workload_id]
                prompts = UncachedPrompts(workload, what.feature, model, called, peers, price)
                detected.propose(_proposal_of(key, prompts))
    return detected


def _share_of(called: Spend) -> CachedShare:
    written = called.cache_write_tokens / called.cached_tokens if called.cached_tokens else 0.0
    return CachedShare(called.cached_tokens / called.input_tokens, written)


def _peers_of(
    what: CalledFor, model: CalledModel, called: Spend, weeks: CalledWeeks
) -> list[CachedShare]:
    """Of other work on the same model with as many calls and prompts alike, the least cached first."""
    if not called.requests or not called.input_tokens:
        return []
    length = called.input_tokens / called.requests
    others = [
        models[model] for other, models in weeks.uses.items() if other != what and model in models
    ]
    alike = [
        other
        for other in others
        if other.requests >= FEWEST_CALLS
        and other.input_tokens
        and 1 / ALIKE <= other.input_tokens / other.requests / length <= ALIKE
    ]
    return sorted((_share_of(peer) for peer in alike), key=lambda share: share.read)


def _why_not(called: Spend, peers: Sequence[CachedShare], price: TokenPrices | None) -> str:
    if not called.input_tokens:
        return "its calls report no tokens"
    if not peers:
        return "no other work calls that model with prompts alike: how much could be cached is not known"
    if median(peer.read for peer in peers) - _share_of(called).read < WORTH_MORE:
        return "it reads about as much from a cache as others on that model"
    if price is None or price.cached is None or price.plain is None:
        return (
            "what a token of that model costs, cached or not, does not follow from what was charged"
        )
    if price.cached >= price.plain:
        return "that model is priced the same from a cache"
    return ""


def _proposal_of(key: str, prompts: UncachedPrompts) -> RecommendationProposal:
    called, peers, model = prompts.called, prompts.peers, prompts.model
    own_share, usual = _share_of(called).read, median(peer.read for peer in peers)
    spend = month_of_weeks(called.micros or 0)
    ends = [
        max(0, month_of_weeks(prompts.saved_as(peer)))
        for peer in (peers[0], peers[len(peers) // 2], peers[-1])
    ]
    few = (f"only {len(peers)} others have prompts alike",) if len(peers) < ENOUGH_PEERS else ()
    return RecommendationProposal(
        key=key,
        title=f"Let {prompts.name} read its prompts to {model.model} from a cache",
        subject=prompts.name,
        team_id=prompts.workload.team_id,
        workload_id=prompts.workload.id,
        pool_id=None,
        spend_micros=spend,
        saving=SavingRange(*sorted(ends)).capped(spend),
        effort_hours=EFFORT_HOURS,
        risk=DisruptionClass.LOW,
        risk_reason="the same tokens are sent, those that stay the same first",
        why=f"{own_share:.0%} of its prompt tokens are read from a cache; other work on {model.label} with prompts alike reads {usual:.0%}.",
        computed=COMPUTED,
        cells=frozenset([api_cell(prompts.workload.id)]),
        evidence=_evidence_of(prompts),
        doubts=("whether its prompts begin alike is not known from their tokens", *few),
        one_time_micros=effort_cost(EFFORT_HOURS),
        baseline={
            "cached_share": own_share,
            "others_share": usual,
            "prompt_tokens_month": month_of_weeks(called.input_tokens),
        },
    )


def _evidence_of(prompts: UncachedPrompts) -> tuple[RecommendationEvidence, ...]:
    called, price, page = prompts.called, prompts.price, reverse("api-spend")
    length = called.input_tokens / called.requests
    return (
        RecommendationEvidence("Calls in four weeks", f"{called.requests:,}", page),
        RecommendationEvidence("Tokens of a prompt", f"{length:,.0f}", page),
        RecommendationEvidence("Other work with prompts alike", f"{len(prompts.peers)}", page),
        RecommendationEvidence(
            "A million prompt tokens, and from a cache",
            f"{price.plain or 0:,.4f} and {price.cached or 0:,.4f}",
            is_price=True,
        ),
    )
