"""Places as they were entered: what it costs to bring data there, and which GPUs are there."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, LiteralString

from apps.accounts.queries.paging import Page, PageRequest, page_of
from apps.accounts.queries.reading import once
from apps.economics.money import MICROS
from apps.ledger.queries.tables import rows
from apps.placement.models import AcceleratorRegion, EgressPrice

EGRESS_FROM: LiteralString = """
SELECT source_place, target_place, usd_per_gb, source, entered_at
FROM placement_egressprice WHERE source_place = %(place)s
"""


@dataclass(frozen=True, slots=True)
class EgressFact:
    """US dollars for a gigabyte from one place to another, who says so, and since when."""

    source_place: str
    target_place: str
    usd_per_gb: Decimal
    source: str
    entered_at: datetime


@once
def egress_from(place: str) -> dict[str, EgressFact]:
    """By target place; nothing within a place costs anything, and is not in here."""
    facts = (EgressFact(*row) for row in rows(EGRESS_FROM, {"place": place}))
    return {fact.target_place: fact for fact in facts}


def egress_micros(gigabytes: float, price: EgressFact, per_dollar: Decimal) -> float:
    """Return what moving so many GB costs in micro-units; `per_dollar` is a US dollar in the organisation's currency."""
    return float(Decimal(gigabytes) * price.usd_per_gb * per_dollar * MICROS)


def egress_page(page_request: PageRequest) -> Page[dict[str, Any]]:
    """Every price, by source and target."""
    prices = EgressPrice.objects.values("id", *EgressFact.__slots__)
    return page_of(prices, page_request, "source_place", "target_place")


def accelerator_regions() -> dict[tuple[str, str], frozenset[str]]:
    """Regions with GPUs by provider and model; one that nobody entered is not in here."""
    regions_by_key: dict[tuple[str, str], set[str]] = {}
    for provider, model, region in AcceleratorRegion.objects.values_list(
        "provider", "gpu_model", "region"
    ):
        regions_by_key.setdefault((provider, model), set()).add(region)
    return {key: frozenset(regions) for key, regions in regions_by_key.items()}
