"""Offers of a quote as places for a SkyPilot task, in order; what the task says itself comes last."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.economics.purchase import PurchaseOption
from apps.placement.queries.offer_facts import OfferFact
from apps.placement.queries.quote_answer import AnsweredQuote
from apps.placement.queries.quote_request import are_same_model
from apps.placement.queries.skypilot_tasks import SkyResources, SkyTask

SKY_CLOUDS = frozenset(
    {
        "aws", "azure", "cudo", "do", "fluidstack", "gcp", "hyperbolic", "ibm", "lambda", "nebius", "oci", "paperspace",
        "primeintellect", "runpod", "scp", "seeweb", "vast", "verda",
    }
)  # fmt: skip
"""Clouds that SkyPilot 0.14.1 names as providers are named here; Kubernetes and Slurm it names by contexts, which offers do not have."""
MOST_PLACES = 5
GOOD_STANDINGS = ("meets", "finish_unknown")


@dataclass(frozen=True, slots=True)
class SkyPlace:
    """An offer that an alternative of the task may take, as SkyPilot is told of it."""

    offer: dict[str, Any]
    resources: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SkyPlaces:
    """Places in order, and in words why there are none. `is_chosen`: the task leaves the choice to us."""

    places: tuple[SkyPlace, ...] = ()
    is_chosen: bool = False
    note: str = ""


def places_of(task: SkyTask, quote: AnsweredQuote) -> SkyPlaces:
    """The best offers that have what the task says."""
    offers = quote.answer["offers"]
    good = [offer for offer in offers if offer["standing"] in GOOD_STANDINGS]
    if not good:
        late = any(offer["standing"] == "late" for offer in offers)
        why = "no offer is likely to meet the deadline" if late else "no offer has a known cost"
        return SkyPlaces(note=why)
    places: list[SkyPlace] = []
    for offer in good:
        for resources in task.alternatives:
            fact = quote.book.offers[offer["key"]]
            placement = _resources_there(resources, fact)
            if placement is not None and all(place.resources != placement for place in places):
                places.append(SkyPlace(dict(offer), placement))
    if not places:
        return SkyPlaces(
            note="no offer is on a machine and in a place that SkyPilot has a name for"
        )
    return SkyPlaces(tuple(places[:MOST_PLACES]), is_chosen=task.is_open)


def _resources_there(alternative: SkyResources, offer: OfferFact) -> dict[str, Any] | None:
    """The alternative in the offer's place; None where it asks for another, or for a part of its machine."""
    is_spot = offer.option == PurchaseOption.SPOT
    fits = (
        offer.provider in SKY_CLOUDS
        and bool(offer.region)
        and alternative.cloud in ("", offer.provider)
        and alternative.region in ("", offer.region)
        and alternative.use_spot in (None, is_spot)
        and alternative.count == offer.gpus_per_node
        and are_same_model(alternative.accelerator, offer.gpu_model)
    )
    if not fits:
        return None
    infra = alternative.said["infra"] if alternative.region else f"{offer.provider}/{offer.region}"
    return alternative.said | {"infra": infra, "use_spot": is_spot}


def placed_resources(
    resources: Mapping[str, Any], placed: SkyPlaces, labels: Mapping[str, str]
) -> dict[str, Any]:
    """A task's resources with its places before what it said itself, and labels on each of them."""

    def labelled(alternative: Mapping[str, Any]) -> dict[str, Any]:
        return {**alternative, "labels": {**(alternative.get("labels") or {}), **labels}}

    base = {
        key: resource for key, resource in resources.items() if key not in ("ordered", "any_of")
    }
    alternatives = resources.get("ordered") or resources.get("any_of")
    labelled_resources = [labelled({**base, **alternative}) for alternative in alternatives or [{}]]
    if not placed.is_chosen:
        kind = "ordered" if resources.get("ordered") else "any_of"
        return {kind: labelled_resources} if alternatives else labelled_resources[0]
    return {
        "ordered": [*(labelled(place.resources) for place in placed.places), *labelled_resources]
    }
