"""Offers of the book as moves name them: their prices, and what they are known from."""

from apps.economics.money import MICROS
from apps.economics.moves.saving import MachineFill, machine_fill
from apps.placement.queries.moves.proposal import ProposalEvidence
from apps.placement.queries.offer_facts import OfferFact

NO_BOOK = "no offer book was made yet"


def fill_there(offer: OfferFact, gpus: int) -> MachineFill:
    """Of a job of so many GPUs on this offer's machines."""
    return machine_fill(gpus, offer.gpus_per_node, is_market=offer.pool_id is None)


def offer_evidence(offer: OfferFact) -> list[ProposalEvidence]:
    """The offer and the price rows that it is priced by, for who reads prices."""
    price = "no price" if offer.micros is None else f"{offer.micros / MICROS:,.4f} a GPU-hour"
    return [
        ProposalEvidence("offer", offer.key, f"{offer.name}: {price}", is_price=True),
        *(
            ProposalEvidence(
                "rate",
                str(row["rate"]),
                f"{row['kind'].capitalize()} price from {row['source'] or 'an unnamed source'}, said on {row['said_on']}, {row['age_days']} days ago",
                is_price=True,
            )
            for row in offer.rates
        ),
    ]
